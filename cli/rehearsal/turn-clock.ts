/** Measures how long the answer to one turn of the caller took: at most one turn at a time, told once. */
import type { Millis } from '../../shared/base/units.ts';
import type { TurnTimings } from './conversation.ts';

interface Measured {
  askedAt: Millis | undefined;
  firstTextAt: Millis | undefined;
  thoughtAt: Millis | undefined;
  spokenMs: Millis;
}

export class TurnClock {
  #turn: Measured | undefined;

  begin(): void {
    this.#turn = { askedAt: undefined, firstTextAt: undefined, thoughtAt: undefined, spokenMs: 0 };
  }

  /** The LLM was asked; the first time counts. */
  asked(now: Millis): void {
    if (this.#turn !== undefined) this.#turn.askedAt ??= now;
  }

  /** The LLM wrote; the first time counts. */
  wrote(now: Millis): void {
    if (this.#turn?.askedAt !== undefined) this.#turn.firstTextAt ??= now;
  }

  /** A round of the LLM or a tool came to its end; the last time counts. */
  thought(now: Millis): void {
    if (this.#turn !== undefined) this.#turn.thoughtAt = now;
  }

  spoke(ms: Millis): void {
    if (this.#turn !== undefined) this.#turn.spokenMs += ms;
  }

  /** Undefined for a turn that nobody was asked about. */
  finish(): TurnTimings | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn?.askedAt === undefined) return undefined;
    const { askedAt, firstTextAt, thoughtAt = askedAt, spokenMs } = turn;
    return {
      firstTextMs: firstTextAt === undefined ? undefined : firstTextAt - askedAt,
      thoughtMs: thoughtAt - askedAt,
      spokenMs,
    };
  }
}
