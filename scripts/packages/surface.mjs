// The public surface of all packages: `api/` holds a report for each of their entries, `api/released` those of the last release.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportsOf } from './api.mjs';
import { builders } from './builders.mjs';
import { parseChange } from './changes.mjs';
import { manifestIn, root, writeTypes } from './parts.mjs';

const suffix = '.api.md';

/** The declarations of the service where its package has them. Its code is not needed here. */
function typesOfService(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifestIn(root)));
  writeTypes(folder, { files: ['shared/auth/mint.ts'], source: 'shared', config: 'tsconfig.json' });
  mkdirSync(join(folder, 'dist'));
  renameSync(join(folder, 'types'), join(folder, 'dist/shared'));
}

/** Builds all packages, hands their folders by name to `use`, and takes them away again. */
export async function withPackages(use) {
  const work = mkdtempSync(join(tmpdir(), 'packages-'));
  try {
    for (const [name, build] of Object.entries(builders)) await build(join(work, name));
    typesOfService(join(work, 'service'));
    return await use(
      Object.fromEntries([...Object.keys(builders), 'service'].map((name) => [name, join(work, name)])),
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What the packages in these folders offer now, by the name of the report. */
export const currentReports = (folders) =>
  Object.fromEntries(
    Object.values(folders).flatMap((folder) => reportsOf(folder).map(({ report, text }) => [report, text])),
  );

/** The reports in a folder below `api`; none before there was one. */
export function reportsIn(at, folder = 'api') {
  const path = join(at, folder);
  const names = existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(suffix)) : [];
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -suffix.length), readFileSync(join(path, name), 'utf8')]),
  );
}

export function writeReports(at, folder, reports) {
  const path = join(at, folder);
  mkdirSync(path, { recursive: true });
  for (const name of readdirSync(path)) if (name.endsWith(suffix)) rmSync(join(path, name));
  for (const [name, text] of Object.entries(reports)) writeFileSync(join(path, `${name}${suffix}`), text);
}

/** Whose report this is, as the report says. */
export const packageOf = (reports) => (name) => /"([^"]+)"/.exec(reports[name] ?? '')?.[1];

/** The changes that wait for a release. */
export function changesIn(at) {
  const folder = join(at, '.changeset');
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
    : [];
  return names
    .sort()
    .map((name) => parseChange(`.changeset/${name}`, readFileSync(join(folder, name), 'utf8')));
}
