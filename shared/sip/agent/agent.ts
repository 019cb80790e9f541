/**
 * The agent of this side: takes one event, finds the transaction and the call that it belongs to, and says what to send and what became
 * of calls (RFC 3261, 8.2, 9.2, 12.2.2, 16.3). Pure; agent-shell.ts performs it.
 */
import { headerOf, listOf, type SipRequest, type SipResponse } from '../message/message.ts';
import { tagOf, topVia } from '../message/fields.ts';
import { requestFault } from '../message/validate.ts';
import type { HeaderPair } from '../message/write.ts';
import { askedInTime, peerAnswered, press, refer } from './ask-peer.ts';
import { clientsInTime, responded } from './client-transaction.ts';
import { dialed, givenUp, inviteResponded, invitesCutOff, invitesInTime } from './dial.ts';
import { inDialog } from './in-dialog.ts';
import {
  accepted,
  allowHeader,
  hangUp,
  invited,
  refused,
  rings,
  sessionAcknowledged,
  takenBack,
} from './invite.ts';
import { capabilities, supported } from './capabilities.ts';
import {
  acknowledged,
  answer,
  askedAgain,
  begin,
  mergeKey,
  refuseOnce,
  transactionKey,
  transactionsInTime,
  type Refusable,
} from './server-transaction.ts';
import { refreshed, timerIsOver } from './session-timer.ts';
import {
  dialogKey,
  timers,
  type AgentAction,
  type AgentEvent,
  type AgentState,
  type SipCall,
  type Step,
} from './state.ts';
import type { Millis } from '../../base/units.ts';

export function step(state: AgentState, event: AgentEvent, now: Millis): readonly AgentAction[] {
  const one: Step = { state, now, actions: [] };
  perform(one, event);
  return one.actions;
}

function perform(one: Step, event: AgentEvent): void {
  switch (event.type) {
    case 'message.received':
      if (event.message.kind === 'request') requested(one, { ...event, request: event.message });
      else if (event.fault === undefined && topVia(event.message) !== undefined)
        answeredByPeer(one, event.message);
      return;
    case 'call.rings':
      rings(one, event.call);
      return;
    case 'call.accepted':
      accepted(one, event);
      return;
    case 'call.refused':
      refused(one, event);
      return;
    case 'call.hung-up': {
      const call = one.state.calls.get(event.call);
      if (call !== undefined) hangUp(one, call, 'ours');
      return;
    }
    case 'call.dialed':
      dialed(one, event);
      return;
    case 'dial.given-up':
      givenUp(one, event.dial, 'ours');
      return;
    case 'call.refer':
      refer(one, event);
      return;
    case 'call.press':
      press(one, event);
      return;
    case 'flow.failed':
      invitesCutOff(one, event.connection);
      for (const client of one.state.clients.values())
        if (client.flow.connection === event.connection) client.endsAt = one.now;
      return;
    case 'time.passed':
      timePassed(one);
      return;
  }
}

function answeredByPeer(one: Step, response: SipResponse): void {
  if (inviteResponded(one, response)) return;
  const answered = responded(one, response);
  if (answered === undefined) return;
  peerAnswered(one, answered);
  refreshed(one, answered);
}

interface Asked extends Refusable {
  readonly fault: string | undefined;
}

function requested(one: Step, asked: Asked): void {
  const { request, flow } = asked;
  const wrong = requestFault(request, asked.fault);
  if (wrong !== undefined) {
    refuseOnce(one, asked, wrong);
    return;
  }
  if (request.method === 'ACK') {
    ack(one, request);
    return;
  }
  const known = one.state.transactions.get(transactionKey(request));
  if (known !== undefined) {
    askedAgain(one, known, flow);
    return;
  }
  if (one.state.transactions.size >= one.state.settings.mostTransactions) {
    refuseOnce(one, asked, { status: 503, headers: [['Retry-After', '5']] });
    one.actions.push({ type: 'agent.full' });
    return;
  }
  if (request.method === 'CANCEL') cancel(one, asked);
  else fresh(one, asked);
}

function callOf({ state }: Step, request: SipRequest): SipCall | undefined {
  const callId = headerOf(request, 'call-id') ?? '';
  return state.dialogs.get(dialogKey(callId, tagOf(request, 'to') ?? '', tagOf(request, 'from') ?? ''));
}

