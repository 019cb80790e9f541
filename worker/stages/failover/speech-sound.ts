/**
 * How speech sounds, frame by frame: the shape of its spectrum, without loudness of the voice as a whole and without what is
 * the same in all of its sounds, so that two voices that say the same words come out alike.
 *
 * Pure. Frames are {@link frameMs} apart; frame 0 is about the audio around `centreMs`.
 */
import { newPowerSpectrum } from '../../../shared/audio/power-spectrum.ts';

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
/** Speech is livelier than this. */
export const leastLiveliness = 0.25;
const smoothFrames = 5;
const leastStretches = 4;
const edgeFrames = 2;

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
  /** About 1 in speech, and below {@link leastLiveliness} in tones and noise; absent where there is too little sound to tell. */
  readonly liveliness: number | undefined;
}

const hamming = Float64Array.from(
  { length: windowSize },
  (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (windowSize - 1)),
);
/** What a pair of frames is worked out in; nothing of it is used twice. */
const spectrum = newPowerSpectrum(windowSize);
const frames = [new Float64Array(windowSize), new Float64Array(windowSize)] as const;
const powers = [new Float64Array(windowSize / 2 + 1), new Float64Array(windowSize / 2 + 1)] as const;
/** Cosine transform of band energies: row `q` of `bands` weights. */
const cepstrum = Float64Array.from({ length: frameSize * bands }, (_, at) => {
  const [q, band] = [Math.floor(at / bands), at % bands];
  return Math.cos((Math.PI * q * (band + 0.5)) / bands) / bands;
});

/** How loud speech is in each band of hearing, frame by frame, read as it comes. */
export class SpeechBands {
  /** Frames so far; they come in pairs. */
  count = 0;
  readonly centreMs: number;
  private readonly hop: number;
  private readonly weights: readonly BandWeight[];
  private energies = new Float64Array(64 * bands);

  /** @param rate Hz, at least twice the highest frequency that is looked at. */
  constructor(rate: number) {
    this.hop = Math.round((rate * frameMs) / 1000);
    this.weights = bandWeights(rate);
    this.centreMs = (windowSize * 500) / rate;
  }

  /** Reads up to `most` frames of `pcm` behind those that were read before; true when there is no more. */
  read(pcm: Int16Array, most: number): boolean {
    const there = Math.max(0, Math.floor((pcm.length - windowSize) / this.hop) + 1);
    const whole = there - (there % 2);
    const to = Math.min(whole, this.count + most);
    this.grow(to);
    for (; this.count < to; this.count += 2) this.readPair(pcm, this.count);
    return this.count >= whole;
  }

  energy(frame: number, band: number): number {
    return this.energies[frame * bands + band] ?? 0;
  }

  private readPair(pcm: Int16Array, frame: number): void {
    const at = frame * this.hop;
    load(pcm, at, frames[0]);
    load(pcm, at + this.hop, frames[1]);
    spectrum(frames, powers);
    for (let second = 0; second < 2; second += 1) {
      const power = second === 0 ? powers[0] : powers[1];
      const row = (frame + second) * bands;
      for (const { band, bin, weight } of this.weights)
        this.energies[row + band] = (this.energies[row + band] ?? 0) + weight * (power[bin] ?? 0);
    }
  }

  private grow(count: number): void {
    if (count * bands <= this.energies.length) return;
    const grown = new Float64Array(Math.max(count * bands, 2 * this.energies.length));
    grown.set(this.energies);
    this.energies = grown;
  }
}

function load(pcm: Int16Array, from: number, to: Float64Array): void {
  for (let at = 0; at < windowSize; at += 1) {
    const sample = (pcm[from + at] ?? 0) - preEmphasis * (pcm[from + at - 1] ?? 0);
    to[at] = sample * (hamming[at] ?? 0);
  }
}

/** How the first `count` frames sound. */
export function soundOf(heard: SpeechBands, count = heard.count): SpeechSound {
  const loudness = new Float32Array(count);
  let loudest = leastEnergy * windowSize;
  for (let frame = 0; frame < count; frame += 1) {
    let sum = 0;
    for (let band = 0; band < bands; band += 1) sum += heard.energy(frame, band);
    loudness[frame] = sum;
    loudest = Math.max(loudest, sum);
  }
  const quiet = Uint8Array.from(loudness, (energy) => (energy < loudest * quietShare ? 1 : 0));
  const values = cepstra(heard, { count, floor: (loudest * floorShare) / bands });
  const liveliness = livelinessOf(values, quiet);
  normalise(values, quiet);
  const shares = loudness.map((energy) => energy / loudest);
  return { count, values, quiet, loudness: shares, centreMs: heard.centreMs, liveliness };
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
  heard: SpeechBands,
  { count, floor }: { readonly count: number; readonly floor: number },
): Float32Array {
  const values = new Float32Array(count * frameSize);
  const logs = new Float64Array(bands);
  for (let frame = 0; frame < count; frame += 1) {
    for (let band = 0; band < bands; band += 1) logs[band] = Math.log(heard.energy(frame, band) + floor);
    for (let q = 0; q < frameSize; q += 1) {
      let sum = 0;
      for (let band = 0; band < bands; band += 1)
        sum += (logs[band] ?? 0) * (cepstrum[q * bands + band] ?? 0);
      values[frame * frameSize + q] = sum;
    }
  }
  return values;
}

/**
 * How much the shape of the spectrum moves from one tenth of a second to the next: what a mouth does, and neither a tone nor noise.
 * Frames beside silence are left out, since in them anything has the shape of its edge.
 */
function livelinessOf(values: Float32Array, quiet: Uint8Array): number | undefined {
  const isInside = (frame: number): boolean => {
    for (let near = frame - edgeFrames; near <= frame + edgeFrames; near += 1)
      if (quiet[near] === 1) return false;
    return true;
  };
  const inside = Array.from(quiet.keys()).filter(isInside);
  const stretches = inside.length - smoothFrames + 1;
  if (stretches < leastStretches) return undefined;
  let variance = 0;
  for (let q = 1; q < frameSize; q += 1) {
    let [sum, squares] = [0, 0];
    for (let from = 0; from < stretches; from += 1) {
      let mean = 0;
      for (let at = from; at < from + smoothFrames; at += 1)
        mean += (values[(inside[at] ?? 0) * frameSize + q] ?? 0) / smoothFrames;
      sum += mean;
      squares += mean * mean;
    }
    variance += squares / stretches - (sum / stretches) ** 2;
  }
  return Math.sqrt(Math.max(0, variance));
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
