/** What a worker that is gone left of a connection. */
import type { CallRecords, LeftConnection } from '../../shared/protocol/call-record.ts';

/** The slot of its record, and how far the stream of bytes can be trusted. */
export interface LeftRecord {
  readonly slot: number;
  readonly connection: LeftConnection;
}

/** Of two records of a connection the one that holds comes first: half a message on the wire is known to the newer one alone. */
const order: readonly LeftConnection[] = ['torn', 'open', 'writable', 'begun'];

/**
 * What stands in these slots, by connection. A worker that died while it took a call up from another of its own slots left two records of it:
 * the one that does not hold is ended, or the next worker's death would make it be taken for a call that was just begun.
 */
export function leftRecords(records: CallRecords, slots: Iterable<number>): ReadonlyMap<number, LeftRecord> {
  const found = new Map<number, LeftRecord>();
  for (const slot of slots) {
    const record = records.record(slot);
    const { offer } = record;
    const connection = record.left(offer);
    if (offer === 0 || connection === undefined) continue;
    const other = found.get(offer);
    if (other !== undefined && order.indexOf(other.connection) <= order.indexOf(connection)) record.end();
    else {
      if (other !== undefined) records.record(other.slot).end();
      found.set(offer, { slot, connection });
    }
  }
  return found;
}

/**
 * The record that holds. A worker that died while it took a call up had read and written nothing yet: the call stands where the worker
 * before it left it.
 */
export function validRecord(
  found: LeftRecord | undefined,
  resumeFrom: number | undefined,
): LeftRecord | undefined {
  const wasBegun = found?.connection === 'begun' && resumeFrom !== undefined && resumeFrom !== found.slot;
  return wasBegun ? { slot: resumeFrom, connection: 'open' } : found;
}
