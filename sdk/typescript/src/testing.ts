/**
 * Calls without a service, for tests of agents. A scripted call plays the service's side of one link in memory: it starts the call, sends
 * what a test says, and answers commands as the service would.
 */
import type { Agent } from './agent.ts';
import { brokenRule, type Command } from './command-rules.ts';
import type { ConnectionEvents } from './connection.ts';
import { CallHost } from './host.ts';
import type { AgentMessage, SessionAcceptMessage, SessionRejectMessage } from './wire/agent-messages.ts';
import { PROTOCOL, PROTOCOL_VERSIONS } from './wire/constants.ts';
import type { ServiceMessage, SessionStartMessage } from './wire/service-messages.ts';

export type { Command } from './command-rules.ts';
export type { ServiceMessage } from './wire/service-messages.ts';

export interface ScriptedCallOptions {
  /** Path and query of the agent's URL. Default `/`. */
  readonly path?: string;
  /** Default: one of its own. */
  readonly sessionId?: string;
  /** Who calls, as it stands on the wire. */
  readonly caller?: NonNullable<SessionStartMessage['call']>;
  /** The route of the service's agent file that led to the agent. */
  readonly route?: string;
  /** What the session token of the call says. */
  readonly session?: NonNullable<SessionStartMessage['session']>;
  /** What the client says of itself. */
  readonly metadata?: NonNullable<SessionStartMessage['metadata']>;
  /** Whether the call can be transferred; where it cannot, `transfer` is refused. Default true. */
  readonly canTransfer?: boolean;
}

/** What became of a tool call: what the LLM would be told. */
export type ToolOutcome =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly error: string; readonly result?: undefined };

export interface ResumeOptions {
  readonly lost?: number;
  readonly pending?: readonly number[];
}

type ToolResult = Extract<AgentMessage, { type: 'tool.result' }>;

const isCommand = (message: AgentMessage): message is Command =>
  !['session.accept', 'session.reject', 'tool.result'].includes(message.type);

let calls = 0;

/** Thrown by `ScriptedCall.start` when the agent rejects the call. */
export class CallRejected extends Error {
  override readonly name = 'CallRejected';
  readonly code: string;

  constructor({ code = '', message = '' }: SessionRejectMessage) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

export class ScriptedCall {
  /** Every command so far, in order. */
  readonly commands: Command[] = [];
  /** What the agent answered to `session.start`. */
  accept: SessionAcceptMessage = { type: 'session.accept', version: 1 };
  readonly #host = new CallHost({ mostCalls: 1 });
  readonly #agent: Agent;
  readonly #options: ScriptedCallOptions;
  readonly #sessionId: string;
  readonly #results = new Map<number, ToolResult>();
  readonly #waiting = new Set<() => void>();
  readonly #refusals = new Map<Command['type'], string[]>();
  #link: ConnectionEvents | undefined;
  #rejected: SessionRejectMessage | undefined;
  readonly #untaken: Command[] = [];
  #seq = 0;
  #epoch = 0;
  #toolCalls = 0;
  #isAccepted = false;
  #isResumed = false;
  #isClosed = false;

  private constructor(agent: Agent, options: ScriptedCallOptions) {
    this.#agent = agent;
    this.#options = options;
    this.#sessionId = options.sessionId ?? `scripted-${(calls += 1)}`;
  }

  /** A call that the agent has taken. Rejects with `CallRejected` when it does not. */
  static async start(agent: Agent, options: ScriptedCallOptions = {}): Promise<ScriptedCall> {
    const call = new ScriptedCall(agent, options);
    call.#open();
    call.send(call.#offer());
    await call.#until(() => call.#isAccepted || call.#isClosed);
    if (call.#rejected !== undefined) throw new CallRejected(call.#rejected);
    return call;
  }

  #offer(): SessionStartMessage {
    const { canTransfer = true, caller, route, session, metadata } = this.#options;
    const { name } = this.#agent;
    const capabilities = { transfer: canTransfer, tools: true };
    return {
      type: 'session.start',
      protocol: PROTOCOL,
      versions: PROTOCOL_VERSIONS,
      session_id: this.#sessionId,
      agent: name,
      capabilities,
      ...(route !== undefined && { route }),
      ...(session && { session }),
      ...(metadata && { metadata }),
      ...(caller && { call: caller }),
    };
  }

  #open(): void {
    this.#isClosed = false;
    this.#isAccepted = false;
    const { path = '/' } = this.#options;
    const link: ConnectionEvents = this.#host.open(
      {
        send: (text) => queueMicrotask(() => this.#take(JSON.parse(text) as AgentMessage)),
        close: () => {
          if (this.#link === link) this.#isClosed = true;
          this.#changed();
          link.closed();
        },
      },
      { agent: this.#agent.definition, path },
    );
    this.#link = link;
  }

  #take(message: AgentMessage): void {
    if (message.type === 'session.accept') {
      if (!this.#isResumed) this.accept = message;
      this.#isAccepted = true;
    } else if (message.type === 'session.reject') this.#rejected = message;
    else if (message.type === 'tool.result') this.#results.set(message.id, message);
    else if (isCommand(message)) this.#obey(message);
    this.#changed();
  }

  #obey(command: Command): void {
    this.commands.push(command);
    this.#untaken.push(command);
    const { id } = command;
    if (id === undefined) return;
    const code = this.#refusals.get(command.type)?.shift() ?? this.#refusal(command);
    if (code === undefined) this.send({ type: 'command.result', id, ok: true });
    else
      this.send({ type: 'command.result', id, ok: false, error: { code, message: 'refused by the script' } });
    if (code === undefined && command.type === 'end') this.hangUp('ended_by_agent');
  }

  #refusal(command: Command): string | undefined {
    if (brokenRule(command) !== undefined) return 'invalid_message';
    return command.type === 'transfer' && this.#options.canTransfer === false ? 'unsupported' : undefined;
  }

