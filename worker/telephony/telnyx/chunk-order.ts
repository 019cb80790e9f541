/**
 * Brings chunks of audio into order, which Telnyx does not promise. A chunk that is missing is waited for until a few are behind it,
 * then it is left out; a chunk that comes after its turn is dropped.
 */

/** Chunks that wait for an earlier one: 80 ms. */
const window = 4;
/** So many in a row that come after their turn are not late: the count has begun anew. */
const mostLate = 10;

export class ChunkOrder {
  /** The chunk whose turn it is; 0 before the first. */
  next: number;
  readonly #waiting = new Map<number, Buffer>();
  #late = 0;

  constructor(next = 0) {
    this.next = next;
  }

  /** What can be heard now; without a number a chunk is heard as it comes. */
  take(chunk: number, bytes: Buffer): Buffer | undefined {
    if (!Number.isSafeInteger(chunk) || chunk < 0) return bytes;
    if (this.next === 0) this.next = chunk;
    if (chunk < this.next) {
      this.#late += 1;
      if (this.#late <= mostLate) return undefined;
      this.#waiting.clear();
      this.next = chunk;
    }
    this.#late = 0;
    if (chunk === this.next && this.#waiting.size === 0) {
      this.next += 1;
      return bytes;
    }
    this.#waiting.set(chunk, bytes);
    // What is far ahead of everything that was heard is no gap: the count has jumped.
    if (this.#waiting.size > window) this.next = Math.min(...this.#waiting.keys());
    return this.#drain();
  }

  #drain(): Buffer | undefined {
    const ready: Buffer[] = [];
    for (
      let bytes = this.#waiting.get(this.next);
      bytes !== undefined;
      bytes = this.#waiting.get(this.next)
    ) {
      this.#waiting.delete(this.next);
      ready.push(bytes);
      this.next += 1;
    }
    return ready.length === 0 ? undefined : Buffer.concat(ready);
  }
}
