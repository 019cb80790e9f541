/** Drives the machine of one agent link: what the agent and the call do goes in, what is written and ordered comes out. */
import type { CallCommand } from '../../worker/core/commands.ts';
import type { ConversationEvent } from '../../worker/core/told.ts';
import { stepLink } from '../../worker/agent-link/link.ts';
import {
  newLink,
  type LinkInput,
  type LinkAction,
  type LinkSettings,
  type LinkState,
} from '../../worker/agent-link/link-state.ts';

export const linkSettings: LinkSettings = {
  sessionId: 'c1',
  agent: 'desk',
  capabilities: { transfer: false, tools: true },
  farewell: 'Goodbye.',
};

export type Written = Readonly<Record<string, unknown>> & { readonly type: string; readonly seq: number };

export class LinkDriver {
  readonly state: LinkState;
  now = 0;
  bufferedBytes = 0;
  readonly orders: LinkAction[] = [];

  constructor(state: LinkState = newLink(linkSettings, 0)) {
    this.state = state;
  }

  give(fact: LinkInput): LinkAction[] {
    const orders = stepLink(this.state, fact, { now: this.now, bufferedBytes: this.bufferedBytes });
    this.orders.push(...orders);
    return orders;
  }

  at(now: number): LinkAction[] {
    this.now = now;
    return this.give({ type: 'time.passed' });
  }

  says(message: unknown): LinkAction[] {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return this.give({ type: 'text.received', text });
  }

  told(event: ConversationEvent): Written[] {
    return written(this.give({ type: 'told', event }));
  }

  /** Up to the answer of the handshake. */
  opened(): this {
    this.give({ type: 'call.began' });
    this.give({ type: 'socket.opened' });
    return this;
  }

  accepted(fields: Readonly<Record<string, unknown>> = {}): this {
    this.opened().says({ type: 'session.accept', version: 1, ...fields });
    this.orders.length = 0;
    return this;
  }

  /** The core answers a command by the id that it was given. */
  answers(
    id: string,
    command: 'say' | 'edit' | 'end' | 'transfer',
    outcome: 'done' | 'dropped' | 'queue_full' | 'call_ending' | 'outcome_unknown',
  ) {
    return this.told({
      type: 'command.answered',
      id,
      command,
      outcome:
        outcome === 'done' || outcome === 'dropped' ? { kind: outcome } : { kind: 'refused', code: outcome },
    });
  }
}

/** What stands on the wire. */
export const written = (orders: readonly LinkAction[]): Written[] =>
  orders.flatMap((order) => (order.type === 'send' ? [JSON.parse(order.text) as Written] : []));

export const commandsOf = (orders: readonly LinkAction[]): { id: string; command: CallCommand }[] =>
  orders.flatMap((order) => (order.type === 'command' ? [{ id: order.id, command: order.command }] : []));

export const kinds = (orders: readonly LinkAction[]): string[] =>
  orders.map((order) => (order.type === 'news' ? order.news : order.type));
