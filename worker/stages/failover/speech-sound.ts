/**
 * How speech sounds, frame by frame: the shape of its spectrum, without loudness of the voice as a whole and without what is
 * the same in all of its sounds, so that two voices that say the same words come out alike.
 *
 * Pure. Frames are {@link frameMs} apart; frame 0 is about the audio around `centreMs`.
 */

/** Distance of two frames in milliseconds. */
export const frameMs = 16;
/** Values of a frame. */
export const frameSize = 13;
const windowSize = 256;
const bands = 16;
const lowestHz = 150;
const highestHz = 3_700;
/** A frame with less than this share of the loudest one's energy is quiet. */
const quietShare = 3e-4;
/** What is below this share of the loudest frame is no sound. */
const floorShare = 1e-5;
/** Mean energy of a sample below which nothing is speech. */
const leastEnergy = 400;
/** Values are not taken for further from the mean than this, in deviations. */
const furthest = 4;
/** A value that hardly changes tells nothing. */
const leastDeviation = 0.05;
const preEmphasis = 0.95;

export interface SpeechSound {
  readonly count: number;
  /** `count` times {@link frameSize}. */
  readonly values: Float32Array;
  /** 1 where there is no voice. */
  readonly quiet: Uint8Array;
  /** Energy of each frame, as a share of the loudest. */
  readonly loudness: Float32Array;
  /** The middle of frame 0. */
  readonly centreMs: number;
}

const hamming = Float64Array.from(
  { length: windowSize },
  (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (windowSize - 1)),
);
const cosines = Float64Array.from({ length: windowSize / 2 }, (_, at) =>
  Math.cos((2 * Math.PI * at) / windowSize),
);
const sines = Float64Array.from({ length: windowSize / 2 }, (_, at) =>
  Math.sin((2 * Math.PI * at) / windowSize),
);
/** Cosine transform of band energies: row `q` of `bands` weights. */
const cepstrum = Float64Array.from({ length: frameSize * bands }, (_, at) => {
  const [q, band] = [Math.floor(at / bands), at % bands];
  return Math.cos((Math.PI * q * (band + 0.5)) / bands) / bands;
});

/** @param rate Hz, at least twice the highest frequency that is looked at. */
export function soundOf(pcm: Int16Array, rate: number): SpeechSound {
  const hop = Math.round((rate * frameMs) / 1000);
  const count = Math.max(0, Math.floor((pcm.length - windowSize) / hop) + 1);
  const energies = new Float64Array(count * bands);
  const loudness = new Float32Array(count);
  const weights = bandWeights(rate);
  const spectrum = newSpectrum();
  for (let frame = 0; frame < count; frame += 1) {
    spectrum.load(pcm, frame * hop);
    for (const { band, bin, weight } of weights) {
      const energy = weight * spectrum.power(bin);
      energies[frame * bands + band] = (energies[frame * bands + band] ?? 0) + energy;
      loudness[frame] = (loudness[frame] ?? 0) + energy;
    }
  }
  const loudest = loudness.reduce((most, one) => Math.max(most, one), leastEnergy * windowSize);
  const quiet = Uint8Array.from(loudness, (energy) => (energy < loudest * quietShare ? 1 : 0));
  const values = cepstra(energies, { count, floor: (loudest * floorShare) / bands });
  normalise(values, quiet);
  const centreMs = (windowSize * 500) / rate;
  return { count, values, quiet, loudness: loudness.map((energy) => energy / loudest), centreMs };
}

interface BandWeight {
  readonly band: number;
  readonly bin: number;
  readonly weight: number;
}

/** Triangles that are even on the scale of hearing. */
function bandWeights(rate: number): BandWeight[] {
  const pitchOf = (hz: number): number => Math.log(1 + hz / 700);
  const low = pitchOf(lowestHz);
  const width = (pitchOf(highestHz) - low) / (bands + 1);
  const binAt = (step: number): number => ((Math.exp(low + width * step) - 1) * 700 * windowSize) / rate;
  return Array.from({ length: bands }, (_, band) => {
    const [from, middle, to] = [binAt(band), binAt(band + 1), binAt(band + 2)];
    const bins = Array.from({ length: windowSize / 2 }, (_unused, bin) => bin);
    return bins
      .filter((bin) => bin > from && bin < to)
      .map((bin) => ({
        band,
        bin,
        weight: bin < middle ? (bin - from) / (middle - from) : (to - bin) / (to - middle),
      }));
  }).flat();
}

