/** The resampler's promises: exact lengths, independence of chunking, clean spectrum, no wrapping. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { SAMPLE_RATES } from '../../../shared/base/units.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';

const AMPLITUDE = 28_000;

interface Pair {
  readonly from: number;
  readonly to: number;
}

const pairs: Pair[] = SAMPLE_RATES.flatMap((from) =>
  SAMPLE_RATES.filter((to) => to !== from).map((to) => ({ from, to })),
);

function sine(hz: number, options: { rate: number; length: number; amplitude?: number }): Int16Array {
  const { rate, length, amplitude = AMPLITUDE } = options;
  return Int16Array.from({ length }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rate)),
  );
}

/** Amplitude of one frequency, through a Blackman-Harris window so that other components do not leak in. */
function amplitudeAt(signal: Int16Array, options: { hz: number; rate: number }): number {
  let re = 0;
  let im = 0;
  let weight = 0;
  signal.forEach((value, i) => {
    const p = (2 * Math.PI * i) / signal.length;
    const w = 0.35875 - 0.48829 * Math.cos(p) + 0.14128 * Math.cos(2 * p) - 0.01168 * Math.cos(3 * p);
    const q = (2 * Math.PI * options.hz * i) / options.rate;
    re += value * w * Math.cos(q);
    im += value * w * Math.sin(q);
    weight += w;
  });
  return (2 * Math.hypot(re, im)) / weight;
}

const decibel = (ratio: number): number => 20 * Math.log10(Math.max(ratio, 1e-9));

/** The answer to a tone, without the filter's beginning. */
function toneThrough(pair: Pair, hz: number): Int16Array {
  const input = sine(hz, { rate: pair.from, length: pair.from / 2 });
  return newResampler(pair)
    .process(input)
    .slice(Math.round(pair.to * 0.05));
}

function noise(length: number, seed: number): Int16Array {
  const prng = newPrng(seed);
  return Int16Array.from({ length }, () => prng.below(65_536) - 32_768);
}

describe('newResampler', () => {
  it('covers 30 pairs of rates', () => expect(pairs).toHaveLength(30));

  it('names the rate that it does not know', () => {
    expect(() => newResampler({ from: 11_025, to: 16_000 })).toThrow(
      /^resampler: from must be one of 8000, /,
    );
    expect(() => newResampler({ from: 16_000, to: 16_001 })).toThrow(/^resampler: to must be one of/);
  });

  it('passes equal rates through untouched', () => {
    const same = newResampler({ from: 24_000, to: 24_000 });
    const input = noise(480, 1);
    expect(same.process(input)).toBe(input);
    expect(same.delayMs).toBe(0);
    expect(same.flush()).toHaveLength(0);
  });
});

describe.each(pairs)('from $from to $to Hz', (pair) => {
  const { from, to } = pair;

  it('gives exactly ceil(n * to / from) samples after n, and a whole frame for every frame of 20 ms', () => {
    const resampler = newResampler(pair);
    let taken = 0;
    let given = 0;
    const prng = newPrng(from + to);
    for (let k = 0; k < 200; k++) {
      const length = prng.below(50);
      taken += length;
      given += resampler.process(new Int16Array(length)).length;
      expect(given).toBe(Math.ceil((taken * to) / from));
    }
    const frames = newResampler(pair);
    for (let k = 0; k < 20; k++) expect(frames.process(new Int16Array(from / 50))).toHaveLength(to / 50);
  });

  it('gives bit-identical output however the input is cut', () => {
    const input = noise(3000, 7);
    const whole = newResampler(pair).process(input).slice();
    const prng = newPrng(from * 3 + to);
    const resampler = newResampler(pair);
    const parts: number[] = [];
    for (let at = 0; at < input.length;) {
      const length = prng.chance(0.3) ? 1 : prng.below(1500);
      parts.push(...resampler.process(input.subarray(at, at + length)));
      at += length;
    }
    expect(Int16Array.from(parts)).toEqual(whole);
  });

  it('keeps tones up to 0.8 of the lower Nyquist frequency within 0.5 dB', () => {
    for (const part of [0.03, 0.4, 0.7, 0.8]) {
      const hz = (part * Math.min(from, to)) / 2;
      const db = decibel(amplitudeAt(toneThrough(pair, hz), { hz, rate: to }) / AMPLITUDE);
      expect(Math.abs(db), `${hz} Hz`).toBeLessThan(0.5);
    }
  });

  it('keeps aliases and images below -90 dB', () => {
    const worst = to < from ? worstAlias(pair) : worstImage(pair);
    expect(worst).toBeLessThan(-90);
  });

  it('delays by delayMs, and flush gives what was still inside', () => {
    const resampler = newResampler(pair);
    const input = new Int16Array(from / 50);
    // A smooth bump around 10 ms, wide enough for any of the rates.
    const at = (rate: number, ms: number): number => (rate * ms) / 1000;
    for (let i = 0; i < input.length; i++) {
      input[i] = Math.round(20_000 * Math.exp(-(((i - at(from, 10)) / at(from, 1)) ** 2)));
    }
    const body = resampler.process(input).slice();
    const output = [...body, ...resampler.flush()];
    const middleMs =
      (output.reduce((sum, v, i) => sum + v * i, 0) / output.reduce((sum, v) => sum + v, 0) / to) * 1000;
    expect(middleMs).toBeCloseTo(10 + resampler.delayMs, 1);
    expect(output.length - body.length).toBeGreaterThanOrEqual(Math.floor((resampler.delayMs * to) / 1000));
  });
});

