/** Requests of this side within a call (RFC 3261, 17.1.2): repeated over UDP until an answer comes, given up after 32 s. Pure. */
import { challengeOf, proofOf } from '../access/digest-client.ts';
import type { SipResponse } from '../message/message.ts';
import { readCSeq, readNameAddr, readUri, topVia } from '../message/fields.ts';
import { writeRequest, type HeaderPair, type MessageBody, type Source } from '../message/write.ts';
import {
  endCall,
  timers,
  type ClientTransaction,
  type Flow,
  type InDialogRequest,
  type SipAccount,
  type SipCall,
  type Step,
} from './state.ts';

/** Text of `host` in addresses. */
export const hostText = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Where this side is reached within a call. A peer that asked for `sips` is given nothing less (RFC 3261, 12.1.1). */
export function contactOf({ invite, flow }: Pick<SipCall, 'invite' | 'flow'>): string {
  const { local, protocol } = flow;
  const at = `${hostText(local.address)}:${local.port}`;
  if (protocol === 'TLS' && /^sips:/i.test(invite.uri)) return `<sips:${at}>`;
  return `<sip:${at}${protocol === 'UDP' ? '' : `;transport=${protocol.toLowerCase()}`}>`;
}

export const viaOf = ({ protocol, local }: Flow, branch: string): HeaderPair => [
  'Via',
  `SIP/2.0/${protocol} ${hostText(local.address)}:${local.port};rport;branch=${branch}`,
];

export const newBranch = ({ state }: Step): string => `z9hG4bK${state.settings.newToken()}`;

/**
 * Where a peer takes connections whose own one is gone: its next hop's port, on the machine that called. Another machine is never
 * called: its name is all that is known of it.
 */
function listensAt({ routes, target, flow }: SipCall): Source | undefined {
  if (flow.protocol === 'UDP') return undefined;
  const hop = readUri(readNameAddr(routes[0] ?? '')?.uri ?? target);
  const port = hop?.port ?? (flow.protocol === 'TLS' ? 5061 : 5060);
  return { address: flow.source.address, port };
}

/** A request within a call, written for once. */
export function writeInDialog(
  call: SipCall,
  what: {
    readonly method: string;
    readonly cseq: number;
    readonly branch: string;
    readonly headers?: readonly HeaderPair[];
    readonly body?: MessageBody | undefined;
  },
): Buffer {
  const { method, cseq, branch, headers = [], body } = what;
  return writeRequest(
    { method, uri: call.target },
    [
      viaOf(call.flow, branch),
      ['Max-Forwards', '70'],
      ...call.routes.map((route): HeaderPair => ['Route', route]),
      ['From', `${call.localAddress};tag=${call.localTag}`],
      ['To', `${call.remoteAddress};tag=${call.remoteTag}`],
      ['Call-ID', call.callId],
      ['CSeq', `${cseq} ${method}`],
      ...headers,
    ],
    body,
  );
}

/** Sends to where the peer sends from: its own idea of its address may lie behind a translation. */
export function sendWithin(step: Step, call: SipCall, bytes: Buffer): void {
  const { flow } = call;
  const orAt = listensAt(call);
  step.actions.push({ type: 'send', flow, to: flow.source, bytes, ...(orAt !== undefined && { orAt }) });
}

/** Sends a request that is answered. */
export function request(
  step: Step,
  call: SipCall,
  method: string,
  headers: readonly HeaderPair[] = [],
  body?: MessageBody,
): void {
  ask(step, { call, method, headers, body, isProved: false });
}

function ask(step: Step, asked: InDialogRequest, proof: readonly HeaderPair[] = []): void {
  const { call, method, headers, body } = asked;
  const branch = newBranch(step);
  call.localCSeq += 1;
  const all = [...headers, ...proof];
  const bytes = writeInDialog(call, { method, cseq: call.localCSeq, branch, headers: all, body });
  sendWithin(step, call, bytes);
  waitForAnswer(step, { branch, method, request: bytes, flow: call.flow, asked });
}

