/** Recordings in Opus, as the reference tools of the codec read them: length, both sides, place in time. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finishRecording } from '../../../worker/recording/finish.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-opus-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = spawnSync('opusdec', ['--version']);
const isMissing = program.error !== undefined;

/** Silence, and a tone from `fromMs` to `toMs`. */
function tone(rate: number, lengthMs: number, [fromMs, toMs]: readonly [number, number]): Int16Array {
  const isLoud = (at: number): boolean => at >= (fromMs * rate) / 1000 && at < (toMs * rate) / 1000;
  return Int16Array.from({ length: (lengthMs * rate) / 1000 }, (_, at) =>
    isLoud(at) ? Math.round(9000 * Math.sin((2 * Math.PI * 440 * at) / rate)) : 0,
  );
}

function leave(rate: number, heard: Int16Array, sent: Int16Array): string {
  const path = join(folder, 'call');
  mkdirSync(path);
  writeFileSync(
    join(path, 'lines-000000000000.jsonl'),
    `{"at":0,"type":"call","call":"c","started":"2026-03-01T10:00:00.000Z","rate":${rate}}\n`,
  );
  writeFileSync(join(path, 'heard.pcm'), new Uint8Array(heard.buffer));
  writeFileSync(join(path, 'sent.pcm'), new Uint8Array(sent.buffer));
  return path;
}

/** Both sides as the reference decoder gives them, at 48 kHz. */
function decoded(path: string): readonly [Int16Array, Int16Array] {
  const { stdout, status, stderr } = spawnSync('opusdec', ['--quiet', '--rate', '48000', path, '-'], {
    maxBuffer: 1e9,
  });
  expect(status, String(stderr)).toBe(0);
  const side = (offset: number): Int16Array =>
    Int16Array.from({ length: stdout.length / 4 }, (_, at) => stdout.readInt16LE(at * 4 + offset));
  return [side(0), side(2)];
}

const loudness = (pcm: Int16Array, fromMs: number, toMs: number): number => {
  const part = pcm.subarray(fromMs * 48, toMs * 48);
  return Math.sqrt(part.reduce((sum, one) => sum + one * one, 0) / part.length);
};

describe('a recording in Opus', () => {
  it.skipIf(isMissing).each([8000, 16_000, 24_000, 48_000])(
    'of %i Hz holds each side in its place and no more than the call (needs opusdec of opus-tools)',
    async (rate) => {
      const path = leave(rate, tone(rate, 2510, [500, 1000]), tone(rate, 2000, [1200, 1800]));
      await finishRecording(path, { format: 'opus' });
      expect(readdirSync(path).toSorted()).toEqual(['audio.opus', 'audio.waveform', 'call.jsonl']);
      const file = join(path, 'audio.opus');
      expect(statSync(file).size).toBeLessThan(2510 * 8);
      const [left, right] = decoded(file);
      expect(left.length).toBe(2510 * 48);
      expect(loudness(left, 510, 990)).toBeGreaterThan(4000);
      expect(loudness(right, 1210, 1790)).toBeGreaterThan(4000);
      // Before and behind each tone, and on the other side meanwhile.
      for (const [pcm, from, to] of [
        [left, 0, 490],
        [left, 1050, 2500],
        [right, 0, 1190],
        [right, 1850, 2500],
      ] as const)
        expect(loudness(pcm, from, to)).toBeLessThan(200);
    },
  );

  it.skipIf(isMissing)('is without fault to the checker of Ogg (needs opusinfo of opus-tools)', async () => {
    const path = leave(16_000, tone(16_000, 3000, [0, 3000]), tone(16_000, 10, [0, 10]));
    await finishRecording(path, { format: 'opus' });
    const { stdout, stderr, status } = spawnSync('opusinfo', [join(path, 'audio.opus')], {
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).not.toMatch(/warning|error/i);
    expect(stdout).toMatch(
      /Channels: 2[\s\S]*Original sample rate: 16000 Hz[\s\S]*Playback length: 0m:03[.]000s/,
    );
    expect(status).toBe(0);
  });

  it('is a WAV where the codec does not know the rate of the call', async () => {
    const path = leave(44_100, new Int16Array(100), new Int16Array(100));
    await finishRecording(path, { format: 'opus' });
    expect(readdirSync(path)).toContain('audio.wav');
  });

  it('of a call without any sound can be read', async (context) => {
    context.skip(isMissing, 'opusdec (Debian: opus-tools) is not installed');
    const path = leave(16_000, new Int16Array(0), new Int16Array(0));
    await finishRecording(path, { format: 'opus' });
    expect(decoded(join(path, 'audio.opus'))[0].length).toBe(0);
  });
});
