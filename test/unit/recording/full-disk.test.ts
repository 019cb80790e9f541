/** Recordings on a disk that fills up: what stands there is whole, or is missing and was told. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OpenRecording } from '../../../worker/recording/open-recording.ts';
import { writeOutput } from '../../../worker/recording/file-output.ts';
import { SealedLogReader } from '../../../worker/recording/sealed-log.ts';
import { keyOf } from '../../../shared/recording/keys.ts';

let folder: string;
let isMounted: boolean;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-full-'));
  const small = ['-t', 'tmpfs', '-o', 'size=16k', 'none', folder];
  isMounted = spawnSync('mount', small, { stdio: 'ignore' }).status === 0;
});

afterEach(() => {
  if (isMounted) execFileSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
});

it('a transcript has no torn line, and goes on when there is room again', (context) => {
  if (!isMounted) return context.skip('this user may not mount a small disk');
  const recording = new OpenRecording(folder, 'call-1', { since: 0 });
  recording.begin();
  const line = (text: string): void => {
    recording.take('line', 0, new TextEncoder().encode(`${JSON.stringify({ text })}\n`));
    recording.flush();
  };
  line('first');
  expect(() => line('x'.repeat(20_000))).toThrow('ENOSPC');
  execFileSync('mount', ['-o', 'remount,size=64k', folder]);
  line('last');
  recording.close();
  const written = readFileSync(join(folder, 'open/call-1/lines-000000000000.jsonl'), 'utf8');
  expect(written).toBe('{"text":"first"}\n{"text":"last"}\n');
});

it('a sound file for which there is no room is not taken for a whole one', async (context) => {
  if (!isMounted) return context.skip('this user may not mount a small disk');
  const tooLong = new Uint8Array(100_000);
  for (const key of [undefined, keyOf(randomBytes(32))]) {
    const written = writeOutput(join(folder, 'audio.wav'), key, (out) => out.write(tooLong));
    await expect(written).rejects.toThrow('ENOSPC');
    expect(readdirSync(folder).filter((name) => !name.endsWith('.part'))).toEqual([]);
  }
});

it('an encrypted transcript loses what found no room, and nothing else', (context) => {
  if (!isMounted) return context.skip('this user may not mount a small disk');
  const key = keyOf(randomBytes(32));
  const recording = new OpenRecording(folder, 'call-1', { since: 0, key });
  recording.begin();
  const line = (text: string): void => {
    recording.take('line', 0, new TextEncoder().encode(`${text}\n`));
    recording.flush();
  };
  // A file that holds nothing is not left.
  expect(() => line('x'.repeat(20_000))).toThrow('ENOSPC');
  line('first');
  expect(() => line('x'.repeat(20_000))).toThrow('ENOSPC');
  execFileSync('mount', ['-o', 'remount,size=64k', folder]);
  line('last');
  recording.close();
  const files = readdirSync(join(folder, 'open/call-1')).toSorted();
  expect(files).toEqual(['lines-000000000000-000.enc', 'lines-000000000000-001.enc']);
  const texts = files.map((name) => {
    const log = new SealedLogReader(join(folder, 'open/call-1', name), [key]);
    const parts = [...log.whole()].map(({ bytes }) => Buffer.from(bytes).toString());
    log.close();
    return parts;
  });
  expect(texts).toEqual([['first\n'], ['last\n']]);
});
