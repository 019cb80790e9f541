// `npm run format`: writes every file as Prettier would.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run format [-- FILE ...]
  Formats the files, by default all of the project.`);
await ensureInstalled({ dev: true });
const cwd = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const args = ['node_modules/prettier/bin/prettier.cjs', '--write', ...(given.length > 0 ? given : ['.'])];
process.exitCode = spawnSync(process.execPath, args, { cwd, stdio: 'inherit' }).status ?? 1;
