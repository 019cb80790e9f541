/** Recordings on a disk that fills up: what stands there is whole, or is missing and was told. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OpenRecording } from '../../../worker/recording/open-recording.ts';
import { withSound } from '../../../worker/recording/sound.ts';

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
  const recording = new OpenRecording(folder, 'call-1', 0);
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
  const tooLong = new Uint8Array(20_000);
  const written = withSound([], join(folder, 'audio.wav'), (sound) => {
    sound.write(tooLong);
    return Promise.resolve();
  });
  await expect(written).rejects.toThrow('ENOSPC');
});