function cepstra(
  energies: Float64Array,
  { count, floor }: { readonly count: number; readonly floor: number },
): Float32Array {
  const values = new Float32Array(count * frameSize);
  const logs = energies.map((energy) => Math.log(energy + floor));
  for (let frame = 0; frame < count; frame += 1) {
    for (let q = 0; q < frameSize; q += 1) {
      let sum = 0;
      for (let band = 0; band < bands; band += 1)
        sum += (logs[frame * bands + band] ?? 0) * (cepstrum[q * bands + band] ?? 0);
      values[frame * frameSize + q] = sum;
    }
  }
  return values;
}

/** Takes out what a voice and its microphone put into every sound: mean and spread of the frames with voice. */
function normalise(values: Float32Array, quiet: Uint8Array): void {
  for (let q = 0; q < frameSize; q += 1) {
    let [voiced, sum, squares] = [0, 0, 0];
    for (const [frame, isQuiet] of quiet.entries()) {
      if (isQuiet === 1) continue;
      const value = values[frame * frameSize + q] ?? 0;
      voiced += 1;
      sum += value;
      squares += value * value;
    }
    const mean = sum / Math.max(1, voiced);
    const spread = Math.sqrt(Math.max(0, squares / Math.max(1, voiced) - mean * mean)) + leastDeviation;
    for (let at = q; at < values.length; at += frameSize)
      values[at] = Math.max(-furthest, Math.min(furthest, ((values[at] ?? 0) - mean) / spread));
  }
}

interface Spectrum {
  load(pcm: Int16Array, from: number): void;
  power(bin: number): number;
}

function newSpectrum(): Spectrum {
  const re = new Float64Array(windowSize);
  const im = new Float64Array(windowSize);
  return {
    load: (pcm, from) => {
      for (let at = 0; at < windowSize; at += 1) {
        const sample = (pcm[from + at] ?? 0) - preEmphasis * (pcm[from + at - 1] ?? 0);
        re[at] = sample * (hamming[at] ?? 0);
      }
      im.fill(0);
      transform(re, im);
    },
    power: (bin) => (re[bin] ?? 0) ** 2 + (im[bin] ?? 0) ** 2,
  };
}

/** Fourier transform in place; the length is a power of two. */
function transform(re: Float64Array, im: Float64Array): void {
  for (let from = 1, to = 0; from < windowSize; from += 1) {
    let bit = windowSize >> 1;
    for (; (to & bit) !== 0; bit >>= 1) to ^= bit;
    to ^= bit;
    // The imaginary part is nought before the first step.
    if (from >= to) continue;
    const moved = re[from] ?? 0;
    re[from] = re[to] ?? 0;
    re[to] = moved;
  }
  for (let half = 1; half < windowSize; half *= 2) {
    const stride = windowSize / (2 * half);
    for (let group = 0; group < windowSize; group += 2 * half) {
      for (let turn = 0; turn < half; turn += 1) {
        const at = group + turn;
        const other = at + half;
        const c = cosines[turn * stride] ?? 0;
        const s = -(sines[turn * stride] ?? 0);
        const otherRe = re[other] ?? 0;
        const otherIm = im[other] ?? 0;
        const turnedRe = otherRe * c - otherIm * s;
        const turnedIm = otherRe * s + otherIm * c;
        const ownRe = re[at] ?? 0;
        const ownIm = im[at] ?? 0;
        re[at] = ownRe + turnedRe;
        im[at] = ownIm + turnedIm;
        re[other] = ownRe - turnedRe;
        im[other] = ownIm - turnedIm;
      }
    }
  }
}
