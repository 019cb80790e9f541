/**
 * Session timers (RFC 4028): a call whose peer vanished without a word ends by itself. The peer refreshes the session, or asks this side
 * to; this side then sends UPDATE, or INVITE to a peer that does not announce UPDATE. Pure.
 */
import { headerOf, lists, type SipMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { paramsOf } from '../message/fields.ts';
import type { Answering, HeaderPair } from '../message/write.ts';
import { contactOf, request as sendRequest, type Answered } from './client-transaction.ts';
import { capabilities } from './capabilities.ts';
import { invitedAgain, inviteAgain } from './reinvite.ts';
import type { SipCall, Step } from './state.ts';

const leastS = 90;
const mostS = 86_400;
/** A session that is not refreshed ends so long before its time is over, at most (RFC 4028, 10). */
const marginS = 32;

function wanted(message: SipMessage): { readonly intervalS: number; readonly refresher: string } | undefined {
  const [seconds = '', ...params] = (headerOf(message, 'session-expires') ?? '').split(';');
  if (!/^\s*\d{1,9}\s*$/.test(seconds)) return undefined;
  return { intervalS: Number(seconds), refresher: paramsOf(params).get('refresher')?.toLowerCase() ?? '' };
}

/** The answer to a peer that wants to be asked too often. */
export function timerRefusal(request: SipRequest): Answering | undefined {
  const asked = wanted(request);
  if (asked === undefined || asked.intervalS >= leastS || !lists(request, 'supported', 'timer'))
    return undefined;
  return { status: 422, headers: [['Min-SE', String(leastS)]] };
}

/** Begins or goes on as a request has it. */
export function startTimer(step: Step, call: SipCall, request: SipRequest): void {
  const asked = wanted(request);
  if (asked === undefined || !lists(request, 'supported', 'timer')) {
    // A refresh without the header keeps what was agreed on.
    if (call.timer !== undefined) setTime(step, call, call.timer.intervalS, call.timer.isOurs);
    return;
  }
  setTime(step, call, Math.min(mostS, asked.intervalS), asked.refresher === 'uas');
}

/** As the peer has answered a call, or a refresh, of this side. */
export function startAnsweredTimer(step: Step, call: SipCall, response: SipResponse): void {
  const asked = wanted(response);
  if (asked === undefined) return;
  setTime(step, call, Math.min(mostS, asked.intervalS), asked.refresher !== 'uas');
}

function setTime(step: Step, call: SipCall, intervalS: number, isOurs: boolean): void {
  const endS = intervalS - Math.min(marginS, intervalS / 3);
  call.timer = { intervalS, isOurs, at: step.now + (isOurs ? intervalS / 2 : endS) * 1000 };
}

export function timerHeaders(call: SipCall, request: SipRequest): HeaderPair[] {
  if (call.timer === undefined || !lists(request, 'supported', 'timer')) return [];
  const { intervalS, isOurs } = call.timer;
  const expires: HeaderPair = ['Session-Expires', `${intervalS};refresher=${isOurs ? 'uas' : 'uac'}`];
  return isOurs ? [expires] : [['Require', 'timer'], expires];
}

/** True where the peer has not refreshed in time. */
export function timerIsOver(step: Step, call: SipCall): boolean {
  const { timer } = call;
  if (timer === undefined || step.now < timer.at || call.phase !== 'confirmed') return false;
  if (!timer.isOurs) return true;
  refresh(step, call, timer.intervalS);
  return false;
}

function refresh(step: Step, call: SipCall, intervalS: number, more: readonly HeaderPair[] = []): void {
  setTime(step, call, intervalS, true);
  const headers: HeaderPair[] = [['Session-Expires', `${intervalS};refresher=uac`], ...more];
  if (call.allowsUpdate)
    sendRequest(step, call, 'UPDATE', [['Contact', contactOf(call)], ...capabilities, ...headers]);
  else inviteAgain(step, call, headers);
}

/** What a refusal with 422 asks for (RFC 4028, 6); undefined where it asks for nothing that can be given. */
export function leastInterval(response: SipResponse): number | undefined {
  const leastS = Number(/^\s*\d{1,9}/.exec(headerOf(response, 'min-se') ?? '')?.[0] ?? 0);
  return response.status === 422 && leastS > 0 && leastS <= mostS ? leastS : undefined;
}

/** What the peer has made of it. */
export function refreshed(step: Step, answered: Answered): void {
  const { call, method, response } = answered;
  if (method !== 'INVITE' && method !== 'UPDATE') return;
  if (response.status < 300) {
    if (method === 'INVITE') invitedAgain(step, answered);
    startAnsweredTimer(step, call, response);
    return;
  }
  if (call.timer === undefined) return;
  const leastS = leastInterval(response);
  if (leastS !== undefined && leastS > call.timer.intervalS)
    refresh(step, call, leastS, [['Min-SE', `${leastS}`]]);
  else if (response.status === 491)
    // Both have asked: whoever made the call waits longer (RFC 3261, 14.1).
    call.timer.at = step.now + (call.inviteKey === '' ? 3_000 : 1_000);
}
