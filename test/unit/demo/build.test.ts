/** What a new build does to the one before. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { clear } from '../../../scripts/build/service.mjs';

it('leaves packages of SDK and library, which others have linked, and nothing else', () => {
  const dist = mkdtempSync(join(tmpdir(), 'dist-'));
  onTestFinished(() => rmSync(dist, { recursive: true }));
  for (const name of ['sdk', 'client', 'worker', 'bench']) mkdirSync(join(dist, name));
  for (const file of ['sdk/package.json', 'client/package.json', 'worker/main.js', '.built'])
    writeFileSync(join(dist, file), '{}');
  clear(dist);
  expect(readdirSync(dist)).toEqual(['client', 'sdk']);
  clear(join(dist, 'new'));
  expect(readdirSync(join(dist, 'new'))).toEqual([]);
});
