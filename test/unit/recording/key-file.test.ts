/** The file of keys at the start of the service: it is refused by the name of its setting, and nothing of it is told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keyOf } from '../../../shared/recording/keys.ts';
import { recordingKeys, whyNoKeys } from '../../../supervisor/recording/memory.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-key-file-'));
afterAll(() => rmSync(dir, { recursive: true }));

const settings = (keyFile?: string) => ({
  recording: { mostBytes: 1, ...(keyFile !== undefined && { keyFile: join(dir, keyFile) }) },
});

it('gives its keys, and none where the setting has no file', () => {
  const key = keyOf(new Uint8Array(32).fill(7));
  writeFileSync(join(dir, 'right'), `${key.secret}\n`);
  expect(whyNoKeys(settings('right'))).toBeUndefined();
  expect(recordingKeys(settings('right'))).toEqual([key]);
  expect(whyNoKeys(settings())).toBeUndefined();
  expect(recordingKeys(settings())).toBeUndefined();
});

it('is refused where it is missing, is a folder, or holds no key', () => {
  writeFileSync(join(dir, 'wrong'), 'hunter2');
  expect(whyNoKeys(settings('none'))).toBe(
    'SVC_RECORDING_KEY_FILE must name a file that can be read: there is no such file',
  );
  expect(whyNoKeys(settings('.'))).toBe(
    'SVC_RECORDING_KEY_FILE must name a file that can be read: it is a folder and no file',
  );
  expect(whyNoKeys(settings('wrong'))).toBe(
    'SVC_RECORDING_KEY_FILE: its file is not valid: line 1 must be a key of 32 bytes, in base64 or as hexadecimal digits',
  );
});
