/** One call, as an application sees it. */
import type { Command } from './command-rules.ts';
import type { SignedSession } from './events.ts';
import type { JsonValue } from './wire/agent-messages.ts';
import { reactionOf } from './reaction.ts';

/** A message of the conversation. */
export interface ContextMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

/** Who calls, as far as the service says; numbers are withheld while it redacts them. */
export interface Caller {
  readonly number: string | undefined;
  readonly calledNumber: string | undefined;
  readonly carrierCallId: string | undefined;
  /** How the call came: `carrier_a`, `carrier_b` or `sip`. */
  readonly carrier: string | undefined;
}

/** What is known of a call from its start. */
export interface SessionFacts {
  readonly id: string;
  /** Name of the agent in the service's agent file. */
  readonly agent: string;
  /** Path of the URL by which the service reached this agent: what a route of `[[agent_link.routes]]` says. */
  readonly path: string;
  /** Query of that URL. */
  readonly query: Readonly<Record<string, string>>;
  /** The route of the service's agent file that led here; undefined for the default process. */
  readonly route: string | undefined;
  /** What the verified session token of the call says; undefined for a call without one. */
  readonly signed: SignedSession | undefined;
  /** What the client says of itself; nobody has checked it. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Who calls; undefined unless the service sends it (`caller_identity`). */
  readonly caller: Caller | undefined;
  readonly capabilities: { readonly transfer: boolean; readonly tools: boolean };
  /**
   * The call began with another process, which is gone: what that one knew of it is lost, and what the start handler returns but tools
   * does not count any more.
   */
  readonly isContinued: boolean;
}

export interface TransferOptions {
  /** `cold` leaves the call to the destination; `warm` brings it in. Default `cold`. */
  readonly mode?: 'cold' | 'warm';
  /** For the destination; at most 512 bytes. */
  readonly summary?: string;
  /** At most 512 bytes. */
  readonly reason?: string;
  /** At most 64 bytes. The same id again is the same transfer: give your own to repeat one whose outcome was lost. */
  readonly commandId?: string;
}

/**
 * A call. Every command resolves when the service has done it and rejects with `CommandRefused` otherwise; after the end of the call it is
 * `CallEnded`. A rejection that nobody handles does no harm.
 */
export class Session implements SessionFacts {
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly route: string | undefined;
  readonly signed: SignedSession | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly caller: Caller | undefined;
  readonly capabilities: { readonly transfer: boolean; readonly tools: boolean };
  readonly isContinued: boolean;
  /** Aborts when the call is over. */
  readonly signal: AbortSignal;
  /** Whatever the application wants to remember of this call. */
  readonly data: Record<string, unknown> = {};
  readonly #send: (command: Command) => Promise<void>;
  readonly #endReason: () => string | undefined;

  constructor(
    facts: SessionFacts,
    options: {
      signal: AbortSignal;
      send: (command: Command) => Promise<void>;
      endReason: () => string | undefined;
    },
  ) {
    this.id = facts.id;
    this.agent = facts.agent;
    this.path = facts.path;
    this.query = facts.query;
    this.route = facts.route;
    this.signed = facts.signed;
    this.metadata = facts.metadata;
    this.caller = facts.caller;
    this.capabilities = facts.capabilities;
    this.isContinued = facts.isContinued;
    this.signal = options.signal;
    this.#send = options.send;
    this.#endReason = options.endReason;
  }

  /** Why the call is over; undefined as long as it is not. */
  get endReason(): string | undefined {
    return this.#endReason();
  }

  /**
   * The agent says the text, 1 to 4096 bytes, word for word. It waits for the caller and for a running response; with `interrupt` it cuts
   * the response, never the caller.
   */
  say(text: string, { interrupt }: { readonly interrupt?: boolean } = {}): Promise<void> {
    return this.#command({ type: 'say', text, ...(interrupt !== undefined && { interrupt }) });
  }

  /** Ends the call after the farewell `say` (absent: the agent file's; empty: none). Resolves when the call is being ended. */
  end({ say, reason }: { readonly say?: string; readonly reason?: string } = {}): Promise<void> {
    return this.#command({
      type: 'end',
      ...(say !== undefined && { say }),
      ...(reason !== undefined && { reason }),
    });
  }

  /** Transfers the call to an E.164 number, after the agent's sentence. Refused with `unsupported` where `capabilities.transfer` is false. */
  transfer(destination: string, { commandId, mode, summary, reason }: TransferOptions = {}): Promise<void> {
    return this.#command({
      type: 'transfer',
      destination,
      ...(commandId !== undefined && { id: commandId }),
      ...(mode !== undefined && { mode }),
      ...(summary !== undefined && { summary }),
      ...(reason !== undefined && { reason }),
    });
  }

  /** Edits the conversation before the next response: all of it or nothing. At most 32 messages. */
  updateContext(edit: {
    readonly systemPrompt?: string;
    readonly append?: readonly ContextMessage[];
  }): Promise<void> {
    const { systemPrompt, append } = edit;
    return this.#command({
      type: 'context.update',
      ...(systemPrompt !== undefined && { system_prompt: systemPrompt }),
      ...(append !== undefined && { append }),
    });
  }

  /** Offers only these tools, the service's and the agent's; null offers all of them again. */
  setTools(enabled: readonly string[] | null): Promise<void> {
    return this.#command({ type: 'tools.set', enabled });
  }

  /**
   * Sends any JSON to the program of the caller, a page for example; with `answers`, an event `client.message`, it is the answer to it.
   * Refused with `unsupported` where the caller has no such program.
   */
  sendToClient(
    data: JsonValue,
    { answers }: { readonly answers?: { readonly messageId: string; readonly name: string } } = {},
  ): Promise<void> {
    return this.#command({
      type: 'client.send',
      data,
      ...(answers !== undefined && { answers: answers.messageId, name: answers.name }),
    });
  }

  #command(command: Command): Promise<void> {
    const re = reactionOf(this);
    return this.#send(re === undefined ? command : { ...command, re });
  }
}
