/** Which folders a recording is found in: those of one call of one owner, and no others. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldersOfCall, foldersOfRecording } from '../../../shared/installation/kept-recordings.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-kept-'));

beforeAll(() => {
  for (const path of [
    ...[
      'kept/2026-03-01/x',
      'kept/2026-03-01/a_x',
      'kept/tenants/acme/2026-03-02/x',
      'kept/tenants/x/2026-03-02/y',
    ],
    ...[
      'outbox/2026-03-01_x',
      'outbox/2026-03-01_a_x',
      'outbox/2026-03-01_acme~x',
      'outbox/2026-03-01_gone~z',
    ],
  ])
    mkdirSync(join(dir, path), { recursive: true });
});
afterAll(() => rmSync(dir, { recursive: true }));

const shown = (paths: readonly string[]): string[] => paths.map((path) => relative(dir, path));

it.each([
  ['x', ['kept/2026-03-01/x', 'outbox/2026-03-01_x']],
  ['a_x', ['kept/2026-03-01/a_x', 'outbox/2026-03-01_a_x']],
  ['acme~x', ['kept/tenants/acme/2026-03-02/x', 'outbox/2026-03-01_acme~x']],
  ['acme~y', []],
  ['gone~z', ['outbox/2026-03-01_gone~z']],
  ['tenants', []],
  ['../kept/2026-03-01/x', []],
  ['..~x', []],
  ['', []],
])('the recording %s', async (name, folders) => {
  expect(shown(await foldersOfRecording(dir, name))).toEqual(folders);
});

it.each([
  [
    'x',
    [
      'kept/2026-03-01/x',
      'kept/tenants/acme/2026-03-02/x',
      'outbox/2026-03-01_acme~x',
      'outbox/2026-03-01_x',
    ],
  ],
  ['acme~x', ['kept/tenants/acme/2026-03-02/x', 'outbox/2026-03-01_acme~x']],
  ['z', ['outbox/2026-03-01_gone~z']],
  ['..', []],
])('the call %s, whoever had it', async (call, folders) => {
  expect(shown(await foldersOfCall(dir, call)).toSorted()).toEqual(folders);
});

it('nothing, where there is no folder of recordings', async () => {
  expect(await foldersOfRecording(join(dir, 'none'), 'x')).toEqual([]);
  expect(await foldersOfCall(join(dir, 'none'), 'x')).toEqual([]);
});
