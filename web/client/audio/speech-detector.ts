/**
 * Finds where the caller's speech starts and ends from the energy of 20 ms frames.
 *
 * It serves the page's display and its latency figure only; the engine decides about turns with a detector of its own.
 * Invariant: `speech-started` and `speech-ended` alternate, and an end lies at the last loud frame, not at the moment
 * when the silence after it was long enough to be sure.
 */

export type SpeechEvent =
  | { readonly type: 'speech-started'; readonly atMs: number }
  | { readonly type: 'speech-ended'; readonly atMs: number };

/** Quieter than this is never speech, about -44 dB of full scale. */
const LEAST_RMS = 0.006;
/** Speech stands out of the background by this factor. */
const OVER_FLOOR = 3;
/** A background louder than this is not learned, or loud speech would be taken for it. */
const MAX_FLOOR = 0.05;
/** Per frame: doubles in about three seconds, while every gap between syllables brings it back down. */
const FLOOR_RISE = 1.005;
/** Clicks and single knocks are shorter. */
const MIN_SPEECH_MS = 80;
/** Silence after which the speech is over; gaps between words are shorter. */
const HANGOVER_MS = 400;

export class SpeechDetector {
  #floor = 0.002;
  #speaking = false;
  #loudSinceMs: number | undefined;
  #lastLoudMs = 0;

  get speaking(): boolean {
    return this.#speaking;
  }

  /** Takes the level (0 to 1) of the frame that ends at `endMs` on the audio clock and lasts `frameMs`. */
  push(rms: number, endMs: number, frameMs: number): SpeechEvent | undefined {
    const loud = rms > Math.max(LEAST_RMS, this.#floor * OVER_FLOOR);
    this.#learnFloor(rms);
    if (loud) {
      this.#loudSinceMs ??= endMs - frameMs;
      this.#lastLoudMs = endMs;
      if (this.#speaking || endMs - this.#loudSinceMs < MIN_SPEECH_MS) return undefined;
      this.#speaking = true;
      return { type: 'speech-started', atMs: this.#loudSinceMs };
    }
    if (!this.#speaking) {
      this.#loudSinceMs = undefined;
      return undefined;
    }
    if (endMs - this.#lastLoudMs < HANGOVER_MS) return undefined;
    this.#speaking = false;
    this.#loudSinceMs = undefined;
    return { type: 'speech-ended', atMs: this.#lastLoudMs };
  }

  #learnFloor(rms: number): void {
    const next = rms < this.#floor ? this.#floor * 0.8 + rms * 0.2 : this.#floor * FLOOR_RISE;
    this.#floor = Math.min(MAX_FLOOR, Math.max(0.0005, next));
  }
}
