/**
 * The tools of a scripted call: what the core ordered of them, and what they answer, also late, twice or never. They decide
 * nothing of their own.
 */
import assert from 'node:assert/strict';
import type { CallAction, ContextMessage } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { AbandonReason, RequestedCall, ToolOutcome } from '../../../worker/core/tools/tools-state.ts';

/** A call as a script writes it: the id is the name unless it is given, the arguments are none. */
export type ScriptedCall =
  string | { readonly name: string; readonly id?: string; readonly args?: object | string };

type RunOrder = Extract<CallAction, { type: 'tool.run' }>;

interface Run {
  readonly order: RunOrder;
  state: 'running' | 'settled' | 'lost' | AbandonReason;
}

export class ScriptedTools {
  readonly #tell: (event: CallEvent) => void;
  readonly #runs: Run[] = [];

  constructor(tell: (event: CallEvent) => void) {
    this.#tell = tell;
  }

  requested(call: ScriptedCall): RequestedCall {
    const { name, id, args = {} } = typeof call === 'string' ? { name: call } : call;
    return { id: id ?? name, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
  }

  perform(order: CallAction): void {
    if (order.type === 'tool.run') this.#runs.push({ order, state: 'running' });
    else if (order.type === 'tool.abandon') {
      const run = this.#runs.findLast(({ order: { key } }) => key === order.key);
      assert.equal(run?.state, 'running', 'only what runs can be given up');
      run.state = order.reason;
    }
  }

  /** Everything under way dies with its worker. */
  lose(): void {
    for (const run of this.#runs) if (run.state === 'running') run.state = 'lost';
  }

  get running(): string[] {
    return this.#runs.flatMap(({ order, state }) => (state === 'running' ? [order.call.name] : []));
  }

  /** Every run of the tool so far. */
  orders(name: string): RunOrder[] {
    return this.#runs.flatMap(({ order }) => (order.call.name === name ? [order] : []));
  }

  /** What the newest run of the tool was told when it was given up. */
  givenUp(name: string): string | undefined {
    return this.#newest(name).state;
  }

  answers(name: string, text: string): void {
    this.#settle(name, { kind: 'result', text });
  }

  fails(name: string, { transport = false }: { transport?: boolean } = {}): void {
    this.#settle(name, { kind: 'failed', message: 'it broke', transport });
  }

  #newest(name: string): Run {
    const run = this.#runs.findLast(({ order }) => order.call.name === name);
    assert.ok(run !== undefined, `${name} never ran`);
    return run;
  }

  /** The oldest run of the tool that is under way answers; without one, the newest does so once more. */
  #settle(name: string, outcome: ToolOutcome): void {
    const waiting = this.#runs.find(({ order, state }) => order.call.name === name && state === 'running');
    const run = waiting ?? this.#newest(name);
    if (run.state === 'running') run.state = 'settled';
    const { key, attempt } = run.order;
    this.#tell({ type: 'tool.settled', key, attempt, outcome });
  }
}

/** Messages behind the prompt, a line each. */
export const seen = (messages: readonly ContextMessage[]): string[] =>
  messages.slice(messages[0]?.role === 'system' ? 1 : 0).map(shownMessage);

function shownMessage(message: ContextMessage): string {
  const { text } = message;
  if (message.role === 'tool') return `${message.callId}: ${brief(text)}`;
  if (message.role !== 'assistant') return message.role === 'user' ? `user: ${text}` : `note: ${brief(text)}`;
  if (message.toolCalls === undefined) return `assistant: ${text}`;
  const thought = message.reasoning === undefined ? '' : ` (${message.reasoning.data})`;
  const calls = message.toolCalls.map(({ id, name }) => (id === name ? name : `${name}#${id}`));
  return `assistant:${text === '' ? '' : ` ${text}`} -> ${calls.join(', ')}${thought}`;
}

/** Errors by their code, and what is still under way by that word. */
const brief = (text: string): string =>
  text
    .replace(/\{"error":\{"code":"(\w+)".*\}\}/, '!$1')
    .replace(/\{"status":"running".*\}/, 'still running');
