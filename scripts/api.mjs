// `npm run api`: writes a report of what each package offers into `api/`. With `--check` it writes nothing, and complains of reports that are
// stale, of changes since the last release that no file in `.changeset` tells, and of packages whose manifest or types are wrong.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run api [-- --check]
  Writes a report of what each package offers into api/.
  --check  writes nothing, and says what is stale or missing there and in .changeset, and what publint and attw find`);
await ensureInstalled({ dev: true });
const { missingChanges } = await import('./packages/changes.mjs');
const { root } = await import('./packages/parts.mjs');
const surface = await import('./packages/surface.mjs');
const { publint } = await import('publint');
const { formatMessage } = await import('publint/utils');

/** What publint and attw find in a package that is built. Packages are ES modules alone. */
async function findings(folder) {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true });
  const found = messages.map((message) => `${pkg.name}: ${formatMessage(message, pkg)}`);
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  try {
    execFileSync(process.execPath, [attw, '--pack', folder, '--profile', 'esm-only', '--format', 'ascii'], {
      encoding: 'utf8',
    });
  } catch (error) {
    found.push(`${pkg.name}: ${error.stdout}`);
  }
  return found;
}

async function check(folders) {
  const { service: _, ...built } = folders;
  const [current, noted, released] = [
    surface.currentReports(folders),
    surface.reportsIn(root),
    surface.reportsIn(root, 'api/released'),
  ];
  const stale = [...new Set([...Object.keys(current), ...Object.keys(noted)])]
    .filter((name) => noted[name] !== current[name])
    .map((name) => `api/${name}.api.md is stale: npm run api writes it`);
  const packageOf = surface.packageOf({ ...released, ...current });
  const missing = missingChanges({ released, current, packageOf, changes: surface.changesIn(root) });
  const found = (await Promise.all(Object.values(built).map(findings))).flat();
  return [...stale, ...missing, ...found];
}

await surface.withPackages(async (folders) => {
  if (!process.argv.includes('--check'))
    return surface.writeReports(root, 'api', surface.currentReports(folders));
  const problems = await check(folders);
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
});
