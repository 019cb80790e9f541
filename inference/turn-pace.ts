/**
 * Pure. Which questions about turns are worth a run of the model: an answer that comes too late costs a core and helps nobody. One
 * slow run says little of the next one, because machines stall; several in a row say that the machine is too slow.
 */
import type { Millis } from '../shared/base/units.ts';

/** On a machine that is too slow every second question is tried, then every fourth, and at last every one in so many. */
const rarestTry = 16;

export interface QuestionTime {
  /** Until nobody waits for the answer; negative when nobody does any more. */
  readonly leftMs: Millis;
  /** What the question had when it was asked. */
  readonly withinMs: Millis;
}

export class TurnPace {
  /** What the last run took. */
  #runMs: Millis = 0;
  /** Runs in a row that took longer than a question has. */
  #slowRuns = 0;
  #hopeless = 0;

  isWorthRunning({ leftMs, withinMs }: QuestionTime): boolean {
    if (leftMs < 0) return false;
    if (this.#runMs <= leftMs) return true;
    // It has waited too long; one that has just been asked has time enough.
    if (this.#runMs <= withinMs) return false;
    this.#hopeless += 1;
    return this.#hopeless >= Math.min(2 ** (this.#slowRuns - 1), rarestTry);
  }

  ran(tookMs: Millis, { withinMs }: QuestionTime): void {
    this.#runMs = tookMs;
    this.#hopeless = 0;
    this.#slowRuns = tookMs <= withinMs ? 0 : this.#slowRuns + 1;
  }
}