function ack(one: Step, request: SipRequest): void {
  const transaction = one.state.transactions.get(transactionKey(request));
  if (transaction?.phase === 'completed') acknowledged(one, transaction);
  const call = callOf(one, request);
  if (call !== undefined) sessionAcknowledged(one, call, request);
}

function cancel(one: Step, asked: Asked): void {
  const invite = one.state.transactions.get(transactionKey(asked.request, 'INVITE'));
  if (invite === undefined) {
    refuseOnce(one, asked, { status: 481 });
    return;
  }
  // Both answers have one tag, so that a proxy takes them for those of one phone.
  answer(one, begin(one, asked.request, asked.flow), { status: 200, toTag: invite.toTag });
  // Once the call is answered a CANCEL has no effect (RFC 3261, 9.2).
  for (const call of one.state.calls.values())
    if (call.inviteKey === invite.key && call.phase === 'offered') takenBack(one, call);
}

/** A request that was not seen before. */
function fresh(one: Step, asked: Asked): void {
  const { request, flow } = asked;
  const call = callOf(one, request);
  if (call === undefined && tagOf(request, 'to') !== undefined) {
    refuseOnce(one, asked, { status: 481 });
    return;
  }
  const denied = call === undefined ? one.state.settings.gate.judge(request, flow, one.now) : undefined;
  if (denied !== undefined) {
    refuseOnce(one, asked, denied);
    return;
  }
  const letIn = { ...asked, isLetIn: true };
  const unknown = [...listOf(request, 'require'), ...listOf(request, 'proxy-require')].filter(
    (tag) => !supported.includes(tag.toLowerCase()),
  );
  if (unknown.length > 0) {
    refuseOnce(one, letIn, { status: 420, headers: [['Unsupported', unknown.slice(0, 16).join(', ')]] });
    return;
  }
  if (call !== undefined) inDialog(one, call, letIn);
  else outsideDialog(one, letIn);
}

function outsideDialog(one: Step, asked: Asked): void {
  const { request, flow } = asked;
  if (one.state.merged.has(mergeKey(request))) {
    refuseOnce(one, asked, { status: 482 });
    return;
  }
  const { isClosed } = one.state.settings;
  switch (request.method) {
    case 'INVITE':
      if (isClosed()) refuseOnce(one, asked, { status: 503 });
      else invited(one, request, flow);
      return;
    case 'OPTIONS': {
      const accept: HeaderPair = ['Accept', 'application/sdp'];
      const how = { status: isClosed() ? 503 : 200, headers: [...capabilities, accept] };
      answer(one, begin(one, request, flow), how);
      return;
    }
    case 'BYE':
    case 'INFO':
    case 'UPDATE':
    case 'PRACK':
      refuseOnce(one, asked, { status: 481 });
      return;
    default:
      refuseOnce(one, asked, { status: 405, headers: [allowHeader] });
  }
}

function timePassed(one: Step): void {
  transactionsInTime(one);
  clientsInTime(one);
  invitesInTime(one);
  for (const call of one.state.calls.values()) {
    askedInTime(one, call);
    if (call.ok !== undefined) repeatOk(one, call, call.ok);
    else if (timerIsOver(one, call)) hangUp(one, call, 'lost');
  }
}

/** A peer that never acknowledges has no call (RFC 3261, 13.3.1.4). */
function repeatOk(one: Step, call: SipCall, ok: NonNullable<SipCall['ok']>): void {
  if (one.now >= ok.until) {
    hangUp(one, call, 'lost');
    return;
  }
  if (one.now < ok.at) return;
  one.actions.push({ type: 'send', flow: call.flow, to: call.flow.source, bytes: ok.bytes });
  ok.everyMs = Math.min(ok.everyMs * 2, timers.t2);
  ok.at = one.now + ok.everyMs;
}

/** Whether anything waits for time: the shell looks at the clock only then. */
export const waitsForTime = ({ transactions, clients, invites, calls }: AgentState): boolean =>
  transactions.size > 0 || clients.size > 0 || invites.size > 0 || calls.size > 0;
