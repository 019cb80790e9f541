/**
 * What is heard in place of audio that was lost: the last moment again, softer each time, and nothing after that. A hole without it would
 * be a click, and the end of a word to a listener for pauses.
 */

/** How loud each repetition is, in a row. */
const levels: readonly number[] = [0.9, 0.6, 0.3];

export class Concealment {
  readonly #last: Int16Array;
  #length = 0;

  /** `samples`: the longest stretch that is asked for at once. */
  constructor(samples: number) {
    this.#last = new Int16Array(samples);
  }

  /** Audio that was heard. */
  heard(pcm: Int16Array): void {
    const tail = pcm.subarray(Math.max(0, pcm.length - this.#last.length));
    this.#last.set(tail);
    this.#length = tail.length;
  }

  /** Fills `out` with the stretch that is missing, the `row`-th of one hole. */
  fill(out: Int16Array, row: number): void {
    const level = levels[row - 1] ?? 0;
    for (let i = 0; i < out.length; i += 1)
      out[i] = this.#length === 0 ? 0 : Math.round((this.#last[i % this.#length] ?? 0) * level);
  }
}
