/**
 * Warnings of one call that an outage would write again and again: the first one is a line, those behind it are counted, and after a
 * minute without one it is news again. The line at the end of the call has what each came to.
 */
import type { Millis } from '../../shared/base/units.ts';

const quietForMs = 60_000;

interface Line {
  readonly lastAt: Millis;
  readonly times: number;
}

export class RepeatedLines {
  /** By what is told, which is a closed vocabulary. */
  readonly #lines = new Map<string, Line>();

  /** Whether a line is to be written; `kind`: what makes two lines the same. */
  isNews(kind: string, now: Millis): boolean {
    const line = this.#lines.get(kind);
    this.#lines.set(kind, { lastAt: now, times: (line?.times ?? 0) + 1 });
    return line === undefined || now - line.lastAt >= quietForMs;
  }

  /** How often each came; nothing for a call without any. */
  summary(): { readonly faults?: Readonly<Record<string, number>> } {
    if (this.#lines.size === 0) return {};
    return { faults: Object.fromEntries([...this.#lines].map(([kind, { times }]) => [kind, times])) };
  }
}