/** Waits for the answer to a request that was sent. */
export function waitForAnswer(
  { state, now }: Step,
  sent: Omit<ClientTransaction, 'ack' | 'repeatAt' | 'repeatMs' | 'endsAt'>,
): void {
  state.clients.set(sent.branch, {
    ...sent,
    ack: undefined,
    repeatMs: timers.t1,
    repeatAt: sent.flow.protocol === 'UDP' ? now + timers.t1 : undefined,
    endsAt: now + timers.giveUp,
  });
}

/** The header that answers a challenge; undefined where there is nothing to answer it with. */
export function proofFor(
  step: Step,
  response: SipResponse,
  what: { readonly account: SipAccount | undefined; readonly method: string; readonly uri: string },
): HeaderPair | undefined {
  const { account, method, uri } = what;
  const isAsked = response.status === 401 || response.status === 407;
  const challenge = isAsked && account !== undefined ? challengeOf(response) : undefined;
  if (challenge === undefined || account === undefined) return undefined;
  return proofOf(challenge, { ...account, method, uri, count: 1, cnonce: step.state.settings.newToken() });
}

/** A final answer to a request within a call that goes on. */
export interface Answered {
  readonly call: SipCall;
  readonly method: string;
  readonly response: SipResponse;
}

/** Every answer to an INVITE is acknowledged, and again where it comes again (RFC 3261, 13.2.2.4, 17.1.1.3). */
function acknowledge(step: Step, client: ClientTransaction, response: SipResponse): void {
  const { asked, branch, ack } = client;
  if (asked === undefined) return;
  const cseq = readCSeq(response)?.number ?? 0;
  const own = response.status < 300 ? newBranch(step) : branch;
  client.ack = ack ?? writeInDialog(asked.call, { method: 'ACK', cseq, branch: own });
  client.repeatAt = undefined;
  if (ack === undefined) client.endsAt = step.now + timers.giveUp;
  sendWithin(step, asked.call, client.ack);
}

export function responded(step: Step, response: SipResponse): Answered | undefined {
  const { state, now } = step;
  const branch = topVia(response)?.params.get('branch') ?? '';
  const client = state.clients.get(branch);
  if (client === undefined || readCSeq(response)?.method !== client.method) return undefined;
  const { status } = response;
  if (status < 200) {
    if (client.repeatAt !== undefined)
      client.repeatAt = client.method === 'INVITE' ? undefined : now + timers.t2;
    return undefined;
  }
  const wasAnswered = client.ack !== undefined;
  if (client.method === 'INVITE') acknowledge(step, client, response);
  else state.clients.delete(branch);
  if (wasAnswered) return undefined;
  const { asked } = client;
  if (asked === undefined) return undefined;
  const { call, method } = asked;
  const proof = proofFor(step, response, { account: call.account, method, uri: call.target });
  if (proof !== undefined && !asked.isProved) {
    ask(step, { ...asked, isProved: true }, [proof]);
    return undefined;
  }
  if (!state.calls.has(call.id)) return undefined;
  // The peer knows nothing of the call any more (RFC 3261, 12.2.1.2).
  if (status === 481 || status === 408) endCall(step, call, 'lost');
  else return { call, method, response };
  return undefined;
}

export function clientsInTime(step: Step): void {
  const { state, now } = step;
  for (const client of state.clients.values()) {
    if (now >= client.endsAt) {
      state.clients.delete(client.branch);
      if (client.asked !== undefined && client.ack === undefined) endCall(step, client.asked.call, 'lost');
    } else if (client.repeatAt !== undefined && now >= client.repeatAt) {
      step.actions.push({ type: 'send', flow: client.flow, to: client.flow.source, bytes: client.request });
      client.repeatMs = Math.min(client.repeatMs * 2, timers.t2);
      client.repeatAt = now + client.repeatMs;
    }
  }
}
