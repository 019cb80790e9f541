/** Voices through rooms are alike in what a room cannot change, and other voices are not. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../../shared/base/prng.ts';
import { kernelFloats } from '../../../../worker/media/echo/kernel.ts';
import { PlayedAudio } from '../../../../worker/media/echo/played.ts';
import { mostAlike, type Likeness } from '../../../../worker/media/echo/spectra.ts';
import { forward, inverse, placeOf } from '../../../../worker/media/echo/transform.ts';
import { echoOf, mixed, type EchoPath } from '../../../support/audio/echo-path.ts';
import { madeVoice } from '../../../support/audio/made-voice.ts';
import { earOn } from '../../../support/audio/microphone-ear.ts';

const rate = 16_000;
const lookRate = 4_000;
const second = lookRate;
const frame = 320;
const bot = madeVoice({ seed: 7, pitchHz: 190, ms: 1_200 });
const halls: readonly EchoPath[] = [
  { db: -12, delayMs: 150, roomMs: 600, reverberantDb: 10 },
  { db: -20, delayMs: 400, roomMs: 800, reverberantDb: 5 },
  { db: -12, delayMs: 250, roomMs: 600, reverberantDb: 5, telephone: true, noiseDb: 20 },
];

/** What is alike at the end of a microphone while `said` is played from its first sample on. */
function alike(microphone: Int16Array, said: Int16Array, sampleRate = rate): Likeness {
  const played = new PlayedAudio(sampleRate);
  const size = (frame * sampleRate) / rate;
  for (let at = 0; at + size <= said.length; at += size)
    played.add(said.subarray(at, at + size), (at * 1000) / sampleRate);
  const ear = earOn(microphone, rate, () => microphone.length);
  return mostAlike(ear, played, { playedEnd: (microphone.length * lookRate) / rate, within: second });
}

describe('the transform', () => {
  it('is that of each block, at the place that is told, and comes back', () => {
    const [size, blocks] = [512, 3];
    const prng = newPrng(4);
    const re = kernelFloats(size * blocks).map(() => prng.next() - 0.5);
    const [real, imaginary] = [kernelFloats(size * blocks), kernelFloats(size * blocks)];
    real.set(re);
    forward(real, imaginary, size);
    for (const [block, frequency] of [
      [0, 1],
      [1, 77],
      [2, 511],
    ] as const) {
      let [sum, turned] = [0, 0];
      for (let i = 0; i < size; i += 1) {
        const angle = (-2 * Math.PI * i * frequency) / size;
        sum += re[block * size + i]! * Math.cos(angle);
        turned += re[block * size + i]! * Math.sin(angle);
      }
      const at = block * size + placeOf(frequency, size);
      expect(real[at]).toBeCloseTo(sum, 3);
      expect(imaginary[at]).toBeCloseTo(turned, 3);
    }
    inverse(real, imaginary, size);
    for (const i of [0, 5, 700, 1_535]) expect(real[i]! / size).toBeCloseTo(re[i]!, 4);
  });
});

describe('spectra', () => {
  it.each(halls)('are alike in a hall, at the delay of the echo: %o', (path) => {
    const { likeness, newest, later } = alike(echoOf(bot, path), bot);
    expect(likeness).toBeGreaterThan(0.62);
    expect(newest).toBeGreaterThan(0.5);
    expect(Math.abs((later * 1000) / lookRate - path.delayMs)).toBeLessThan(32);
  });

  it('are alike in calls of 8 kHz', () => {
    const half = Int16Array.from({ length: bot.length / 2 }, (_, i) => (bot[2 * i]! + bot[2 * i + 1]!) / 2);
    expect(alike(echoOf(bot, halls[0]!), half, 8_000).likeness).toBeGreaterThan(0.65);
  });

  it('of other voices are not, at any delay', () => {
    for (const pitchHz of [90, 120, 150, 180, 200, 240])
      for (const seed of [31, 32, 33]) {
        const other = madeVoice({ seed, pitchHz, ms: 1_200 });
        expect(alike(other, bot).likeness).toBeLessThan(0.5);
      }
  });

  it('are alike but for the newest when somebody begins to speak over the echo', () => {
    const echo = echoOf(bot, halls[0]!);
    for (const pitchHz of [110, 140, 230]) {
      const caller = madeVoice({ seed: 5, pitchHz, ms: 300 });
      const { likeness, newest } = alike(mixed(echo, caller, echo.length - 0.11 * rate), bot);
      expect(newest).toBeLessThan(likeness - 0.2);
      expect(newest).toBeLessThan(0.4);
    }
  });

  it('of silence are like nothing', () => {
    const { likeness } = alike(new Int16Array(bot.length), bot);
    expect(likeness).toBe(0);
  });
});