  /** The next command of this type is refused with this code. */
  refuse(type: Command['type'], code: string): void {
    this.#refusals.set(type, [...(this.#refusals.get(type) ?? []), code]);
  }

  /** Sends any message of the service. */
  send(message: ServiceMessage): void {
    this.#seq += 1;
    this.#link?.text(JSON.stringify({ seq: this.#seq, t_ms: this.#seq * 20, ...message }));
  }

  /** The caller says something, and the turn ends. Returns its epoch. */
  userSays(text: string): number {
    const epoch = (this.#epoch += 1);
    this.send({ type: 'turn.user_started', epoch });
    this.send({ type: 'user.transcript', text, final: true });
    this.send({ type: 'turn.user_ended', epoch });
    this.send({ type: 'user.text', epoch, text });
    return epoch;
  }

  /** The caller speaks while the agent does. Returns the epoch that the call moved to. */
  interrupt(): number {
    const epoch = (this.#epoch += 1);
    this.send({ type: 'turn.interrupted', epoch });
    this.send({ type: 'turn.user_started', epoch });
    return epoch;
  }

  /** The LLM calls a tool. Resolves with what it would be told; for a tool that the call does not have, at once. */
  async callTool(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<ToolOutcome> {
    const tool = this.accept.tools?.find((each) => each.name === name);
    if (tool === undefined) return { error: 'unknown_tool' };
    const id = (this.#toolCalls += 1);
    this.send({
      type: 'tool.call',
      id,
      call_id: `call_${id}`,
      name,
      arguments: args,
      kind: tool.kind ?? 'read_only',
      epoch: this.#epoch,
      idempotency_key: id.toString(16).padStart(16, '0'),
      timeout_ms: tool.timeout_ms ?? 5_000,
    });
    await this.#until(() => this.#results.has(id) || this.#isClosed);
    const { result, error } = this.#results.get(id) ?? { error: 'the call is over' };
    return error === undefined ? { result } : { error };
  }

  /** The oldest command that was not yet taken. Waits for it. */
  nextCommand(): Promise<Command> {
    return this.#taken(() => true);
  }

  /** The oldest command of this type that was not yet taken. Waits for it. */
  async expect<Type extends Command['type']>(type: Type): Promise<Extract<Command, { type: Type }>> {
    const command = await this.#taken((each) => each.type === type);
    return command as Extract<Command, { type: Type }>;
  }

  async #taken(fits: (command: Command) => boolean): Promise<Command> {
    await this.#until(() => this.#untaken.some(fits) || this.#isClosed);
    const at = this.#untaken.findIndex(fits);
    const [command] = at < 0 ? [] : this.#untaken.splice(at, 1);
    if (command === undefined) throw new Error('the call is over and no such command is left');
    return command;
  }

  /** The connection is gone without a word; `resume` takes the call up again. */
  breakLink(): void {
    const before = this.#link;
    this.#link = undefined;
    this.#isClosed = true;
    before?.closed();
    this.#changed();
  }

  /**
   * A new connection for the same call, of which the agent missed `lost` events; `pending` tool calls still wait. Resolves when the agent
   * has taken the call up again, rejects when it does not.
   */
  async resume({ lost = 0, pending = [] }: ResumeOptions = {}): Promise<void> {
    this.breakLink();
    const previous_seq = this.#seq;
    this.#isResumed = true;
    this.#seq = 0;
    this.#open();
    const kept = { replay_from: previous_seq + 1, lost, pending };
    this.send({ ...this.#offer(), resume: { attempt: 1, previous_seq, down_ms: 0, ...kept } });
    await this.#until(() => this.#isAccepted || this.#isClosed);
    if (this.#rejected !== undefined) throw new CallRejected(this.#rejected);
  }

  /** The call ends. */
  hangUp(reason = 'hangup'): void {
    this.send({ type: 'session.end', reason });
  }

  /** Whether the link is closed. */
  get isOver(): boolean {
    return this.#isClosed;
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }
}
