/**
 * Cuts the microphone's blocks into 20 ms frames of PCM16 (docs/call-protocol.md, A call) and measures their level.
 *
 * Invariant: every sample that goes in comes out in exactly one frame, in order. It must not know about worklets.
 */

export interface CapturedFrame {
  /** Mono PCM16 at the capture rate, 20 ms. */
  readonly pcm: Int16Array<ArrayBuffer>;
  /** Root mean square of the frame without its mean, 0 to 1. */
  readonly rms: number;
  /** Position of the sample after the frame's last one on the audio clock. */
  readonly endSample: number;
}

export const FRAME_MS = 20;

/** Samples of one 20 ms frame at `sampleRate` in Hz. */
export const frameSamples = (sampleRate: number): number => Math.round((sampleRate * FRAME_MS) / 1000);

export class CaptureFramer {
  readonly #frame: Float32Array;
  #filled = 0;

  constructor(sampleRate: number) {
    this.#frame = new Float32Array(frameSamples(sampleRate));
  }

  /** Takes samples in the range -1 to 1; `nowSample` is the position of `block[0]`. Returns the frames it completed. */
  push(block: Float32Array, nowSample: number): CapturedFrame[] {
    const frames: CapturedFrame[] = [];
    let at = 0;
    while (at < block.length) {
      const count = Math.min(block.length - at, this.#frame.length - this.#filled);
      this.#frame.set(block.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === this.#frame.length) {
        this.#filled = 0;
        frames.push({ pcm: toPcm16(this.#frame), rms: levelOf(this.#frame), endSample: nowSample + at });
      }
    }
    return frames;
  }
}

/** Root mean square around the mean, so that a microphone's constant offset does not count as sound. */
export function levelOf(samples: Float32Array): number {
  if (samples.length === 0) return 0;
  let sum = 0;
  let squares = 0;
  for (const value of samples) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / samples.length;
  return Math.sqrt(Math.max(0, squares / samples.length - mean * mean));
}

/** Converts samples in the range -1 to 1 to PCM16, clipping what lies outside. */
export function toPcm16(samples: Float32Array): Int16Array<ArrayBuffer> {
  const pcm = new Int16Array(samples.length);
  samples.forEach((value, index) => {
    pcm[index] = Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768)));
  });
  return pcm;
}

/** Converts little-endian PCM16 bytes to samples in the range -1 to 1; a trailing odd byte is ignored. */
export function fromPcm16(bytes: ArrayBuffer): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes);
  const samples = new Float32Array(bytes.byteLength >> 1);
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = view.getInt16(index * 2, true) / 32_768;
  }
  return samples;
}
