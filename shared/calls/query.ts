/** What is asked of the records of calls, and what is answered: the page of calls and the command line ask, whatever keeps the records. */
import type { CallEndCode } from './ends.ts';

export interface CallQuery {
  /** Milliseconds since 1970: calls that began then or later, and before. */
  readonly since?: number;
  readonly before?: number;
  readonly agent?: string;
  readonly tenant?: string;
  readonly code?: CallEndCode;
  /** What the analysis says of success. */
  readonly outcome?: string;
  readonly minCost?: number;
  /** Calls with an answer that took this long or longer. */
  readonly slowerThanMs?: number;
  /** Calls with faults, or that ended by one. */
  readonly isFaulty?: true;
  readonly number?: string;
  readonly metadata?: { readonly key: string; readonly value: string };
  /** Words of what was said; all of them. */
  readonly text?: string;
  /** Where the page before has ended. */
  readonly cursor?: string;
  /** At most 500. */
  readonly limit?: number;
}

/** A call as a list shows it. */
export interface CallRow {
  readonly id: string;
  readonly callId: string;
  readonly agent: string;
  readonly tenant: string | undefined;
  readonly transport: string;
  readonly direction: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly code: CallEndCode;
  readonly by: string;
  readonly turns: number;
  readonly slowestMs: number | undefined;
  readonly faults: number;
  readonly interruptions: number;
  readonly cost: number | undefined;
  readonly currency: string | undefined;
  readonly outcome: string | undefined;
}

export interface CallPage {
  /** The newest first. */
  readonly rows: readonly CallRow[];
  /** Where the next page begins; absent: this was the last one. */
  readonly next?: string;
}

/** Whose calls are erased: those of a telephone number, on either side, or with this entry among their metadata; with a tenant of its calls alone. */
export type CallerData = (
  { readonly number: string } | { readonly metadata: { readonly key: string; readonly value: string } }
) & { readonly tenant?: string };
