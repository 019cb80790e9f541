/**
 * Calls that this side makes (RFC 3261, 13.2, 17.1.1, 9.1; RFC 6026): the INVITE and its answers, until there is a call like one that came
 * in, or none. Audio before the answer is not asked for. An answer that comes too late, or as a second one, is acknowledged and ended.
 * Pure.
 */
import { agreeToAnswer, writeSdpOffer, type Agreed } from '../session/agree.ts';
import { readSession, type SessionOffer } from '../session/sdp.ts';
import { headerOf, listOf, type SipRequest, type SipResponse } from '../message/message.ts';
import { readCSeq, readNameAddr, tagOf, topVia } from '../message/fields.ts';
import { sessionText } from '../message/session-text.ts';
import { writeRequest, type HeaderPair } from '../message/write.ts';
import {
  contactOf,
  newBranch,
  proofFor,
  request as sendRequest,
  sendWithin,
  viaOf,
  waitForAnswer,
  writeInDialog,
} from './client-transaction.ts';
import { allowed, capabilities } from './capabilities.ts';
import { leastInterval, startAnsweredTimer } from './session-timer.ts';
import {
  dialogKey,
  timers,
  type AgentAction,
  type AgentEvent,
  type Dialing,
  type InviteTransaction,
  type SipCall,
  type Step,
} from './state.ts';

/** Everybody has the first; a trunk that wants keys takes it (RFC 4568, 6.2). */
const suite = 'AES_CM_128_HMAC_SHA1_80';
/** Wide sound where the peer has it. Opus has another clock than keys, which would need an offer of their own. */
const codecs = ['G722', 'PCMU', 'PCMA'] as const;
const mostProofs = 2;

const invited = ({ target }: Pick<Dialing, 'target'>): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri: target,
  headers: [],
  body: Buffer.alloc(0),
});

export function dialed(step: Step, event: Extract<AgentEvent, { type: 'call.dialed' }>): void {
  const { state, now } = step;
  const { newToken, newKey, newSessionId, rules } = state.settings;
  const { flow, local, ringMs, ...given } = event;
  const sessionId = newSessionId();
  const isEncrypted = flow.protocol === 'TLS' && rules.srtp !== 'off';
  const key = isEncrypted ? ({ suite, local: newKey(30) } as const) : undefined;
  const offered = codecs.filter((codec) => rules.codecs.includes(codec));
  invite(step, {
    ...given,
    flow,
    local,
    sessionId,
    key,
    localTag: newToken(),
    cseq: 0,
    proofs: 0,
    isOver: false,
    timerS: undefined,
    sdp: writeSdpOffer(offered, { ...local, sessionId, version: 1 }, key),
    ringUntil: now + ringMs,
  });
}

function invite(step: Step, dialing: Dialing, proof: readonly HeaderPair[] = []): void {
  const { state, now } = step;
  const { flow } = dialing;
  const branch = newBranch(step);
  dialing.cseq += 1;
  const headers = invitingHeaders(dialing, branch, 'INVITE');
  const more: HeaderPair[] = [
    ['Contact', contactOf({ invite: invited(dialing), flow })],
    ...capabilities,
    ...dialing.headers,
    ...timerOf(dialing),
    ...proof,
  ];
  const body = { type: 'application/sdp', text: dialing.sdp };
  const request = writeRequest({ method: 'INVITE', uri: dialing.target }, [...headers, ...more], body);
  state.invites.set(branch, {
    branch,
    dialing,
    cseq: dialing.cseq,
    request,
    phase: 'calling',
    repeatAt: flow.protocol === 'UDP' ? now + timers.t1 : undefined,
    repeatMs: timers.t1,
    endsAt: now + timers.giveUp,
    early: undefined,
    ack: undefined,
    answeredBy: '',
    isCancelled: false,
  });
  step.actions.push({ type: 'send', flow, to: flow.source, bytes: request });
}

const timerOf = ({ timerS }: Dialing): HeaderPair[] =>
  timerS === undefined
    ? []
    : [
        ['Session-Expires', `${timerS}`],
        ['Min-SE', `${timerS}`],
      ];

/** What an INVITE, its CANCEL and the ACK of a refusal have in common. */
function invitingHeaders(
  { flow, from, target, localTag, callId, cseq }: Dialing,
  branch: string,
  method: string,
): HeaderPair[] {
  return [
    viaOf(flow, branch),
    ['Max-Forwards', '70'],
    ['From', `${from};tag=${localTag}`],
    ['To', `<${target}>`],
    ['Call-ID', callId],
    ['CSeq', `${cseq} ${method}`],
  ];
}

