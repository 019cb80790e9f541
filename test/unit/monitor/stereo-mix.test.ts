/** Both sides of a call as one stream, while it runs. */
import { describe, expect, it } from 'vitest';
import { StereoMix } from '../../../worker/monitor/stereo-mix.ts';

const rate = 16_000;
const ms = (count: number): number => (count * rate) / 1000;
const pcm = (length: number, value: number): Int16Array => new Int16Array(ms(length)).fill(value);

/** Left and right of each frame that is due, by its first sample. */
function taken(mix: StereoMix, now: number): [number, number][] {
  const frames: [number, number][] = [];
  for (let frame = mix.take(now); frame !== undefined; frame = mix.take(now))
    frames.push([frame.readInt16LE(0), frame.readInt16LE(2)]);
  return frames;
}

describe('the stream for who listens', () => {
  it('has the caller left and the agent right, in frames of 20 ms, some moments later', () => {
    const mix = new StereoMix(rate, 1_000);
    mix.heard(pcm(40, 1), 0);
    mix.sent(pcm(20, 2), ms(20));
    expect(taken(mix, 1_170)).toEqual([]);
    expect(taken(mix, 1_180)).toEqual([[1, 0]]);
    expect(taken(mix, 1_220)).toEqual([
      [1, 2],
      [0, 0],
    ]);
    expect(mix.take(1_260)?.length).toBe(ms(20) * 4);
  });

  it('plays what comes late as soon as it is there, and is in time again behind a silence', () => {
    const mix = new StereoMix(rate, 0);
    expect(taken(mix, 1_160)).toHaveLength(50);
    mix.heard(pcm(100, 3), ms(500));
    expect(taken(mix, 1_260)).toEqual(Array.from({ length: 5 }, () => [3, 0]));
    mix.heard(pcm(20, 4), ms(1_200));
    expect(taken(mix, 1_360)).toEqual(Array.from({ length: 5 }, () => [0, 0]));
    expect(taken(mix, 1_380)).toEqual([[4, 0]]);
  });

  it('keeps no more than some seconds of a side that comes all at once', () => {
    const mix = new StereoMix(rate, 0);
    for (let second = 1; second <= 9; second += 1) mix.sent(pcm(1_000, second), ms(1_000) * second);
    const heard = taken(mix, 20_000).map(([, right]) => right);
    expect(heard.filter((value) => value > 0)).toHaveLength(150);
    expect(heard).not.toContain(9);
  });
});
