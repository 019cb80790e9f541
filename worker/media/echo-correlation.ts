/**
 * Where in a long signal a short one lies that may have gone through a room: for every lag the share of the short one's energy that
 * the long one would explain there, roughly. It says where to look closer and proves nothing: voices resemble one another.
 *
 * The correlation with all lags is a product of spectra. Lags are dealt in two halves that go through the transform as the real
 * and the imaginary part of one signal. The forward transform leaves its values in an order that the inverse one expects.
 */

const size = 4_096;
const real = new Float64Array(size);
const imaginary = new Float64Array(size);
const shortReal = new Float64Array(size);
const shortImaginary = new Float64Array(size);
const cosines = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size));
const sines = Float64Array.from({ length: size / 2 }, (_, i) => Math.sin((2 * Math.PI * i) / size));

/** Lags that one correlation covers with a short signal of so many samples. */
export const lagsFor = (shortLength: number): number => 2 * (size - shortLength);

/** A place counts as if the long signal had this share of its mean energy at least: in its pauses everything looks alike. */
const leastEnergy = 0.02;

/**
 * Finds the `taps` neighbouring places in `long` at which it explains `short` best, and gives the last of them. A place is the
 * sample of `long` that stands beside the first one of `short`. `long` has `lagsFor(short.length)` samples more than `short`.
 */
export function bestPlace(long: Float64Array, short: Float64Array, taps: number): number {
  const lags = (long.length - short.length) / 2;
  shortReal.fill(0);
  shortReal.set(short);
  shortImaginary.fill(0);
  for (let i = 0; i < size; i += 1) {
    real[i] = long[i] ?? 0;
    imaginary[i] = long[lags + i] ?? 0;
  }
  forward(shortReal, shortImaginary);
  forward(real, imaginary);
  for (let i = 0; i < size; i += 1) {
    const a = real[i] ?? 0;
    const b = imaginary[i] ?? 0;
    const c = shortReal[i] ?? 0;
    const d = shortImaginary[i] ?? 0;
    real[i] = a * c + b * d;
    imaginary[i] = b * c - a * d;
  }
  inverse(real, imaginary);
  return bestRun(long, short.length, { lags, taps });
}

/** The run of places that explain most together. */
function bestRun(long: Float64Array, length: number, { lags, taps }: { lags: number; taps: number }): number {
  let whole = 0;
  for (const sample of long) whole += sample * sample;
  const least = (leastEnergy * whole * length) / long.length + 1;
  let energy = 0;
  for (let i = 0; i < length; i += 1) energy += (long[i] ?? 0) ** 2;
  let run = 0;
  let best = 0;
  let found = 0;
  for (let place = 0; place < 2 * lags; place += 1) {
    const correlation = (place < lags ? real[place] : imaginary[place - lags]) ?? 0;
    const explained = correlation ** 2 / (energy + least);
    energy += (long[place + length] ?? 0) ** 2 - (long[place] ?? 0) ** 2;
    // It takes the place of the correlation, for the moment at which it leaves the run.
    if (place < lags) real[place] = explained;
    else imaginary[place - lags] = explained;
    const left = place - taps;
    run += explained - (left < 0 ? 0 : ((left < lags ? real[left] : imaginary[left - lags]) ?? 0));
    if (run <= best) continue;
    best = run;
    found = place;
  }
  return found;
}

/** From the natural order to the reversed one. */
function forward(re: Float64Array, im: Float64Array): void {
  for (let half = size / 2, step = 1; half >= 1; half /= 2, step *= 2) {
    for (let at = 0; at < half; at += 1) {
      const cosine = cosines[at * step] ?? 0;
      const sine = sines[at * step] ?? 0;
      for (let a = at; a < size; a += 2 * half) {
        const b = a + half;
        const differenceReal = (re[a] ?? 0) - (re[b] ?? 0);
        const differenceImaginary = (im[a] ?? 0) - (im[b] ?? 0);
        re[a] = (re[a] ?? 0) + (re[b] ?? 0);
        im[a] = (im[a] ?? 0) + (im[b] ?? 0);
        re[b] = differenceReal * cosine + differenceImaginary * sine;
        im[b] = differenceImaginary * cosine - differenceReal * sine;
      }
    }
  }
}

/** Back from the reversed order, `size` times as large. */
function inverse(re: Float64Array, im: Float64Array): void {
  for (let half = 1, step = size / 2; half < size; half *= 2, step /= 2) {
    for (let at = 0; at < half; at += 1) {
      const cosine = cosines[at * step] ?? 0;
      const sine = sines[at * step] ?? 0;
      for (let a = at; a < size; a += 2 * half) {
        const b = a + half;
        const turnedReal = (re[b] ?? 0) * cosine - (im[b] ?? 0) * sine;
        const turnedImaginary = (re[b] ?? 0) * sine + (im[b] ?? 0) * cosine;
        re[b] = (re[a] ?? 0) - turnedReal;
        im[b] = (im[a] ?? 0) - turnedImaginary;
        re[a] = (re[a] ?? 0) + turnedReal;
        im[a] = (im[a] ?? 0) + turnedImaginary;
      }
    }
  }
}
