/** Requests of this side within a call (RFC 3261, 17.1.2): repeated over UDP until an answer comes, given up after 32 s. */
import type { SipResponse } from '../message/message.ts';
import { readCSeq, readNameAddr, readUri, topVia } from '../message/fields.ts';
import { writeRequest, type HeaderPair, type Source } from '../message/write.ts';
import { endCall, timers, type SipCall, type Step } from './state.ts';

/** Text of `host` in addresses. */
export const hostText = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Where this side is reached within a call. A peer that asked for `sips` is given nothing less (RFC 3261, 12.1.1). */
export function contactOf({ invite, flow }: Pick<SipCall, 'invite' | 'flow'>): string {
  const { local, protocol } = flow;
  const at = `${hostText(local.address)}:${local.port}`;
  if (protocol === 'TLS' && /^sips:/i.test(invite.uri)) return `<sips:${at}>`;
  return `<sip:${at}${protocol === 'UDP' ? '' : `;transport=${protocol.toLowerCase()}`}>`;
}

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

/** Sends a request to where the peer sends from: its own idea of its address may lie behind a translation. */
export function request(
  step: Step,
  call: SipCall,
  method: string,
  headers: readonly HeaderPair[] = [],
): void {
  const { state, now } = step;
  const { flow } = call;
  const branch = `z9hG4bK${state.settings.newToken()}`;
  call.localCSeq += 1;
  const bytes = writeRequest({ method, uri: call.target }, [
    [
      'Via',
      `SIP/2.0/${flow.protocol} ${hostText(flow.local.address)}:${flow.local.port};rport;branch=${branch}`,
    ],
    ['Max-Forwards', '70'],
    ...call.routes.map((route): HeaderPair => ['Route', route]),
    ['From', `${call.localAddress};tag=${call.localTag}`],
    ['To', `${call.remoteAddress};tag=${call.remoteTag}`],
    ['Call-ID', call.callId],
    ['CSeq', `${call.localCSeq} ${method}`],
    ...headers,
  ]);
  const orAt = listensAt(call);
  step.actions.push({ type: 'send', flow, to: flow.source, bytes, ...(orAt !== undefined && { orAt }) });
  state.clients.set(branch, {
    branch,
    method,
    request: bytes,
    flow,
    call: call.id,
    repeatMs: timers.t1,
    repeatAt: flow.protocol === 'UDP' ? now + timers.t1 : undefined,
    endsAt: now + timers.giveUp,
  });
}

export function responded(step: Step, response: SipResponse): void {
  const { state, now } = step;
  const branch = topVia(response)?.params.get('branch') ?? '';
  const client = state.clients.get(branch);
  if (client === undefined || readCSeq(response)?.method !== client.method) return;
  if (response.status < 200) {
    if (client.repeatAt !== undefined) client.repeatAt = now + timers.t2;
    return;
  }
  state.clients.delete(branch);
  const call = state.calls.get(client.call);
  // The peer knows nothing of the call any more (RFC 3261, 12.2.1.2).
  if (call !== undefined && (response.status === 481 || response.status === 408)) endCall(step, call, 'lost');
}

export function clientsInTime(step: Step): void {
  const { state, now } = step;
  for (const client of state.clients.values()) {
    if (now >= client.endsAt) {
      state.clients.delete(client.branch);
      const call = state.calls.get(client.call);
      if (call !== undefined) endCall(step, call, 'lost');
    } else if (client.repeatAt !== undefined && now >= client.repeatAt) {
      step.actions.push({ type: 'send', flow: client.flow, to: client.flow.source, bytes: client.request });
      client.repeatMs = Math.min(client.repeatMs * 2, timers.t2);
      client.repeatAt = now + client.repeatMs;
    }
  }
}
