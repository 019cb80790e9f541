// Builds the TypeScript SDK of the agent link as a package, ready for `npm pack` or `npm install`: node scripts/sdk.mjs [FOLDER], by
// default dist/sdk. The types come from the TypeScript compiler, so this needs the packages for development.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run sdk [-- FOLDER]
  Builds the TypeScript SDK of the agent link as a package, by default into dist/sdk.`);
await ensureInstalled({ dev: true });
const { buildSdkCode } = await import('./sdk/code.mjs');

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'sdk/typescript');

/** Declarations of the SDK. Those of the service's files that are built into it are left out: no exported type names one. */
function writeTypes(folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const types = join(folder, 'types');
  const config = join(folder, 'tsconfig.json');
  const files = ['index', 'testing'].map((name) => join(source, 'src', `${name}.ts`));
  const typeRoots = [join(root, 'node_modules/@types')];
  const compilerOptions = { typeRoots, noEmit: false, declaration: true, emitDeclarationOnly: true };
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }),
  );
  try {
    const all = join(folder, 'all-types');
    const options = ['-p', config, '--rootDir', root, '--outDir', all];
    execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
    renameSync(join(all, 'sdk/typescript/src'), types);
    rmSync(all, { recursive: true });
  } finally {
    rmSync(config);
  }
  for (const name of readdirSync(types, { recursive: true }).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(types, name);
    // Declarations name their neighbours by the files that are there.
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
  }
}

async function buildSdk(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await buildSdkCode(folder);
  writeTypes(folder);
  for (const name of ['package.json', 'README.md']) cpSync(join(source, name), join(folder, name));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

await buildSdk(resolve(process.argv[2] ?? join(root, 'dist/sdk')));
