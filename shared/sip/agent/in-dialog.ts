/** What a peer says within a call (RFC 3261, 12.2.2, 14, 15): hold and resume, moved media, keys, the end. Pure. */
import { headerOf, type SipRequest } from '../message/message.ts';
import { readCSeq, readNameAddr, wordOf } from '../message/fields.ts';
import { writeSdpAnswer } from '../session/agree.ts';
import { notified } from './ask-peer.ts';
import { contactOf } from './client-transaction.ts';
import { allowHeader, answerSession, bodyOf, takenBack } from './invite.ts';
import { capabilities } from './capabilities.ts';
import { agreeAnew, isInvitingAgain } from './reinvite.ts';
import { answer, begin } from './server-transaction.ts';
import { startTimer, timerHeaders, timerRefusal } from './session-timer.ts';
import { endCall, type Flow, type ServerTransaction, type SipCall, type Step } from './state.ts';

export function inDialog(
  step: Step,
  call: SipCall,
  from: { readonly request: SipRequest; readonly flow: Flow },
): void {
  const { request, flow } = from;
  const transaction = begin(step, request, flow);
  const cseq = readCSeq(request)?.number ?? 0;
  if (cseq <= call.remoteCSeq)
    return void answer(step, transaction, { status: 500, reason: 'CSeq Out Of Order' });
  call.remoteCSeq = cseq;
  call.flow = flow;
  switch (request.method) {
    case 'BYE':
      answer(step, transaction, { status: 200 });
      if (call.phase === 'offered') takenBack(step, call);
      else endCall(step, call, 'hangup');
      return;
    case 'INVITE':
    case 'UPDATE':
      renegotiate(step, call, transaction);
      return;
    case 'INFO':
      info(step, call, transaction);
      return;
    case 'OPTIONS':
      answer(step, transaction, { status: 200, headers: [...capabilities, ['Accept', 'application/sdp']] });
      return;
    case 'NOTIFY':
      notified(step, call, transaction);
      return;
    case 'REFER':
      answer(step, transaction, { status: 603 });
      return;
    default:
      answer(step, transaction, { status: 405, headers: [allowHeader] });
  }
}

/** A re-INVITE or UPDATE: the peer moves, holds, or says that it is still there. */
function renegotiate(step: Step, call: SipCall, transaction: ServerTransaction): void {
  const { request } = transaction;
  const isInvite = request.method === 'INVITE';
  if (isInvite) answer(step, transaction, { status: 100 });
  // One exchange at a time (RFC 3261, 14.2; RFC 3311, 5.2).
  if (call.phase === 'offered')
    return void answer(step, transaction, { status: 500, headers: [['Retry-After', '1']] });
  const meets = isInvite || request.body.length > 0;
  if ((call.ok !== undefined && (call.ownOffer || isInvite)) || (meets && isInvitingAgain(step.state, call)))
    return void answer(step, transaction, { status: 491 });
  const early = timerRefusal(request);
  if (early !== undefined) return void answer(step, transaction, early);
  const body = bodyOf(request);
  if (body === 'unknown')
    return void answer(step, transaction, { status: 415, headers: [['Accept', 'application/sdp']] });
  if (body === 'unreadable') return void answer(step, transaction, { status: 488 });
  if (body !== 'none' && !agreeAnew(step, call, body)) return void answer(step, transaction, { status: 488 });
  const target = readNameAddr(headerOf(request, 'contact') ?? '')?.uri;
  if (target !== undefined) call.target = target;
  startTimer(step, call, request);
  if (isInvite) {
    if (body === 'none') offerAnew(call);
    answerSession(step, call, transaction);
    return;
  }
  answer(step, transaction, {
    status: 200,
    headers: [['Contact', contactOf(call)], ...capabilities, ...timerHeaders(call, request)],
    ...(body !== 'none' && { body: { type: 'application/sdp', text: call.sdp } }),
  });
}

/** The peer asks for an offer: what runs, and a caller on hold is taken back by it. */
function offerAnew(call: SipCall): void {
  const { local, agreed, session } = call;
  if (local === undefined || agreed === undefined || session === undefined) return;
  call.version += 1;
  call.ownOffer = true;
  const place = { ...local, sessionId: call.sessionId, version: call.version };
  const audio = { ...agreed.audio, direction: 'sendrecv' } as const;
  call.sdp = writeSdpAnswer(session, { ...agreed, audio }, place);
}

/** Keys that come as messages: one that cannot be read is told to its sender. */
function info(step: Step, call: SipCall, transaction: ServerTransaction): void {
  const digit = infoKey(transaction.request);
  if (digit === undefined) {
    answer(step, transaction, { status: 415, headers: [['Accept', infoKeyTypes.join(', ')]] });
    return;
  }
  answer(step, transaction, { status: 200 });
  if (digit !== '') step.actions.push({ type: 'call.digit', call: call.id, digit });
}

/**
 * The key that an INFO tells of. There is no standard: `Signal=5` (`application/dtmf-relay`), the key alone (`application/dtmf`), `d=5`
 * (Nortel and others), in whichever of these types, and numbers of RFC 4733 where others write a letter. Pure.
 */
const infoKeyTypes = [
  'application/dtmf-relay',
  'application/dtmf',
  'audio/telephone-event',
  'application/vnd.nortelnetworks.digits',
] as const;

const names: Readonly<Record<string, string>> = {
  STAR: '*',
  ASTERISK: '*',
  HASH: '#',
  POUND: '#',
  10: '*',
  11: '#',
  12: 'A',
  13: 'B',
  14: 'C',
  15: 'D',
};

/** Empty where nothing is said of a key. Undefined: something is said, and cannot be read. */
function infoKey(request: SipRequest): string | undefined {
  const type = wordOf(request, 'content-type');
  const isKeys = infoKeyTypes.some((known) => known === type);
  const text = request.body.toString('latin1').replaceAll('\0', '').trim();
  if (text === '' && !isKeys) return '';
  if (type !== undefined && !isKeys) return undefined;
  const [, named] = /^[ \t]*(?:signal|digit|event|d)[ \t]*[=:][ \t]*([^\s;,]+)/im.exec(text) ?? [];
  const [line = ''] = text.split(/[\r\n]/, 1);
  const value = (named ?? line.trimEnd()).replaceAll(/^"|"$/g, '').toUpperCase();
  const key = names[value] ?? value;
  return /^[0-9A-D*#]$/.test(key) ? key : undefined;
}
