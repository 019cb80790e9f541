/**
 * How much more a client has in store than at its best, told by the marks that it echoes. A client that ran dry plays later from then on, and
 * where frames never pause it stays as late. Pure, time as an argument.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';

/** One echo may be late by chance; of so many the earliest is believed. */
const newestEchoes = 3;
/** Less than this nobody hears. */
const leastMs = 3 * FRAME_MS;
/** More are not on their way at once; of more, the oldest are forgotten. */
const mostMarks = 64;

export class Backlog {
  readonly #sent = new Map<string, Millis>();
  #newest: Millis[] = [];
  #leastDelayMs = Infinity;

  /** A mark went out behind audio that ends then. */
  sent(id: string, endsAt: Millis): void {
    this.#sent.set(id, endsAt);
    if (this.#sent.size <= mostMarks) return;
    for (const oldest of this.#sent.keys()) {
      this.#sent.delete(oldest);
      return;
    }
  }

  /** The client has dropped what it had. */
  cleared(): void {
    this.#sent.clear();
    this.#newest = [];
  }

  /** A mark came back: how much may be left out of what nobody misses. It is told once. */
  played(id: string, now: Millis): Millis {
    const endsAt = this.#sent.get(id);
    if (endsAt === undefined) return 0;
    this.#sent.delete(id);
    const delayMs = now - endsAt;
    this.#leastDelayMs = Math.min(this.#leastDelayMs, delayMs);
    this.#newest.push(delayMs);
    if (this.#newest.length < newestEchoes) return 0;
    const surplusMs = Math.min(...this.#newest) - this.#leastDelayMs;
    this.#newest.shift();
    if (surplusMs < leastMs) return 0;
    this.#newest = [];
    // Marks that are on their way stand behind audio that is as late.
    this.#sent.clear();
    return surplusMs;
  }
}
