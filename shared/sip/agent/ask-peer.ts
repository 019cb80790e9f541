/**
 * What this side asks of the peer of a call beside the call itself: to call somebody else in its place (REFER, RFC 3515), and to take keys
 * that cannot go with the audio (INFO). Each is told how it ended, once. Pure.
 */
import type { Millis } from '../../base/units.ts';
import { readNameAddr, readUri, wordOf, type SipUri } from '../message/fields.ts';
import type { SipRequest } from '../message/message.ts';
import { contactOf, hostText, request as sendRequest, type Answered } from './client-transaction.ts';
import { allow } from './capabilities.ts';
import { answer } from './server-transaction.ts';
import type { AgentEvent, PeerOutcome, ServerTransaction, SipCall, Step } from './state.ts';

/** Within the budget of a carrier's answer (docs/sip.md, Callers who are handed on). */
const referWithinMs: Millis = 38_000;
/** A peer that takes a REFER says at once that it is at it (RFC 3515, 2.4.4). Of one that does not, nothing will be known. */
const followedWithinMs: Millis = 6_000;
const keyMs = 240;
const betweenKeysMs: Millis = 350;
const pauses: Readonly<Record<string, Millis>> = { w: 500, W: 1_000 };

function referOver(step: Step, call: SipCall, outcome: PeerOutcome): void {
  call.asked.refer = undefined;
  step.actions.push({ type: 'call.referred', call: call.id, outcome });
}

function keysOver(step: Step, call: SipCall, outcome: PeerOutcome): void {
  call.asked.keys = undefined;
  step.actions.push({ type: 'call.pressed', call: call.id, outcome });
}

/** Where they know what numbers mean: at the proxy in front of the peer, which is a telephone then as a rule, or at the peer's own place. */
const dialsAt = ({ routes, target }: SipCall): SipUri | undefined =>
  readUri(readNameAddr(routes.at(-1) ?? '')?.uri ?? target);

function addressAt({ scheme, host, port, params }: SipUri, user: string): string {
  const transport = params.get('transport');
  const at = `${hostText(host)}${port === undefined ? '' : `:${port}`}`;
  return `<${scheme}:${user}@${at}${transport === undefined ? '' : `;transport=${transport}`}>`;
}

export function refer(step: Step, { call: id, user }: Extract<AgentEvent, { type: 'call.refer' }>): void {
  const call = step.state.calls.get(id);
  const place = call && dialsAt(call);
  if (call?.phase !== 'confirmed' || place === undefined || !call.mayAsk.refer || call.asked.refer) {
    const outcome = call?.asked.refer === undefined ? 'unsupported' : 'unavailable';
    step.actions.push({ type: 'call.referred', call: id, outcome });
    return;
  }
  call.asked.refer = { since: step.now, until: step.now + referWithinMs, isFollowed: false };
  sendRequest(step, call, 'REFER', [
    ['Contact', contactOf(call)],
    ['Refer-To', addressAt(place, user)],
    ['Referred-By', call.localAddress],
    ['Allow', `${allow}, NOTIFY`],
  ]);
}

/** How the peer gets on with it (RFC 3515, 2.4.4). */
export function notified(step: Step, call: SipCall, transaction: ServerTransaction): void {
  const { request } = transaction;
  const { refer: referring } = call.asked;
  if (referring === undefined || wordOf(request, 'event') !== 'refer') {
    answer(step, transaction, { status: 481, reason: 'Subscription Does Not Exist' });
    return;
  }
  answer(step, transaction, { status: 200 });
  referring.isFollowed = true;
  referring.until = referring.since + referWithinMs;
  const status = statusOf(request);
  const isLast = wordOf(request, 'subscription-state') === 'terminated';
  if (status >= 200) referOver(step, call, status < 300 ? 'ok' : 'rejected');
  else if (isLast) referOver(step, call, 'unknown');
}

const statusOf = ({ body }: SipRequest): number =>
  Number(/^\s*SIP\/2\.0 (\d{3})/.exec(body.toString('latin1'))?.[1] ?? 0);

/** The peer has no such request, or none of this kind. */
const isForeign = (status: number): boolean => [405, 415, 420, 501].includes(status);

export function peerAnswered(step: Step, { call, method, response: { status } }: Answered): void {
  const outcome = isForeign(status) ? 'unsupported' : 'rejected';
  const { refer: referring, keys } = call.asked;
  if (method === 'REFER' && referring !== undefined) {
    if (status >= 300) referOver(step, call, outcome);
    else if (!referring.isFollowed) referring.until = step.now + followedWithinMs;
  }
  if (method !== 'INFO' || keys === undefined) return;
  if (status >= 300) keysOver(step, call, outcome);
  else if (keys.left === '') keysOver(step, call, 'ok');
  else keys.nextAt = step.now + betweenKeysMs;
}

export function press(step: Step, { call: id, keys }: Extract<AgentEvent, { type: 'call.press' }>): void {
  const call = step.state.calls.get(id);
  if (call?.phase !== 'confirmed' || !call.mayAsk.info || call.asked.keys) {
    const outcome = call?.asked.keys === undefined ? 'unsupported' : 'unavailable';
    step.actions.push({ type: 'call.pressed', call: id, outcome });
    return;
  }
  call.asked.keys = { left: keys, nextAt: step.now };
  pressNext(step, call);
}

function pressNext(step: Step, call: SipCall): void {
  const { keys } = call.asked;
  if (keys?.nextAt === undefined || step.now < keys.nextAt) return;
  const key = keys.left.slice(0, 1);
  keys.left = keys.left.slice(1);
  const pause = pauses[key];
  if (pause !== undefined) keys.nextAt = step.now + pause;
  else keys.nextAt = undefined;
  if (key === '' || (pause !== undefined && keys.left === '')) keysOver(step, call, 'ok');
  else if (pause === undefined) {
    const text = `Signal=${key.toUpperCase()}\r\nDuration=${keyMs}\r\n`;
    sendRequest(step, call, 'INFO', [], { type: 'application/dtmf-relay', text });
  }
}

export function askedInTime(step: Step, call: SipCall): void {
  const { refer: referring } = call.asked;
  // The caller is still here, and whether somebody else gets them is not known.
  if (referring !== undefined && step.now >= referring.until) referOver(step, call, 'unknown');
  pressNext(step, call);
}
