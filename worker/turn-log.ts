/**
 * Where the time of a call's answers went, for the line in the log at its end. It keeps the newest turns only, so that a call
 * of any length costs the same memory.
 */
import type { Millis } from '../shared/base/units.ts';
import type { TurnTimes } from './core/actions.ts';

const mostTurns = 256;
const parts = ['responseMs', 'endOfTurnMs', 'sttFinalMs', 'llmTtftMs', 'ttsTtfbMs', 'wireMs'] as const;

interface Figures {
  readonly median: Millis;
  readonly max: Millis;
}

export class TurnLog {
  readonly #turns: TurnTimes[] = [];

  add(times: TurnTimes): void {
    this.#turns.push(times);
    if (this.#turns.length > mostTurns) this.#turns.shift();
  }

  /** Median and longest of each part in whole milliseconds; nothing for a call without an answered turn. */
  summary(): { readonly turnMs?: Readonly<Record<string, Figures>> } {
    if (this.#turns.length === 0) return {};
    const turnMs = Object.fromEntries(
      parts.map((part) => {
        const sorted = this.#turns.map((times) => times[part]).sort((a, b) => a - b);
        const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
        return [
          part.slice(0, -'Ms'.length),
          { median: Math.round(median), max: Math.round(sorted.at(-1) ?? 0) },
        ];
      }),
    );
    return { turnMs };
  }
}
