/** A call from its INVITE to its ACK (RFC 3261, 13.3): offered, answered or refused, cancelled, acknowledged. Pure. */
import { headerOf, listOf, type SipRequest } from '../message/message.ts';
import { readCSeq, readNameAddr, tagOf } from '../message/fields.ts';
import { sessionText } from '../message/session-text.ts';
import type { HeaderPair } from '../message/write.ts';
import { sipCodecRate, type SipCodec } from '../calls.ts';
import { agree, agreeToAnswer, writeSdpAnswer, writeSdpOffer } from '../session/agree.ts';
import { readSession, type SessionOffer } from '../session/sdp.ts';
import { contactOf, request as sendRequest } from './client-transaction.ts';
import { allow, allowed, capabilities } from './capabilities.ts';
import { answer, begin } from './server-transaction.ts';
import { startTimer, timerHeaders, timerRefusal } from './session-timer.ts';
import {
  dialogKey,
  endCall,
  timers,
  type AgentEvent,
  type Flow,
  type ServerTransaction,
  type SipCall,
  type Step,
} from './state.ts';

/** What is offered where the call begins before the peer has chosen: codecs of one rate. */
const isNarrow = (codec: SipCodec): boolean => sipCodecRate(codec) === 8_000;

const refusedBody: HeaderPair = ['Accept', 'application/sdp'];

/** What a request carries: a session, nothing, or something that nobody here reads. */
export function bodyOf(request: SipRequest): SessionOffer | 'none' | 'unknown' | 'unreadable' {
  if (request.body.length === 0) return 'none';
  const text = sessionText(request);
  return text === undefined ? 'unknown' : (readSession(text) ?? 'unreadable');
}

/** For an operator. */
function offerText(body: SessionOffer | 'none' | 'unreadable'): string {
  if (typeof body === 'string') return body === 'none' ? 'no session' : 'no audio over RTP';
  return body.audio
    .map(({ protocol, codecs, keys }) =>
      [protocol, ...codecs.map(({ codec }) => codec), ...keys.map(({ suite }) => suite)].join(' '),
    )
    .join(', ');
}

/** A first INVITE of a peer that may call. */
export function invited(step: Step, request: SipRequest, flow: Flow): void {
  const transaction = begin(step, request, flow);
  const { settings } = step.state;
  answer(step, transaction, { status: 100 });
  const body = bodyOf(request);
  const accept = headerOf(request, 'accept');
  if (body === 'unknown') return void answer(step, transaction, { status: 415, headers: [refusedBody] });
  if (accept !== undefined && !/application\/sdp|application\/\*|\*\/\*/i.test(accept) && body === 'none')
    return void answer(step, transaction, { status: 406, headers: [refusedBody] });
  const early = timerRefusal(request);
  if (early !== undefined) return void answer(step, transaction, early);
  const offer = typeof body === 'string' ? undefined : body;
  const agreed =
    offer &&
    agree(offer, { ...settings.rules, isEncrypted: flow.protocol === 'TLS', newKey: settings.newKey });
  const needsKeys = body === 'none' && settings.rules.srtp === 'required';
  if (body === 'unreadable' || needsKeys || (offer !== undefined && agreed === undefined)) {
    const offers = `${flow.protocol}: ${offerText(body)}`;
    step.actions.push({ type: 'call.unmet', callId: headerOf(request, 'call-id') ?? '', offers });
    return void answer(step, transaction, { status: 488 });
  }
  const call = newCall(step, transaction, flow);
  call.agreed = agreed;
  call.session = offer;
  step.state.calls.set(call.id, call);
  step.state.dialogs.set(dialogKey(call.callId, call.localTag, call.remoteTag), call);
  step.actions.push({ type: 'call.offered', call: call.id, invite: request, flow, media: agreed?.media });
}

/** An address without its parameters, as it goes into requests of this side. */
const bare = (value: string): string => {
  const address = readNameAddr(value);
  if (address === undefined) return value;
  const name = address.display === '' ? '' : `"${address.display.replaceAll(/["\\]/g, '\\$&')}" `;
  return `${name}<${address.uri}>`;
};

function newCall(step: Step, { request, key, toTag }: ServerTransaction, flow: Flow): SipCall {
  const { state } = step;
  state.lastCall += 1;
  return {
    id: state.lastCall,
    callId: headerOf(request, 'call-id') ?? '',
    localTag: toTag,
    remoteTag: tagOf(request, 'from') ?? '',
    localAddress: bare(headerOf(request, 'to') ?? ''),
    remoteAddress: bare(headerOf(request, 'from') ?? ''),
    target: readNameAddr(headerOf(request, 'contact') ?? '')?.uri ?? '',
    routes: listOf(request, 'record-route'),
    flow,
    localCSeq: 0,
    remoteCSeq: readCSeq(request)?.number ?? 0,
    phase: 'offered',
    invite: request,
    inviteKey: key,
    ...allowed(request),
    account: state.settings.accountAt(flow.source.address),
    asked: { refer: undefined, keys: undefined },
    agreed: undefined,
    session: undefined,
    local: undefined,
    sessionId: state.settings.newSessionId(),
    version: 1,
    ownOffer: false,
    sdp: '',
    ok: undefined,
    timer: undefined,
  };
}

