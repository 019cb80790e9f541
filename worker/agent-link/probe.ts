/** A handshake with an agent process and nothing after it, for commands that ask whether it answers. */
import type { ReadAccept } from '../../shared/agent-link/handshake.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AgentSocket, Dial } from './agent-socket.ts';
import { stepLink } from './link.ts';
import { newLink, type LinkInput, type LinkAction, type LinkSettings } from './link-state.ts';

/** What the agent accepted, or why there is no link. */
export type ProbedAgent = { readonly accept: ReadAccept } | { readonly why: string };

const tickMs = 50;

/** The agent sees a call that ends as soon as it was accepted. Answers within the limits of the handshake. */
export function probeAgent(dial: Dial, settings: LinkSettings, clock: Clock): Promise<ProbedAgent> {
  const state = newLink(settings, clock.now());
  let socket: AgentSocket | undefined;
  let why = '';
  return new Promise((resolve) => {
    const give = (input: LinkInput): void => {
      for (const action of stepLink(state, input, { now: clock.now(), bufferedBytes: 0 })) perform(action);
    };
    const perform = (action: LinkAction): void => {
      if (action.type === 'connect')
        socket = dial(clock, {
          opened: () => give({ type: 'socket.opened' }),
          text: (text) => give({ type: 'text.received', text }),
          binary: () => give({ type: 'binary.received' }),
          ping: (data) => socket?.pong(data),
          pong: () => undefined,
          closed: (reason) => give({ type: 'socket.closed', why: reason }),
        });
      else if (action.type === 'send') socket?.send(action.text);
      else if (action.type === 'close') socket?.close(action.code, action.reason);
      else if (action.type === 'news') why = action.why;
      else if (action.type === 'call.prepared') {
        resolve(action.accept === undefined ? { why } : { accept: action.accept });
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