/** True where the answer was to an INVITE of this side. */
export function inviteResponded(step: Step, response: SipResponse): boolean {
  const found = step.state.invites.get(topVia(response)?.params.get('branch') ?? '');
  if (found === undefined || readCSeq(response)?.method !== 'INVITE') return false;
  if (response.status < 200) provisional(step, found, response);
  else if (response.status < 300) answered(step, found, response);
  else refused(step, found, response);
  return true;
}

function provisional(step: Step, invite: InviteTransaction, response: SipResponse): void {
  const sdp = sessionText(response);
  if (sdp !== undefined) invite.early = { tag: tagOf(response, 'to') ?? '', sdp };
  if (invite.phase !== 'calling') return;
  invite.phase = 'proceeding';
  invite.repeatAt = undefined;
  invite.endsAt = Infinity;
  if (invite.dialing.isOver) cancel(step, invite);
}

function refused(step: Step, invite: InviteTransaction, response: SipResponse): void {
  const { dialing } = invite;
  if (invite.phase === 'answered') return;
  const isFirst = invite.phase !== 'refused';
  if (isFirst) {
    const headers = invitingHeaders({ ...dialing, cseq: invite.cseq }, invite.branch, 'ACK').map(
      ([name, value]): HeaderPair => [name, name === 'To' ? (headerOf(response, 'to') ?? value) : value],
    );
    invite.ack = writeRequest({ method: 'ACK', uri: dialing.target }, headers);
    invite.phase = 'refused';
    invite.repeatAt = undefined;
    invite.endsAt = step.now + (dialing.flow.protocol === 'UDP' ? timers.giveUp : 0);
  }
  acknowledge(step, invite);
  if (isFirst) afterRefusal(step, dialing, response);
}

function afterRefusal(step: Step, dialing: Dialing, response: SipResponse): void {
  if (dialing.isOver) return;
  const { account, target } = dialing;
  const timerS = leastInterval(response);
  if (timerS !== undefined && dialing.timerS === undefined) {
    // It is asked anew, and may be challenged anew.
    Object.assign(dialing, { timerS, proofs: 0 });
    invite(step, dialing);
    return;
  }
  const proof = proofFor(step, response, { account, method: 'INVITE', uri: target });
  // A second proof counts where the first was for a nonce that had run out.
  const mayProve = dialing.proofs === 0 || /stale\s*=\s*"?true/i.test(challengeText(response));
  if (proof === undefined || !mayProve || dialing.proofs >= mostProofs) {
    over(step, dialing, response.status);
    return;
  }
  dialing.proofs += 1;
  invite(step, dialing, [proof]);
}

const challengeText = (response: SipResponse): string =>
  [...listOf(response, 'www-authenticate'), ...listOf(response, 'proxy-authenticate')].join();

function acknowledge(step: Step, { dialing: { flow }, ack }: InviteTransaction): void {
  if (ack !== undefined) step.actions.push({ type: 'send', flow, to: flow.source, bytes: ack });
}

function answered(step: Step, invite: InviteTransaction, response: SipResponse): void {
  const { dialing } = invite;
  const tag = tagOf(response, 'to') ?? '';
  if (invite.phase === 'answered' && invite.answeredBy === tag) {
    acknowledge(step, invite);
    return;
  }
  const isFirst = invite.phase !== 'answered' && !dialing.isOver;
  // Gateways that have played something say what they take with that, and some of them not again.
  const early = invite.early?.tag === tag ? invite.early.sdp : '';
  const session = readSession(sessionText(response) ?? early);
  const agreed = session && agreedBy(step, dialing, session);
  const call = newCall(step, invite, response, { session, agreed });
  const ack = writeInDialog(call, { method: 'ACK', cseq: invite.cseq, branch: newBranch(step) });
  sendWithin(step, call, ack);
  if (invite.phase !== 'answered') {
    invite.phase = 'answered';
    invite.answeredBy = tag;
    invite.ack = ack;
    invite.repeatAt = undefined;
    invite.endsAt = step.now + timers.giveUp;
  }
  if (!isFirst || agreed === undefined) {
    // It was taken back, another one was first, or the two have nothing in common.
    sendRequest(step, call, 'BYE');
    if (isFirst) over(step, dialing, 488);
    return;
  }
  dialing.isOver = true;
  step.state.calls.set(call.id, call);
  step.state.dialogs.set(dialogKey(call.callId, call.localTag, call.remoteTag), call);
  startAnsweredTimer(step, call, response);
  const { id, mayAsk } = call;
  const told = { dial: dialing.dial, call: id, media: agreed.media, mayRefer: mayAsk.refer };
  step.actions.push({ type: 'dial.answered', ...told });
}

