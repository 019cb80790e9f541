/**
 * Pure. Sound at three times its rate and back, in blocks: a low-pass filter of 48 taps at the higher rate, of which each sample of the
 * higher rate needs a third. It delays by half a millisecond either way.
 */

/** Samples of a block at the lower rate: 10 ms at 16 kHz. */
export const blockSamples = 160;
export const tripledSamples = 3 * blockSamples;

const taps = 48;
const phaseTaps = taps / 3;
/** Share of the lower rate's band that passes. */
const passed = 0.95;

/** A windowed sinc whose sum is 1. */
const filter = ((): Float32Array => {
  const middle = (taps - 1) / 2;
  const raw = Float64Array.from({ length: taps }, (_, tap) => {
    const x = (Math.PI * passed * (tap - middle)) / 3;
    return (Math.sin(x) / x) * (0.5 + 0.5 * Math.cos((Math.PI * (tap - middle)) / (middle + 1)));
  });
  const sum = raw.reduce((all, one) => all + one, 0);
  return Float32Array.from(raw, (one) => one / sum);
})();

/** From the lower rate to the higher one. */
export class Tripler {
  /** The end of the block before, and the block. */
  readonly #line = new Float32Array(phaseTaps - 1 + blockSamples);

  /** The block at the lower rate, to be filled before `run`. */
  readonly block = this.#line.subarray(phaseTaps - 1);

  run(into: Float32Array): void {
    const line = this.#line;
    for (let at = 0; at < blockSamples; at += 1) {
      let [first, second, third] = [0, 0, 0];
      for (let back = 0; back < phaseTaps; back += 1) {
        const sample = line[at + phaseTaps - 1 - back] ?? 0;
        first += sample * (filter[3 * back] ?? 0);
        second += sample * (filter[3 * back + 1] ?? 0);
        third += sample * (filter[3 * back + 2] ?? 0);
      }
      into[3 * at] = 3 * first;
      into[3 * at + 1] = 3 * second;
      into[3 * at + 2] = 3 * third;
    }
    line.copyWithin(0, blockSamples);
  }
}

/** From the higher rate to the lower one. */
export class Thirder {
  readonly #line = new Float32Array(taps - 1 + tripledSamples);

  run(block: Float32Array, into: Float32Array): void {
    const line = this.#line;
    line.set(block, taps - 1);
    for (let at = 0; at < blockSamples; at += 1) {
      let sum = 0;
      for (let tap = 0; tap < taps; tap += 1) sum += (filter[tap] ?? 0) * (line[3 * at + tap] ?? 0);
      into[at] = sum;
    }
    line.copyWithin(0, tripledSamples);
  }
}
