// Builds the packages beside the service, ready for `npm pack` or `npm install`: npm run packages -- [NAME [FOLDER]]. The types come from
// the TypeScript compiler, so this needs the packages for development.
import { join, resolve } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

const usage = `usage: npm run packages -- [client|sdk|stage [FOLDER]]
  Builds a package, by default into the folder of its name in dist: the library for browsers, the SDK of the agent link, or the contract
  of stages. Without a name: all three.`;
answerHelp(usage);
await ensureInstalled({ dev: true });
const { builders } = await import('./packages/builders.mjs');
const { root } = await import('./packages/parts.mjs');

const [name, folder, ...more] = process.argv.slice(2);
if ((name !== undefined && !Object.hasOwn(builders, name)) || more.length > 0) {
  process.stderr.write(`${usage}\n`);
  process.exit(2);
}
for (const each of name === undefined ? Object.keys(builders) : [name])
  await builders[each](resolve(folder ?? join(root, 'dist', each)));
