// `npm run site -- FOLDER`: makes the documentation site, which needs no server and no network; open index.html.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureInstalled } from '../install.mjs';
import { answerHelp } from '../process/help.mjs';

answerHelp(`usage: npm run site -- FOLDER
  Makes the documentation site in FOLDER, which is new or empty. Fails on every link that leads nowhere.`);
const [given, ...more] = process.argv.slice(2);
if (given === undefined || more.length > 0 || (existsSync(given) && readdirSync(given).length > 0)) {
  process.stderr.write('npm run site -- FOLDER: give one folder, which is new or empty.\n');
  process.exit(1);
}
await ensureInstalled({ dev: true });
const { buildSite } = await import('./build-site.mjs');
const { pages, files, problems } = await buildSite(resolve(given));
for (const problem of problems) process.stderr.write(`${problem}\n`);
console.log(`${pages} pages, ${files} files; open ${join(resolve(given), 'index.html')}`);
if (problems.length > 0) process.exit(1);
