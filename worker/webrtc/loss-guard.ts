/**
 * Whether the agent's packets should hold copies of those before them: as long as nobody knows the way to the client, and while it loses
 * packets. Pure.
 */
import type { Millis } from '../../shared/base/units.ts';

/** The first reports of browsers are there by then. */
const unknownMs = 10_000;
/** Losses come in bursts, and the next one is not foreseen. */
const afterLossMs = 60_000;

export class LossGuard {
  #until: Millis;

  constructor(now: Millis) {
    this.#until = now + unknownMs;
  }

  /** The client told which part of the packets did not arrive. */
  reported(lost: number, now: Millis): void {
    if (lost > 0) this.#until = now + afterLossMs;
  }

  isNeeded(now: Millis): boolean {
    return now < this.#until;
  }
}
