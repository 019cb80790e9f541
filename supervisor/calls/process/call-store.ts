/** What keeps the records of calls. One process of the service has it, and the command line. */
import type { CallEndCode } from '../../../shared/calls/ends.ts';
import type { CallRecord, RecordedAgent } from '../../../shared/calls/record.ts';
import type { StoreConnection } from './database.ts';

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

/** What is done in the transaction that keeps a record: both are there afterwards, or neither. */
export type WithRecord = (record: CallRecord, connection: StoreConnection) => Promise<void>;

export interface CallStore {
  /** Keeps a record once: false where it is known. `within` is not asked for one that is. */
  insert(record: CallRecord, within?: WithRecord): Promise<boolean>;
  /** By its id, or the newest with this `call_id`; with a tenant of its calls alone. */
  get(id: string, tenant?: string): Promise<CallRecord | undefined>;
  list(query: CallQuery): Promise<CallPage>;
  /** Records with all their fields, the oldest first, as `list` would find them. */
  each(query: CallQuery, take: (record: CallRecord) => Promise<void> | void): Promise<void>;
  /** Adds the analysis; false where there is no such record. Of what `change` makes of it lists know `analysis.outcome` and the cost. */
  updateAnalysis(
    id: string,
    change: (record: CallRecord) => CallRecord,
    within?: WithRecord,
  ): Promise<boolean>;
  /** Erases all of somebody's calls. Returns the records that are gone, without what was said. */
  erase(data: CallerData): Promise<readonly CallRow[]>;
  /** Erases calls that began before; returns how many. */
  retain(beforeMs: number): Promise<number>;
  close(): Promise<void>;
}

/** Who else works with records in the same process: webhooks and analysis. */
export interface RecordHooks {
  /** A conversation has begun. May be told again after a restart of the process. */
  readonly started?: (head: StartedCall) => Promise<void>;
  /** In the transaction that keeps the record. */
  readonly within?: WithRecord;
  /** The record is kept. Not told again after a restart: what must not be lost is written down by `within`. */
  readonly kept?: (record: CallRecord) => void;
}

export interface StartedCall {
  readonly id: string;
  readonly callId: string;
  readonly agent: RecordedAgent;
  readonly direction: string;
  readonly transport: string;
  readonly from?: string;
  readonly to?: string;
  readonly startedAtMs: number;
}
