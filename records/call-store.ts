/** What keeps the records of calls. One process of the service has it, and the command line. */
import type { CallerData, CallPage, CallQuery, CallRow } from '../shared/calls/query.ts';
import type { CallRecord, RecordedAgent } from '../shared/calls/record.ts';
import type { StoreConnection } from './database.ts';

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
