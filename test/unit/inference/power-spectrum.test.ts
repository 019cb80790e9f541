/** Power spectra of two signals at once, against the definition of the transform. */
import { describe, expect, it } from 'vitest';
import { newPowerSpectrum } from '../../../inference/power-spectrum.ts';
import { newPrng } from '../../../shared/base/prng.ts';

const noise = (samples: number, seed: number): Float64Array => {
  const prng = newPrng(seed);
  return Float64Array.from({ length: samples }, () => prng.next() - 0.5);
};

describe('the power spectrum of two signals at once', () => {
  it.each([256, 400, 20])('is that of the definition, for each of %i samples', (size) => {
    const spectrum = newPowerSpectrum(size);
    const powers = [new Float64Array(size / 2 + 1), new Float64Array(size / 2 + 1)] as const;
    // What came before leaves nothing behind.
    spectrum([noise(size, 3), noise(size, 4)], powers);
    const [a, b] = [noise(size, 1), noise(size, 2)];
    spectrum([a.slice(), b.slice()], powers);
    for (const [index, signal] of [a, b].entries()) {
      for (let bin = 0; bin <= size / 2; bin += 1) {
        let [re, im] = [0, 0];
        signal.forEach((value, n) => {
          re += value * Math.cos((2 * Math.PI * bin * n) / size);
          im -= value * Math.sin((2 * Math.PI * bin * n) / size);
        });
        expect(powers[index]![bin]).toBeCloseTo(re * re + im * im, 9);
      }
    }
  });

  it('is made for products of fours and fives alone', () => {
    expect(() => newPowerSpectrum(384)).toThrow('fours and fives');
  });
});
