/** A handshake with an agent process and nothing after it, for whoever wants to know whether it answers. */
import type { ReadAccept } from '../../shared/agent-link/handshake.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AgentSocket, Dial } from './agent-socket.ts';
import { stepLink } from './link.ts';
import { newLink, type LinkFact, type LinkOrder, type LinkSettings } from './link-state.ts';

/** What the agent accepted, or why there is no link. */
export type ProbedAgent = { readonly accept: ReadAccept } | { readonly why: string };

const tickMs = 50;

/** The agent sees a call that ends as soon as it was accepted. Answers within the limits of the handshake. */
export function probeAgent(dial: Dial, settings: LinkSettings, clock: Clock): Promise<ProbedAgent> {
  const state = newLink(settings, clock.now());
  let socket: AgentSocket | undefined;
  let why = '';
  return new Promise((resolve) => {
    const give = (fact: LinkFact): void => {
      for (const order of stepLink(state, fact, { now: clock.now(), bufferedBytes: 0 })) perform(order);
    };
    const perform = (order: LinkOrder): void => {
      if (order.type === 'connect')
        socket = dial(clock, {
          opened: () => give({ type: 'socket.opened' }),
          text: (text) => give({ type: 'text.received', text }),
          binary: () => give({ type: 'binary.received' }),
          ping: (data) => socket?.pong(data),
          pong: () => undefined,
          closed: (reason) => give({ type: 'socket.closed', why: reason }),
        });
      else if (order.type === 'send') socket?.send(order.text);
      else if (order.type === 'close') socket?.close(order.code, order.reason);
      else if (order.type === 'news') why = order.why;
      else if (order.type === 'call.prepared') {
        resolve(order.accept === undefined ? { why } : { accept: order.accept });
        clock.after(0, () => give({ type: 'call.ended', reason: 'call_ended' }));
      }
    };
    const tick = (): void => {
      if (state.phase.type !== 'connecting' && state.phase.type !== 'handshaking') return;
      give({ type: 'time.passed' });
      clock.after(tickMs, tick);
    };
    give({ type: 'call.began' });
    tick();
  });
}
