/**
 * The identity of a caller, as an agent process that wants to know is told (docs/reference/agent-link.md, `session.start`). Only of
 * telephone calls, and only out of what a carrier or a trunk said: what any other client claims of itself is no identity. Numbers are left
 * out where they are redacted. Pure.
 */
import type { CallerIdentity } from '../../shared/agent-link/service-messages.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import { tenantOf } from '../../shared/agents/version.ts';
import { broughtMetadata } from '../../shared/protocol/call.ts';
import { carrierNames, type CarrierName } from '../../shared/telephony/call-control.ts';
import type { SignedSession } from '../../shared/agent-link/service-messages.ts';
import type { CallStart } from '../transports/transport.ts';

type Metadata = CallStart['metadata'];

/** Where the metadata of a call hold its numbers, by its transport. Carriers pass numbers on in the start of their stream. */
const numberKeys: Readonly<Record<CarrierName, { readonly from: string; readonly to: string }>> = {
  carrier_a: { from: 'from', to: 'to' },
  carrier_b: { from: 'from', to: 'to' },
  sip: { from: 'session.from', to: 'session.to' },
};

const carrierOf = (metadata: Metadata): CarrierName | undefined =>
  carrierNames.find((name) => name === metadata[carrierKeys.transport]);

/** Undefined for calls that have no caller by telephone. */
export function callerOf(
  { callId, metadata }: Pick<CallStart, 'callId' | 'metadata'>,
  { showsNumbers }: { readonly showsNumbers: boolean },
): CallerIdentity | undefined {
  const carrier = carrierOf(metadata);
  if (carrier === undefined) return undefined;
  const keys = numberKeys[carrier];
  const [from, to] = showsNumbers ? [metadata[keys.from], metadata[keys.to]] : [];
  return {
    carrier,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    // A stream whose address was not made for one call is called by the carrier's id all the same.
    carrier_call_id: metadata[carrierKeys.callId] ?? callId,
  };
}

/** What a client says of itself, or the operator gave a call on its way through a carrier: without numbers, which are the caller's. */
export function saidOf(metadata: Metadata): Readonly<Record<string, string>> | undefined {
  const brought = broughtMetadata(metadata);
  const carrier = carrierOf(metadata);
  const { from, to } = carrier === undefined ? {} : numberKeys[carrier];
  const said = Object.entries(brought).filter(([key]) => key !== from && key !== to);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

const metaPrefix = 'session.meta.';

/** Whose call it is: that of its agent, or, for agents of the operator's own, the `tenant` of its token. */
export const tenantOfCall = (agent: string | undefined, metadata: Metadata): string | undefined =>
  (agent === undefined ? undefined : tenantOf(agent)) ?? signedOf(metadata)?.meta?.['tenant'];

/** What the call's token says; undefined for a call without one. */
export function signedOf(metadata: Metadata): SignedSession | undefined {
  const { session_id: sid, 'session.agent': agent } = metadata;
  if (sid === undefined) return undefined;
  const meta = Object.entries(metadata)
    .filter(([key]) => key.startsWith(metaPrefix))
    .map(([key, value]) => [key.slice(metaPrefix.length), value] as const);
  return {
    sid,
    ...(agent !== undefined && { agent }),
    ...(meta.length > 0 && { meta: Object.fromEntries(meta) }),
  };
}
