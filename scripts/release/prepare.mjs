// Makes a checkout the next release: its version everywhere, its changelog, and its public types as those of the last release.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestIn } from '../packages/parts.mjs';
import { changesIn, reportsIn, writeReports } from '../packages/surface.mjs';
import { homeOf } from './addresses.mjs';
import { release } from './notes.mjs';
import { setVersion } from './versions.mjs';

export function prepare(checkout, { date }) {
  const path = join(checkout, 'CHANGELOG.md');
  const changes = changesIn(checkout);
  const current = manifestIn(checkout).version;
  const next = release(readFileSync(path, 'utf8'), { current, changes, date, home: homeOf(checkout) });
  writeFileSync(path, next.changelog);
  setVersion(checkout, next.version);
  writeReports(checkout, 'api/released', reportsIn(checkout));
  for (const { file } of changes) rmSync(join(checkout, file));
  return next;
}
