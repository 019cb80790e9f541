/**
 * Pure. How many calls of a thread have their noise taken out: all, until frames wait for VAD because of it. Then half of them are heard as they
 * are, and one after another comes back while nothing waits: VAD is worth more than what is done for it.
 */
import type { Millis } from '../../shared/base/units.ts';

/** Looks in a row that leave frames waiting: fewer are chance, as when a machine stalls. */
const mostBehind = 3;
/** After so long without one, one more call may. */
const oneMoreMs = 2_000;

export class NoiseLimit {
  #most = Number.POSITIVE_INFINITY;
  #calls = 0;
  #behind = 0;
  #changedMs: Millis = 0;

  /** The thread has looked for frames; `isBehind`: it left some of a call waiting. */
  looked(isBehind: boolean, nowMs: Millis): void {
    this.#behind = isBehind ? this.#behind + 1 : 0;
    if (this.#behind >= mostBehind && this.#calls > 0) {
      this.#most = Math.floor(Math.min(this.#calls, this.#most) / 2);
      this.#behind = 0;
      this.#changedMs = nowMs;
    } else if (!isBehind && nowMs - this.#changedMs >= oneMoreMs) {
      this.#most += 1;
      this.#changedMs = nowMs;
    }
  }

  /** One more call; false when there is no room for it. */
  enter(): boolean {
    if (this.#calls >= this.#most) return false;
    this.#calls += 1;
    return true;
  }

  leave(): void {
    this.#calls -= 1;
  }

  /** There are more calls than there may be: the next one that asks has to leave. */
  get isOver(): boolean {
    return this.#calls > this.#most;
  }
}
