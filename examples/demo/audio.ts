/**
 * Sound in memory: the filters that prepare a caller's turn for the recognizer, and the rate change of the voice.
 *
 * Invariant: pure functions over whole signals of 16 kHz mono; only what a caller is heard by in pieces keeps state.
 */
const inputRate = 16_000;
const frameSize = 160;

/** Second-order Butterworth high-pass; removes hum and the rumble that costs the recognizer most. */
export function highPass(samples: Float32Array, cutoffHz: number): Float32Array {
  const w = (2 * Math.PI * cutoffHz) / inputRate;
  const alpha = Math.sin(w) / Math.SQRT2;
  const cos = Math.cos(w);
  const a0 = 1 + alpha;
  const b0 = (1 + cos) / 2 / a0;
  const b1 = -(1 + cos) / a0;
  const a1 = (-2 * cos) / a0;
  const a2 = (1 - alpha) / a0;
  const out = new Float32Array(samples.length);
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  for (const [index, x] of samples.entries()) {
    const y = b0 * x + b1 * x1 + b0 * x2 - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    out[index] = y;
  }
  return out;
}

export interface Speech {
  /** From just before the first loud frame to just after the last one, peak at -3 dB. */
  readonly samples: Float32Array;
  /** How much of it is louder than the background. */
  readonly loudMs: number;
}

/** Cuts silence at both ends and scales to a peak of -3 dB; undefined when nothing stands out of the background. */
export function findSpeech(samples: Float32Array): Speech | undefined {
  const count = Math.floor(samples.length / frameSize);
  if (count < 5) return undefined;
  const levels = Array.from({ length: count }, (_, frame) => {
    let sum = 0;
    for (let at = frame * frameSize; at < (frame + 1) * frameSize; at += 1) sum += (samples[at] ?? 0) ** 2;
    return 10 * Math.log10(sum / frameSize + 1e-10);
  });
  const sorted = [...levels].sort((a, b) => a - b);
  const floor = sorted[Math.floor(count * 0.1)] ?? -100;
  const top = sorted[Math.floor(count * 0.98)] ?? -100;
  const quietest = -55;
  if (top < quietest) return undefined;
  const threshold = Math.max(quietest, top - 30, Math.min(floor + 9, top - 12));
  const loud = levels.map((level) => level > threshold);
  const first = loud.indexOf(true);
  const last = loud.lastIndexOf(true);
  if (first < 0) return undefined;
  const marginFrames = 20;
  const start = Math.max(0, first - marginFrames) * frameSize;
  const end = Math.min(count, last + marginFrames + 1) * frameSize;
  const cut = samples.slice(start, end);
  const peak = cut.reduce((max, x) => Math.max(max, Math.abs(x)), 1e-6);
  const scaled = cut.map((x) => (x * 10 ** (-3 / 20)) / peak);
  return { samples: scaled, loudMs: loud.filter(Boolean).length * 10 };
}

/** Louder than what a synthesizer calls silence, in 16 bits. */
const loudSample = 200;
const keptLeadMs = 60;

/** Cuts the silence before a sentence, which its listener waits through, down to 60 ms. */
export function withoutLeadIn(samples: Int16Array): Int16Array {
  const loud = samples.findIndex((sample) => Math.abs(sample) > loudSample);
  return samples.subarray(Math.max(0, loud - (keptLeadMs * inputRate) / 1000));
}

const up = 3;
const down = 2;
const halfTaps = 16;

/** Kaiser-windowed sinc at the common rate of 48 kHz, cut off below the 8 kHz of the source. */
const kernel = (() => {
  const half = halfTaps * up;
  const cutoff = 0.94 / up;
  const beta = 8;
  const bessel = (x: number): number => {
    let term = 1;
    let sum = 1;
    for (let k = 1; k < 30; k += 1) {
      term *= (x / (2 * k)) ** 2;
      sum += term;
    }
    return sum;
  };
  return Float64Array.from({ length: 2 * half + 1 }, (_, index) => {
    const n = index - half;
    const sinc = n === 0 ? cutoff : Math.sin(Math.PI * cutoff * n) / (Math.PI * n);
    return (up * sinc * bessel(beta * Math.sqrt(1 - (n / half) ** 2))) / bessel(beta);
  });
})();

/** 24 kHz to 16 kHz by the same filter, in pieces of any length: the result is that of the whole, a millisecond later. */
export class To16k {
  /** What is still within reach of samples to come. */
  #kept = new Int16Array(halfTaps * up);
  /** Where in it, at 48 kHz, the next sample stands. */
  #next = halfTaps * up * 2;

  take(samples: Int16Array): Int16Array {
    const half = halfTaps * up;
    const all = new Int16Array(this.#kept.length + samples.length);
    all.set(this.#kept);
    all.set(samples, this.#kept.length);
    const out: number[] = [];
    for (; this.#next + half < all.length * 2; this.#next += 3) {
      let sum = 0;
      for (let at = Math.ceil((this.#next - half) / 2); at * 2 <= this.#next + half; at += 1)
        sum += (all[at] ?? 0) * (kernel[this.#next - at * 2 + half] ?? 0);
      out.push(Math.max(-32_768, Math.min(32_767, Math.round((sum * 2) / up))));
    }
    const gone = Math.max(0, Math.floor((this.#next - half) / 2));
    this.#kept = all.slice(gone);
    this.#next -= gone * 2;
    return Int16Array.from(out);
  }
}

/** 16 kHz to 24 kHz by a polyphase filter; images above 8 kHz are at least 60 dB down. */
export function to24k(samples: Int16Array): Int16Array<ArrayBuffer> {
  const half = halfTaps * up;
  const out = new Int16Array(Math.floor((samples.length * up) / down));
  for (let index = 0; index < out.length; index += 1) {
    const centre = index * down;
    const first = Math.max(0, Math.ceil((centre - half) / up));
    const last = Math.min(samples.length - 1, Math.floor((centre + half) / up));
    let sum = 0;
    for (let at = first; at <= last; at += 1)
      sum += (samples[at] ?? 0) * (kernel[centre - at * up + half] ?? 0);
    out[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return out;
}