export function rings(step: Step, id: number): void {
  const call = step.state.calls.get(id);
  const transaction = call && step.state.transactions.get(call.inviteKey);
  if (call?.phase !== 'offered' || transaction === undefined) return;
  answer(step, transaction, { status: 180, headers: [['Contact', contactOf(call)]] });
}

export function accepted(
  step: Step,
  { call: id, local }: Extract<AgentEvent, { type: 'call.accepted' }>,
): void {
  const call = step.state.calls.get(id);
  // A call that this side has made waits for nobody.
  if (call?.phase === 'confirmed') step.actions.push({ type: 'call.opened', call: id });
  const transaction = call && step.state.transactions.get(call.inviteKey);
  if (call?.phase !== 'offered' || transaction === undefined) return;
  call.local = local;
  call.phase = 'answered';
  const place = { ...local, sessionId: call.sessionId, version: call.version };
  call.ownOffer = call.session === undefined;
  call.sdp =
    call.session !== undefined && call.agreed !== undefined
      ? writeSdpAnswer(call.session, call.agreed, place)
      : writeSdpOffer(step.state.settings.rules.codecs.filter(isNarrow), place);
  startTimer(step, call, call.invite);
  answerSession(step, call, transaction);
}

/** Sends the 2xx of an INVITE, and repeats it until its ACK: over TCP too, for a proxy behind it may lose it (RFC 3261, 13.3.1.4). */
export function answerSession(step: Step, call: SipCall, transaction: ServerTransaction): void {
  const bytes = answer(step, transaction, {
    status: 200,
    headers: [['Contact', contactOf(call)], ...capabilities, ...timerHeaders(call, transaction.request)],
    body: { type: 'application/sdp', text: call.sdp },
  });
  const cseq = readCSeq(transaction.request)?.number ?? 0;
  const { now } = step;
  call.ok = { bytes, cseq, at: now + timers.t1, everyMs: timers.t1, until: now + timers.giveUp };
}

export function refused(step: Step, event: Extract<AgentEvent, { type: 'call.refused' }>): void {
  const call = step.state.calls.get(event.call);
  if (call?.phase !== 'offered') return;
  refuseInvite(step, call, event.status, event.retryAfterS);
  endCall(step, call, 'refused');
}

function refuseInvite(step: Step, call: SipCall, status: number, retryAfterS?: number): void {
  const transaction = step.state.transactions.get(call.inviteKey);
  if (transaction?.phase !== 'proceeding') return;
  const headers: HeaderPair[] = retryAfterS === undefined ? [] : [['Retry-After', String(retryAfterS)]];
  answer(step, transaction, { status, headers });
}

/** The peer takes its INVITE back, or hangs up before an answer. */
export function takenBack(step: Step, call: SipCall): void {
  refuseInvite(step, call, 487);
  endCall(step, call, 'cancelled');
}

/** This side hangs up. */
export function hangUp(step: Step, call: SipCall, reason: 'ours' | 'lost'): void {
  if (call.phase === 'offered') refuseInvite(step, call, 480);
  else sendRequest(step, call, 'BYE');
  endCall(step, call, reason);
}

/** An ACK for a 2xx: the call is one from here on. */
export function sessionAcknowledged(step: Step, call: SipCall, request: SipRequest): void {
  if (call.ok === undefined || readCSeq(request)?.number !== call.ok.cseq) return;
  call.ok = undefined;
  const isFirst = call.phase === 'answered';
  call.phase = 'confirmed';
  if (call.ownOffer) {
    const body = bodyOf(request);
    const { rules, newKey } = step.state.settings;
    const { codec = 'PCMU', keys: key } = call.agreed?.media ?? {};
    const agreed =
      typeof body === 'string' ? undefined : agreeToAnswer(body, { ...rules, newKey, codec, key });
    if (agreed === undefined || typeof body === 'string') {
      hangUp(step, call, 'lost');
      return;
    }
    call.session = body;
    call.agreed = agreed;
    call.ownOffer = false;
    step.actions.push({ type: 'call.agreed', call: call.id, media: agreed.media });
  }
  if (isFirst) step.actions.push({ type: 'call.opened', call: call.id });
}

export const allowHeader: HeaderPair = ['Allow', allow];
