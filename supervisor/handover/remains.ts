/** What a worker that is gone left of a connection. */
import type { LeftConnection } from '../../shared/protocol/call-record.ts';

/** The slot of its record, and how far the stream of bytes can be trusted. */
export interface Remains {
  readonly slot: number;
  readonly connection: LeftConnection;
}

/**
 * The record that holds. A worker that died while it took a call up had read and written nothing yet: the call stands where the worker
 * before it left it.
 */
export function validRemains(
  found: Remains | undefined,
  resumeFrom: number | undefined,
): Remains | undefined {
  const wasBegun = found?.connection === 'begun' && resumeFrom !== undefined && resumeFrom !== found.slot;
  return wasBegun ? { slot: resumeFrom, connection: 'open' } : found;
}
