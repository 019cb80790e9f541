/**
 * Where the time of a call's answers went, for the line in the log at its end. It keeps the newest turns only, so that a call
 * of any length costs the same memory.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import type { TurnTimes } from '../core/told.ts';

const mostTurns = 256;
const parts = ['responseMs', 'endOfTurnMs', 'sttFinalMs', 'llmTtftMs', 'ttsTtfbMs', 'wireMs'] as const;

/** Brings the parts of one turn into their histogram, in seconds. */
export function observeTurn(histogram: WorkerMetrics['turnPart'], times: TurnTimes): void {
  histogram.observe({ part: 'end_of_turn' }, times.endOfTurnMs / 1000);
  histogram.observe({ part: 'stt_final' }, times.sttFinalMs / 1000);
  histogram.observe({ part: 'llm_first' }, times.llmTtftMs / 1000);
  histogram.observe({ part: 'tts_first' }, times.ttsTtfbMs / 1000);
  histogram.observe({ part: 'wire' }, times.wireMs / 1000);
}

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
