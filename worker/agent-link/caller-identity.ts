/**
 * Who calls, as an agent that wants to know is told (spec 02, session.start body and Link settings). Only of telephone calls, and only out
 * of what a carrier or a trunk said: what any other client claims of itself is no identity. Numbers are left out where they are redacted.
 */
import type { CallerIdentity } from '../../shared/protocol/agent-link/service-messages.ts';
import { carrierKeys } from '../../shared/protocol/carrier-a.ts';
import type { CallStart } from '../transports/transport.ts';

/** Where the metadata of a call hold its numbers, by its transport. Carriers pass numbers on in the start of their stream. */
const numberKeys: ReadonlyMap<string, { readonly from: string; readonly to: string }> = new Map([
  ['carrier_a', { from: 'from', to: 'to' }],
  ['carrier_b', { from: 'from', to: 'to' }],
  ['sip', { from: 'session.from', to: 'session.to' }],
]);

/** Undefined for calls that have no caller by telephone. */
export function callerOf(
  { callId, metadata }: Pick<CallStart, 'callId' | 'metadata'>,
  { showsNumbers }: { readonly showsNumbers: boolean },
): CallerIdentity | undefined {
  const keys = numberKeys.get(metadata[carrierKeys.transport] ?? '');
  if (keys === undefined) return undefined;
  const [from, to] = showsNumbers ? [metadata[keys.from], metadata[keys.to]] : [];
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    // A stream whose address was not made for one call is called by the carrier's id all the same.
    carrier_call_id: metadata[carrierKeys.callId] ?? callId,
  };
}
