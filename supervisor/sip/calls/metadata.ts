/**
 * What a call is told of who calls whom: as the trunk says it, for who may call was checked before (docs/variables.md). Without
 * numbers unless the operator wants them passed on: metadata end up in recordings, too.
 */
import { directionKey } from '../../../shared/telephony/call-control.ts';
import type { CallFacts } from '../../../shared/agents/choose.ts';
import { chosenKeys } from '../../../shared/agents/chosen.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import { headerOf, listOf, type SipRequest } from '../../../shared/sip/message/message.ts';
import { readNameAddr, readUri } from '../../../shared/sip/message/fields.ts';

/** Longest value of metadata. */
const mostChars = 128;

/** Keys that the server sets. */
const keys = {
  transport: carrierKeys.transport,
  callId: carrierKeys.callId,
  from: 'session.from',
  to: 'session.to',
} as const;

/** The user part of an address, which is the number; the whole host where there is none. */
function numberOf(value: string): string | undefined {
  const uri = readNameAddr(value)?.uri ?? value;
  const tel = /^tel:([^;?]+)/i.exec(uri)?.[1];
  const sip = readUri(uri);
  const text = tel ?? (sip?.user === '' ? sip.host : sip?.user);
  return text === undefined ? undefined : printable(text);
}

/** Visible characters alone: what a stranger wrote ends up in prompts and logs. */
const printable = (text: string): string | undefined => {
  const clean = text.replaceAll(/[^\x20-\x7e]/g, '').slice(0, mostChars);
  return clean === '' ? undefined : clean;
};

/** `mayRefer`: the peer does not rule out that it is given somebody else to call. */
export function callMetadata(
  invite: SipRequest,
  {
    shows,
    mayRefer,
    chosen,
  }: { readonly shows: boolean; readonly mayRefer: boolean; readonly chosen?: string | undefined },
): {
  readonly callId: string;
  readonly metadata: Readonly<Record<string, string>>;
} {
  const [asserted] = listOf(invite, 'p-asserted-identity');
  const from = shows ? numberOf(asserted ?? headerOf(invite, 'from') ?? '') : undefined;
  const to = shows ? numberOf(invite.uri) : undefined;
  const callId = printable(headerOf(invite, 'call-id') ?? '') ?? 'sip';
  return {
    callId,
    metadata: {
      [keys.transport]: 'sip',
      [keys.callId]: callId,
      ...(from !== undefined && { [keys.from]: from }),
      ...(to !== undefined && { [keys.to]: to }),
      ...(!mayRefer && { [carrierKeys.refer]: 'no' }),
      ...(chosen !== undefined && { [chosenKeys.signed]: chosen }),
    },
  };
}

/** What was dialled, where, and by whom: the address of the request stands above To, which a PBX may have left as it was. */
export function calledBy(invite: SipRequest, peer: string): CallFacts {
  const to = readNameAddr(headerOf(invite, 'to') ?? '')?.uri ?? '';
  const [asserted] = listOf(invite, 'p-asserted-identity');
  const uris = [invite.uri, to];
  return {
    numbers: uris.flatMap((uri) => numberOf(uri) ?? []),
    hosts: uris.flatMap((uri) => readUri(uri)?.host ?? []),
    peer,
    share: numberOf(asserted ?? headerOf(invite, 'from') ?? '') ?? headerOf(invite, 'call-id'),
  };
}

/** The same of a call that this side has made. */
export const madeMetadata = (call: {
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  readonly mayRefer: boolean;
  readonly shows: boolean;
}): Readonly<Record<string, string>> => ({
  [keys.transport]: 'sip',
  [keys.callId]: call.callId,
  [directionKey]: 'outbound',
  ...(call.shows && { [keys.from]: call.from, [keys.to]: call.to }),
  ...(!call.mayRefer && { [carrierKeys.refer]: 'no' }),
});
