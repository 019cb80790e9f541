/**
 * Where in a long signal a short one lies that may have gone through a room: for every lag the share of the short one's energy that
 * the long one would explain there, roughly. It says where to look closer and proves nothing: voices resemble one another.
 *
 * The correlation with all lags is a product of spectra. Lags are dealt in two halves that go through the transform as the real
 * and the imaginary part of one signal.
 */
import { floatBytes, kernel, kernelFloats } from './kernel.ts';
import { forward, inverse } from './transform.ts';

const size = 4_096;
/** Lags of both halves lie here in the end. */
const real = kernelFloats(2 * size);
const correlated = real.subarray(0, size);
const imaginary = kernelFloats(size);
const shortReal = kernelFloats(size);
const shortImaginary = kernelFloats(size);
/** Lags that one correlation covers with a short signal of so many samples. */
export const lagsFor = (shortLength: number): number => 2 * (size - shortLength);

/** A place counts as if the long signal had this share of its mean energy at least: in its pauses everything looks alike. */
const leastEnergy = 0.02;

/**
 * Finds the `taps` neighbouring places in `long` at which it explains `short` best, and gives the last of them. A place is the
 * sample of `long` that stands beside the first one of `short`. `long` has `lagsFor(short.length)` samples more than `short`.
 */
export function bestPlace(long: Float32Array, short: Float32Array, taps: number): number {
  const lags = (long.length - short.length) / 2;
  shortReal.fill(0);
  shortReal.set(short);
  shortImaginary.fill(0);
  real.set(long.subarray(0, size));
  imaginary.set(long.subarray(lags, lags + size));
  forward(shortReal, shortImaginary, size);
  forward(correlated, imaginary, size);
  kernel.match(
    real.byteOffset,
    imaginary.byteOffset,
    shortReal.byteOffset,
    shortImaginary.byteOffset,
    size * floatBytes,
  );
  inverse(correlated, imaginary, size);
  real.set(imaginary.subarray(0, lags), lags);
  return bestRun(long, short.length, { lags, taps });
}

/** The run of places that explain most together. */
function bestRun(long: Float32Array, length: number, { lags, taps }: { lags: number; taps: number }): number {
  let whole = 0;
  for (const sample of long) whole += sample * sample;
  const floor = (leastEnergy * whole * length) / long.length + 1;
  let energy = 0;
  for (let i = 0; i < length; i += 1) energy += (long[i] ?? 0) ** 2;
  let run = 0;
  let best = 0;
  let found = 0;
  for (let place = 0; place < 2 * lags; place += 1) {
    const explained = (real[place] ?? 0) ** 2 / (energy + floor);
    energy += (long[place + length] ?? 0) ** 2 - (long[place] ?? 0) ** 2;
    // It takes the place of the correlation, for the moment at which it leaves the run.
    real[place] = explained;
    run += explained - (place < taps ? 0 : (real[place - taps] ?? 0));
    if (run <= best) continue;
    best = run;
    found = place;
  }
  return found;
}
