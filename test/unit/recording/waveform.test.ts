import { expect, it } from 'vitest';
import { levelsOfSide } from '../../../shared/recording/layout.ts';
import { Waveform } from '../../../worker/recording/waveform.ts';

/** What is loud, by the numbers of the levels that are not 0. */
const loud = (waveform: Waveform): (readonly [number, number])[] =>
  [...waveform.levels].flatMap((level, at) => (level > 0 ? [[at, level] as const] : []));

const silence = (count: number): Int16Array => new Int16Array(count * 2);

it('has each side in its place, however the call is read', () => {
  for (const atOnce of [1, 7, 160, 16_000]) {
    const samples = 16_000;
    const all = silence(samples);
    all[2 * 4_000] = -32_768;
    all[2 * 8_003 + 1] = 16_384;
    const waveform = new Waveform(samples);
    for (let from = 0; from < samples; from += atOnce)
      waveform.take(from, all.slice(from * 2, (from + atOnce) * 2));
    expect(loud(waveform), String(atOnce)).toEqual([
      [500, 255],
      [levelsOfSide + 1_000, 128],
    ]);
  }
});

it('of three hours takes no more room than that of a second, and has what is loud in its place', () => {
  const samples = 3 * 3_600 * 16_000;
  const waveform = new Waveform(samples);
  const minute = silence(60 * 16_000);
  for (let at = 0; at < 180; at += 1) {
    minute[0] = at === 90 ? 20_000 : 0;
    minute[minute.length - 1] = at === 179 ? 10_000 : 0;
    waveform.take(at * 60 * 16_000, minute);
  }
  expect(waveform.levels).toHaveLength(2 * levelsOfSide);
  expect(loud(waveform)).toEqual([
    [1_000, 156],
    [2 * levelsOfSide - 1, 78],
  ]);
});

it('leaves out what the codec reads behind the end, and takes a call of some samples', () => {
  const waveform = new Waveform(3);
  const both = Int16Array.of(1_000, 0, 0, 2_000, 3_000, 0, 9_000, 9_000);
  expect(waveform.take(0, both)).toBe(both);
  expect(loud(waveform).map(([, level]) => level)).toEqual([8, 23, 16]);
  expect(loud(new Waveform(0))).toEqual([]);
});
