/**
 * How long a caller who is owed an answer hears nothing: from the end of its turn, or from the last sound that it got, until the answer
 * is whole. A filler or an apology is a sound and no answer. Pure: time is an argument.
 */
import type { Millis } from '../../../shared/base/units.ts';

/** Nobody who is owed an answer hears nothing for longer (docs/rehearsal.md). */
export const longestQuietMs = 3_000;

export class OwedSilence {
  /** The longest silence since the last `restart`, of those the longest before the first sound of any kind, and how many were too long. */
  longestMs = 0;
  longestFirstMs = 0;
  tooLong = 0;
  #quietSince: Millis | undefined;
  #isCounted = false;
  #isFirst = false;

  restart(now: Millis): void {
    this.longestMs = 0;
    this.longestFirstMs = 0;
    this.tooLong = 0;
    if (this.#quietSince !== undefined) this.#quietSince = now;
    this.#isCounted = false;
  }

  /** The caller's turn is over: it waits. */
  owed(now: Millis): void {
    this.look(now);
    this.#quietSince = now;
    this.#isCounted = false;
    this.#isFirst = true;
  }

  /** Something is heard. */
  heard(now: Millis): void {
    if (this.#quietSince === undefined) return;
    this.look(now);
    this.#quietSince = now;
    this.#isCounted = false;
    this.#isFirst = false;
  }

  /** The answer is whole, the caller speaks itself, or the call is over. */
  settled(now: Millis): void {
    this.look(now);
    this.#quietSince = undefined;
  }

  look(now: Millis): void {
    if (this.#quietSince === undefined) return;
    const quietMs = now - this.#quietSince;
    this.longestMs = Math.max(this.longestMs, quietMs);
    if (this.#isFirst) this.longestFirstMs = Math.max(this.longestFirstMs, quietMs);
    if (quietMs <= longestQuietMs || this.#isCounted) return;
    this.#isCounted = true;
    this.tooLong += 1;
  }
}
