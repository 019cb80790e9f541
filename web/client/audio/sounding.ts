/**
 * When a voice that is not played from the own buffer sounds and falls silent, from the level of its frames. Pure.
 * Invariant: `sounded` and `drained` alternate, and lie where the sound did, not where it was certain.
 */
import type { CapturedFrame } from './capture-framer.ts';
import type { PlayoutEvent } from './playout-buffer.ts';

/** About -50 dB of full scale; a pause is filled with less. */
const LEAST_RMS = 0.003;
/** Pauses between words are shorter, in frames of 20 ms. */
const QUIET_FRAMES = 10;
/** Behind what was cut an answer may follow sooner: one to something typed, above all. */
const QUIET_FRAMES_CUT = 3;

export class Sounding {
  #isSounding = false;
  #isCut = false;
  #lastLoud = 0;
  #quiet = 0;

  /** What sounds now has been cut, and its rest is on its way; what follows is another answer. */
  cut(): void {
    this.#isCut = this.#isSounding;
  }

  /** `frameSamples`: the length of a frame. */
  push(
    { rms, endSample }: Pick<CapturedFrame, 'rms' | 'endSample'>,
    frameSamples: number,
  ): PlayoutEvent | undefined {
    if (rms > LEAST_RMS) {
      this.#quiet = 0;
      this.#lastLoud = endSample;
      if (this.#isSounding) return undefined;
      this.#isSounding = true;
      return { type: 'sounded', atSample: endSample - frameSamples };
    }
    this.#quiet += 1;
    const enough = this.#isCut ? QUIET_FRAMES_CUT : QUIET_FRAMES;
    if (!this.#isSounding || this.#quiet < enough) return undefined;
    this.#isSounding = false;
    this.#isCut = false;
    return { type: 'drained', atSample: this.#lastLoud };
  }
}
