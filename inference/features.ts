/**
 * The features that Smart Turn v3 hears: the log-mel spectrogram of Whisper over 8 s, 80 bands by 800 frames. The owner of an
 * extractor writes samples into `window` and calls `compute`; nothing is allocated per call, so `features` is valid until the
 * next one. The arithmetic is in double precision: the model was trained on a reference that agrees to about 5e-6.
 */
import { newPowerSpectrum } from './power-spectrum.ts';

export const turnWindowSamples = 128_000;
export const melBands = 80;
export const featureFrames = 800;

const sampleRate = 16_000;
const frameSamples = 400;
const hopSamples = 160;
const bins = frameSamples / 2 + 1;
/** Frames are centred on multiples of the hop, so the first one reaches this far before the window. */
const edgeSamples = frameSamples / 2;
const varianceFloor = 1e-7;
const powerFloor = 1e-10;
/** Nothing is quieter than this below the loudest value, in powers of ten. */
const dynamicRange = 8;

interface MelBand {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

export class TurnFeatures {
  /** 8 s at 16 kHz. Shorter audio ends at the end of the window; what is before it counts as zeros. */
  readonly window = new Float32Array(turnWindowSamples);
  /** Row by row: the 800 values of band 0, then of band 1, and so on. */
  readonly features = new Float32Array(melBands * featureFrames);
  readonly #padded = new Float64Array(turnWindowSamples + 2 * edgeSamples);
  readonly #hann = Float64Array.from(
    { length: frameSamples },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frameSamples),
  );
  readonly #bands = newMelBands();
  readonly #spectrum = newPowerSpectrum(frameSamples);
  readonly #pair = [new Float64Array(frameSamples), new Float64Array(frameSamples)] as const;
  readonly #power = [new Float64Array(bins), new Float64Array(bins)] as const;
  readonly #logs = new Float64Array(melBands * featureFrames);

  /** Computes `features` of the samples of `window` from `from` on. */
  compute(from: number): Float32Array {
    this.window.fill(0, 0, from);
    this.#normalize();
    // Frames that see nothing but the zeros before the audio are all alike.
    const alike = Math.max(1, Math.min(featureFrames, Math.floor((from - edgeSamples) / hopSamples) + 1));
    const firstOwn = alike - (alike % 2);
    if (firstOwn >= 2) this.#computePair(0);
    for (let band = 0; firstOwn > 2 && band < melBands; band += 1) {
      const at = band * featureFrames;
      this.#logs.fill(this.#logs[at] ?? 0, at, at + firstOwn);
    }
    for (let frame = firstOwn; frame < featureFrames; frame += 2) this.#computePair(frame);
    this.#compress();
    return this.features;
  }

  /** Zero mean and unit variance over the whole window, mirrored at both ends. */
  #normalize(): void {
    const { window } = this;
    let sum = 0;
    for (let i = 0; i < turnWindowSamples; i += 1) sum += window[i] ?? 0;
    const mean = sum / turnWindowSamples;
    let squares = 0;
    for (let i = 0; i < turnWindowSamples; i += 1) {
      const distance = (window[i] ?? 0) - mean;
      squares += distance * distance;
    }
    const scale = 1 / Math.sqrt(squares / turnWindowSamples + varianceFloor);
    const padded = this.#padded;
    for (let i = 0; i < turnWindowSamples; i += 1)
      padded[edgeSamples + i] = Math.fround(((window[i] ?? 0) - mean) * scale);
    const last = edgeSamples + turnWindowSamples - 1;
    for (let i = 1; i <= edgeSamples; i += 1) {
      padded[edgeSamples - i] = padded[edgeSamples + i] ?? 0;
      padded[last + i] = padded[last - i] ?? 0;
    }
  }

  /** Two frames cost one transform: one is its real part, the other its imaginary part. */
  #computePair(frame: number): void {
    const hann = this.#hann;
    const padded = this.#padded;
    const [a, b] = this.#pair;
    const at = frame * hopSamples;
    for (let i = 0; i < frameSamples; i += 1) {
      const weight = hann[i] ?? 0;
      a[i] = (padded[at + i] ?? 0) * weight;
      b[i] = (padded[at + hopSamples + i] ?? 0) * weight;
    }
    const [powerA, powerB] = this.#power;
    this.#spectrum(this.#pair, this.#power);
    const logs = this.#logs;
    for (let band = 0; band < melBands; band += 1) {
      const mel = this.#bands[band];
      if (mel === undefined) continue;
      const { weights, firstBin } = mel;
      let sumA = 0;
      let sumB = 0;
      for (let i = 0; i < weights.length; i += 1) {
        const weight = weights[i] ?? 0;
        sumA += weight * (powerA[firstBin + i] ?? 0);
        sumB += weight * (powerB[firstBin + i] ?? 0);
      }
      logs[band * featureFrames + frame] = Math.log10(Math.max(sumA, powerFloor));
      logs[band * featureFrames + frame + 1] = Math.log10(Math.max(sumB, powerFloor));
    }
  }

  #compress(): void {
    const logs = this.#logs;
    let loudest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < logs.length; i += 1) loudest = Math.max(loudest, logs[i] ?? 0);
    const quietest = loudest - dynamicRange;
    for (let i = 0; i < logs.length; i += 1) this.features[i] = (Math.max(logs[i] ?? 0, quietest) + 4) / 4;
  }
}

/** The mel scale of Slaney: linear up to 1 kHz, logarithmic above. */
const linearHzPerMel = 200 / 3;
const kneeHz = 1000;
const kneeMel = kneeHz / linearHzPerMel;
const logStep = Math.log(6.4) / 27;
const melOf = (hz: number): number =>
  hz < kneeHz ? hz / linearHzPerMel : kneeMel + Math.log(hz / kneeHz) / logStep;
const hzOf = (mel: number): number =>
  mel < kneeMel ? mel * linearHzPerMel : kneeHz * Math.exp((mel - kneeMel) * logStep);

/** Triangles of equal area from 0 Hz to the highest frequency, without the bins on which they are zero. */
function newMelBands(): readonly MelBand[] {
  const highest = melOf(sampleRate / 2);
  const corners = Array.from({ length: melBands + 2 }, (_, i) => hzOf((highest * i) / (melBands + 1)));
  return Array.from({ length: melBands }, (_, band) => {
    const [low = 0, centre = 0, high = 0] = corners.slice(band, band + 3);
    const all = Float64Array.from({ length: bins }, (_value, bin) => {
      const hz = (bin * sampleRate) / frameSamples;
      const slope = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      return Math.max(0, slope) * (2 / (high - low));
    });
    const firstBin = Math.max(
      0,
      all.findIndex((weight) => weight > 0),
    );
    return { firstBin, weights: all.slice(firstBin, all.findLastIndex((weight) => weight > 0) + 1) };
  });
}
