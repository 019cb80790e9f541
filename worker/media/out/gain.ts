/** How loud the agent is: as it is, softly while a caller may be interrupting, or not at all. It changes in ramps, so that nothing clicks. */
import type { Millis } from '../../../shared/base/units.ts';

/** So much softer callers hear that the agent gives way, and still follow it. */
const duckDb = -18;
const ducked = 10 ** (duckDb / 20);
/** From nothing to the whole of it, and back. */
const rampMs: Millis = 12;

export class Gain {
  readonly #step: number;
  #now = 1;
  #target = 1;

  /** Samples of this rate, in Hz. */
  constructor(rate: number) {
    this.#step = 1000 / (rate * rampMs);
  }

  duck(): void {
    this.#target = ducked;
  }

  open(): void {
    this.#target = 1;
  }

  close(): void {
    this.#target = 0;
  }

  /** Nothing is heard: what opens from here rises. */
  silence(): void {
    this.#now = 0;
    this.#target = 0;
  }

  /** What is played next has nothing to do with what was played before. */
  reset(): void {
    this.#now = 1;
    this.#target = 1;
  }

  /** Changes the samples of the next frame in place. */
  apply(samples: Int16Array): void {
    if (this.#now === 1 && this.#target === 1) return;
    for (let at = 0; at < samples.length; at += 1) {
      if (this.#now !== this.#target) {
        const left = this.#target - this.#now;
        this.#now = Math.abs(left) <= this.#step ? this.#target : this.#now + Math.sign(left) * this.#step;
      }
      samples[at] = Math.round((samples[at] ?? 0) * this.#now);
    }
  }
}