function agreedBy(step: Step, { key }: Dialing, session: SessionOffer): Agreed | undefined {
  const { rules, newKey } = step.state.settings;
  const offered = codecs.filter((codec) => rules.codecs.includes(codec));
  return agreeToAnswer(session, { codecs: offered, newKey, key });
}

function newCall(
  step: Step,
  { dialing, cseq }: InviteTransaction,
  response: SipResponse,
  { session, agreed }: Pick<SipCall, 'session' | 'agreed'>,
): SipCall {
  const { state } = step;
  state.lastCall += 1;
  const { callId, localTag, from, target, flow, account, local, sessionId, sdp } = dialing;
  return {
    id: state.lastCall,
    callId,
    localTag,
    flow,
    account,
    local,
    sessionId,
    sdp,
    session,
    agreed,
    remoteTag: tagOf(response, 'to') ?? '',
    localAddress: from,
    remoteAddress: `<${target}>`,
    target: readNameAddr(headerOf(response, 'contact') ?? '')?.uri ?? target,
    routes: listOf(response, 'record-route').toReversed(),
    localCSeq: Math.max(cseq, dialing.cseq),
    remoteCSeq: -1,
    phase: 'confirmed',
    invite: invited(dialing),
    inviteKey: '',
    ...allowed(response),
    asked: { refer: undefined, keys: undefined },
    version: 1,
    ownOffer: false,
    ok: undefined,
    timer: undefined,
  };
}

/** Tells whoever asked, once. */
function over(step: Step, dialing: Dialing, why: Extract<AgentAction, { type: 'dial.ended' }>['why']): void {
  if (dialing.isOver) return;
  dialing.isOver = true;
  step.actions.push({ type: 'dial.ended', dial: dialing.dial, why });
}

/** This side wants nobody to answer any more. */
export function givenUp(step: Step, dial: string, why: 'rang' | 'ours'): void {
  for (const invite of step.state.invites.values()) {
    const { dialing, phase } = invite;
    if (dialing.dial !== dial || dialing.isOver) continue;
    // A trunk that has not even said that it tries is not there: nothing has rung.
    over(step, dialing, why === 'rang' && phase === 'calling' ? 0 : why);
    // Before the peer has said anything there is nothing to take back (RFC 3261, 9.1).
    if (phase === 'proceeding') cancel(step, invite);
  }
}

function cancel(step: Step, invite: InviteTransaction): void {
  if (invite.isCancelled) return;
  invite.isCancelled = true;
  invite.endsAt = step.now + timers.giveUp;
  const { dialing, branch } = invite;
  const { flow, target } = dialing;
  const headers = invitingHeaders({ ...dialing, cseq: invite.cseq }, branch, 'CANCEL');
  const bytes = writeRequest({ method: 'CANCEL', uri: target }, headers);
  step.actions.push({ type: 'send', flow, to: flow.source, bytes });
  waitForAnswer(step, { branch, method: 'CANCEL', request: bytes, flow, asked: undefined });
}

/** The connection is gone that they went over. */
export function invitesCutOff(step: Step, connection: number): void {
  for (const invite of step.state.invites.values())
    if (invite.dialing.flow.connection === connection && invite.phase !== 'answered')
      invite.endsAt = step.now;
}

export function invitesInTime(step: Step): void {
  const { state, now } = step;
  for (const invite of state.invites.values()) {
    const { dialing, phase, branch } = invite;
    if (now >= invite.endsAt) {
      state.invites.delete(branch);
      if (phase === 'calling' || phase === 'proceeding') over(step, dialing, 0);
    } else if (!dialing.isOver && now >= dialing.ringUntil) givenUp(step, dialing.dial, 'rang');
    else if (invite.repeatAt !== undefined && now >= invite.repeatAt) {
      const { flow } = dialing;
      step.actions.push({ type: 'send', flow, to: flow.source, bytes: invite.request });
      // It doubles without bound: a proxy on the way answers for itself (RFC 3261, 17.1.1.2).
      invite.repeatMs *= 2;
      invite.repeatAt = now + invite.repeatMs;
    }
  }
}
