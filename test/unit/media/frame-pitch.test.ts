/** Which frames have the pitch of a voice. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { periodicity } from '../../../worker/media/vad/frame-pitch.ts';
import { echoOf, mixed } from '../../support/audio/echo-path.ts';

const frameSamples = 512;
const rate = 16_000;

/** What is measured of each frame. */
function measured(pcm: Int16Array): number[] {
  const frames = Array.from({ length: Math.floor(pcm.length / frameSamples) }, (_, i) =>
    pcm.subarray(i * frameSamples, (i + 1) * frameSamples),
  );
  return frames.map((frame, i) => periodicity(frame, frames[i - 1]));
}

const made = (ms: number, sample: (i: number) => number): Int16Array =>
  Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) => Math.round(sample(i)));

/** Pulses that ring, as a glottis makes them. */
const buzz = (hz: number): Int16Array =>
  made(320, (i) => {
    const since = i % Math.round(rate / hz);
    return 9_000 * Math.exp(-since / 30) * Math.cos(since / 4);
  });
const random = newPrng(5);
const hiss = made(320, () => random.below(8_000) - 4_000);
const knock = made(320, (i) => (random.below(24_000) - 12_000) * Math.exp(-(i % 1_500) / 400));

describe('the pitch of a frame', () => {
  it.each([80, 120, 190, 260, 380])('is found at %i Hz, from the second frame on', (hz) => {
    for (const found of measured(buzz(hz)).slice(1)) expect(found).toBeGreaterThan(0.9);
  });

  it('is found under noise ten times weaker', () => {
    const noise = echoOf(new Int16Array(hiss.length), { db: 0, delayMs: 0 }).map((_, i) => hiss[i]! / 8);
    for (const found of measured(mixed(buzz(120), noise, 0)).slice(1)) expect(found).toBeGreaterThan(0.65);
  });

  it('is not in hisses and knocks', () => {
    for (const found of [...measured(hiss), ...measured(knock)]) expect(found).toBeLessThan(0.6);
  });

  it('is nothing in silence, and the same however loud', () => {
    expect(measured(new Int16Array(2_048))).toEqual([0, 0, 0, 0]);
    const loud = measured(buzz(150));
    measured(buzz(150).map((sample) => sample / 16)).forEach((found, i) => {
      expect(found).toBeCloseTo(loud[i]!, 1);
    });
  });
});