function worstAlias({ from, to }: Pair): number {
  let worst = -200;
  for (let k = 0; k <= 8; k++) {
    const hz = to / 2 + 20 + ((from / 2 - to / 2 - 50) * k) / 8;
    const folded = Math.abs(hz - Math.round(hz / to) * to);
    const out = toneThrough({ from, to }, hz);
    worst = Math.max(worst, decibel(amplitudeAt(out, { hz: folded, rate: to }) / AMPLITUDE));
  }
  return worst;
}

function worstImage({ from, to }: Pair): number {
  let worst = -200;
  for (const part of [0.1, 0.5, 0.8, 0.9, 0.99]) {
    const hz = (part * from) / 2;
    const out = toneThrough({ from, to }, hz);
    for (let image = 1; image * from - hz < to / 2; image++) {
      for (const at of [image * from - hz, image * from + hz].filter((f) => f < to / 2)) {
        worst = Math.max(worst, decibel(amplitudeAt(out, { hz: at, rate: to }) / AMPLITUDE));
      }
    }
  }
  return worst;
}

describe('a resampler of a call', () => {
  it('saturates where the filter overshoots, and never wraps', () => {
    for (const pair of pairs) {
      // The edges of a full-scale square wave ring above full scale.
      const half = pair.from / 100;
      const square = Int16Array.from({ length: pair.from / 10 }, (_, i) =>
        Math.floor(i / half) % 2 ? -32_768 : 32_767,
      );
      const out = newResampler(pair).process(square);
      expect(Math.max(...out)).toBe(32_767);
      expect(Math.min(...out)).toBe(-32_768);
      // A wrapped sample has the other sign: the output changes its sign at the nine edges and nowhere else.
      const heard = out.subarray(Math.ceil((pair.to * 5) / 1000));
      let changes = 0;
      for (let i = 1; i < heard.length; i++) if (heard[i]! < 0 !== heard[i - 1]! < 0) changes++;
      expect(changes, `${pair.from} to ${pair.to}`).toBe(9);
    }
  });

  it('passes a constant unchanged', () => {
    for (const pair of pairs) {
      const out = newResampler(pair)
        .process(new Int16Array(pair.from / 10).fill(12_345))
        .slice(pair.to / 50);
      expect(new Set(out), `${pair.from} to ${pair.to}`).toEqual(new Set([12_345]));
    }
  });

  it('starts anew after reset and after flush', () => {
    for (const pair of pairs) {
      const input = noise(700, 3);
      const resampler = newResampler(pair);
      const first = resampler.process(input).slice();
      resampler.process(noise(333, 4));
      resampler.reset();
      expect(resampler.process(input)).toEqual(first);
      resampler.flush();
      expect(resampler.process(input)).toEqual(first);
    }
  });

  it('shares nothing audible with another call of the same rates', () => {
    const pair = { from: 24_000, to: 16_000 };
    const [one, other] = [newResampler(pair), newResampler(pair)];
    const alone = newResampler(pair);
    const speech = noise(960, 5);
    for (let at = 0; at < speech.length; at += 96) {
      const mine = one.process(speech.subarray(at, at + 96));
      other.process(noise(96, at));
      expect(mine).toEqual(alone.process(speech.subarray(at, at + 96)));
    }
  });

  it('hands out the same memory again while the frames stay of one size', () => {
    const resampler = newResampler({ from: 48_000, to: 16_000 });
    const first = resampler.process(new Int16Array(960));
    expect(resampler.process(new Int16Array(960))).toBe(first);
  });

  it('takes an empty chunk', () => {
    expect(newResampler({ from: 8000, to: 48_000 }).process(new Int16Array(0))).toHaveLength(0);
  });
});
