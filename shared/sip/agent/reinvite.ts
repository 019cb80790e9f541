/**
 * What a running call has agreed on, agreed on anew (RFC 3264, 8): an offer of the peer, and a re-INVITE of this side that repeats what
 * runs, for a peer that takes no UPDATE. Pure.
 */
import { headerOf } from '../message/message.ts';
import { readNameAddr } from '../message/fields.ts';
import { sessionText } from '../message/session-text.ts';
import type { HeaderPair } from '../message/write.ts';
import { agree, writeSdpAnswer, type Agreed } from '../session/agree.ts';
import { readSession, type SessionOffer } from '../session/sdp.ts';
import { contactOf, request as sendRequest, type Answered } from './client-transaction.ts';
import { capabilities } from './capabilities.ts';
import type { AgentState, SipCall, Step } from './state.ts';

/** An offer of the peer, or its answer. False where there is nothing that both can have: the call goes on as it was. */
export function agreeAnew(step: Step, call: SipCall, session: SessionOffer): boolean {
  const { settings } = step.state;
  const { local, agreed } = call;
  if (local === undefined || agreed === undefined) return false;
  const next = agree(session, {
    ...settings.rules,
    isEncrypted: call.flow.protocol === 'TLS',
    newKey: settings.newKey,
    codec: agreed.media.codec,
    key: agreed.media.keys,
  });
  // A call that began encrypted does not go on in the clear.
  if (next === undefined || (agreed.media.keys !== undefined && next.media.keys === undefined)) return false;
  call.session = session;
  writeAnew(call, local, next);
  step.actions.push({ type: 'call.agreed', call: call.id, media: next.media });
  return true;
}

function writeAnew(call: SipCall, local: NonNullable<SipCall['local']>, next: Agreed): void {
  call.agreed = next;
  if (call.session === undefined) return;
  const place = { ...local, sessionId: call.sessionId, version: call.version };
  const same = writeSdpAnswer(call.session, next, place);
  if (same === call.sdp) return;
  call.version += 1;
  call.sdp = writeSdpAnswer(call.session, next, { ...place, version: call.version });
}

/** Says again what runs, and nothing beside it: a choice of codecs would be one. */
export function inviteAgain(step: Step, call: SipCall, headers: readonly HeaderPair[]): void {
  if (call.local !== undefined && call.agreed !== undefined) writeAnew(call, call.local, call.agreed);
  const own: HeaderPair[] = [['Contact', contactOf(call)], ...capabilities];
  sendRequest(step, call, 'INVITE', [...own, ...headers], { type: 'application/sdp', text: call.sdp });
}

/** An INVITE of this side has no answer yet: the peer's own has to wait (RFC 3261, 14.2). */
export const isInvitingAgain = ({ clients }: AgentState, call: SipCall): boolean =>
  [...clients.values()].some(
    ({ method, asked, ack }) => method === 'INVITE' && asked?.call === call && ack === undefined,
  );

/** The peer's answer says where it is now. */
export function invitedAgain(step: Step, { call, response }: Answered): void {
  const session = readSession(sessionText(response) ?? '');
  if (session !== undefined) agreeAnew(step, call, session);
  call.target = readNameAddr(headerOf(response, 'contact') ?? '')?.uri ?? call.target;
}
