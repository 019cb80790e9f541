/** The inner loops of a look for echo, against the same sums in plain numbers. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import newWabt from 'wabt';
import { newPrng } from '../../../../shared/base/prng.ts';
import { bestPlace, lagsFor } from '../../../../worker/media/echo/correlation.ts';
import { explainedShare, taps } from '../../../../worker/media/echo/fit.ts';
import { echoKernelBytes } from '../../../../worker/media/echo/kernel-bytes.ts';
import { isInKernel, kernelFloats, vectorLength } from '../../../../worker/media/echo/kernel.ts';
import { readFlat } from '../../../../worker/media/echo/samples.ts';

const source = new URL('../../../../worker/media/echo/kernel.wat', import.meta.url);
const length = 1_024;
const prng = newPrng(6);
const random = (): number => Math.round(6_000 * (prng.next() + prng.next() - 1));

const heard = kernelFloats(length);
const near = kernelFloats(length + taps);
const long = kernelFloats(length + lagsFor(length));

/** The share that the taps explain, by the normal equations and plain elimination. */
function plainShare(): number {
  const shifted = (tap: number, i: number): number => near[taps + i - tap] ?? 0;
  const sum = (product: (i: number) => number): number =>
    Array.from({ length }, (_, i) => product(i)).reduce((all, one) => all + one, 0);
  const added = 0.01 * sum((i) => shifted(0, i) ** 2) + 1;
  const rows = Array.from({ length: taps }, (_, row) => [
    ...Array.from(
      { length: taps },
      (_unused, column) => sum((i) => shifted(row, i) * shifted(column, i)) + (row === column ? added : 0),
    ),
    sum((i) => shifted(row, i) * heard[i]!),
  ]);
  const products = rows.map((row) => row[taps]!);
  for (let at = 0; at < taps; at += 1) {
    for (let below = at + 1; below < taps; below += 1) {
      const times = rows[below]![at]! / rows[at]![at]!;
      rows[below] = rows[below]!.map((value, column) => value - times * rows[at]![column]!);
    }
  }
  const weights = new Array<number>(taps).fill(0);
  for (let at = taps - 1; at >= 0; at -= 1) {
    const others = weights.reduce((all, weight, column) => all + weight * rows[at]![column]!, 0);
    weights[at] = (rows[at]![taps]! - others) / rows[at]![at]!;
  }
  const explained = weights.reduce((all, weight, tap) => all + weight * products[tap]!, 0);
  return explained / sum((i) => heard[i]! ** 2);
}

describe('the kernel of a look', () => {
  it('is what its source says: `npm run kernel` after a change', async () => {
    const wabt = await newWabt();
    const module = wabt.parseWat('kernel.wat', readFileSync(source, 'utf8'), { simd: true });
    expect([...echoKernelBytes]).toEqual([...module.toBinary({}).buffer]);
  });

  it('gives arrays that are zero, whole vectors apart, and its own', () => {
    const [one, two] = [kernelFloats(3), kernelFloats(5)];
    expect([...one, ...two]).toEqual(new Array(8).fill(0));
    expect(two.byteOffset % 16).toBe(0);
    expect(two.byteOffset).toBeGreaterThanOrEqual(one.byteOffset + vectorLength(3));
    expect([isInKernel(one), isInKernel(new Float32Array(3))]).toEqual([true, false]);
  });

  it('explains what plain elimination explains', () => {
    let smooth = 0;
    for (let i = 0; i < near.length; i += 1) near[i] = smooth = 0.8 * smooth + random();
    for (let i = 0; i < length; i += 1)
      heard[i] = 0.5 * near[taps + i - 3]! - 0.3 * near[taps + i - 70]! + 0.4 * random();
    const share = explainedShare(heard, near, 2);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.95);
    expect(share).toBeCloseTo(plainShare(), 4);
    expect(explainedShare(heard, near, 0.2)).toBeLessThan(share);
    heard.fill(0);
    expect(explainedShare(heard, near, 0.9)).toBe(0);
  });

  it.each([0, 1, 700, 3_071, 3_072, 5_000, 6_143])('finds a place in the long signal: %i', (place) => {
    for (let i = 0; i < long.length; i += 1) long[i] = random();
    for (let i = 0; i < length; i += 1) heard[i] = 0.7 * long[place + i]! + 0.5 * random();
    expect(bestPlace(long, heard, 1)).toBe(place);
  });

  it('reads a ring at a quarter and at half of its rate, also over its end', () => {
    for (const rate of [8_000, 16_000]) {
      const times = rate / 4_000;
      const whole = Int16Array.from({ length: 2 * rate }, (_, i) =>
        Math.round(8_000 * Math.sin((2 * Math.PI * 500 * i) / rate)),
      );
      const ring = new Int16Array(rate);
      whole.forEach((sample, i) => (ring[i % ring.length] = sample));
      const into = new Float32Array(2_000);
      readFlat({ ring, rate, count: whole.length }, 7_990, into);
      const tone = (place: number): number => 8_000 * Math.sin((2 * Math.PI * 500 * place) / 4_000);
      for (let i = 0; i < into.length; i += 1) {
        const place = 7_990 - into.length + i;
        expect(Math.abs(into[i]! - (tone(place) - 0.7 * tone(place - 1)))).toBeLessThan(60 * times);
      }
    }
  });
});
