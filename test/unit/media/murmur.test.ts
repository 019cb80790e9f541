import { expect, it } from 'vitest';
import { Murmur } from '../../../worker/media/out/murmur.ts';

const frame = 160;

function heard(murmur: Murmur, frames: number): number[] {
  const all: number[] = [];
  for (let at = 0; at < frames; at += 1) {
    const samples = new Int16Array(frame);
    if (murmur.sounds) murmur.mix(samples);
    all.push(...samples);
  }
  return all;
}

/** A hum whose bends are small, at the rate of TTS. */
const hum = Int16Array.from({ length: 24 * 400 }, (_, at) =>
  Math.round(8_000 * Math.sin((2 * Math.PI * 150 * at) / 24_000)),
);

it('is as long as its line at the rate of the call, and 8 dB softer', () => {
  const murmur = new Murmur(8_000);
  murmur.say(hum, 24_000);
  const samples = heard(murmur, 30);
  expect(samples.findLastIndex((sample) => Math.abs(sample) > 50) / 8).toBeCloseTo(400, -1);
  expect(Math.max(...samples)).toBeCloseTo(8_000 * 10 ** (-8 / 20), -2);
  expect(murmur.sounds).toBe(false);
});

it('is said to its end before another is', () => {
  const murmur = new Murmur(8_000);
  murmur.say(hum, 24_000);
  heard(murmur, 5);
  murmur.say(new Int16Array(24 * 100).fill(9_000), 24_000);
  expect(Math.max(...heard(murmur, 30))).toBeLessThan(4_000);
});

it('fades without a click where the agent answers', () => {
  const murmur = new Murmur(8_000);
  murmur.say(hum, 24_000);
  const before = heard(murmur, 5);
  murmur.stop();
  const all = [...before, ...heard(murmur, 5)];
  const bends = all.map((sample, at) => Math.abs(sample - 2 * (all[at - 1] ?? 0) + (all[at - 2] ?? 0)));
  expect(Math.max(...bends) / 32_768).toBeLessThan(10 ** (-40 / 20));
  expect(all.slice(-3 * frame).every((sample) => sample === 0)).toBe(true);
});
