/**
 * One call: from its `session.start` to its end, over one link or several. Knows no socket.
 *
 * Invariants: nothing that a handler or the service does throws out of here; `session.end` is told exactly once; commands that wait and
 * tools that run are settled at the end.
 */
import type { Connection } from './connection.ts';
import { Commands } from './commands.ts';
import { acceptText, toolsOf, type AgentDefinition, type Opening } from './definition.ts';
import { CallEnded, RejectCall } from './errors.ts';
import { eventOf, isEventType, type AgentEvent } from './events.ts';
import { reacting } from './reaction.ts';
import { readServiceMessage, type Received } from './reading.ts';
import { Session, type SessionFacts } from './session.ts';
import { ToolRuns } from './tools/tool-runs.ts';
import type { SessionRejectMessage } from './wire/agent-messages.ts';
import { closeCodes, times } from './wire/constants.ts';
import type { SessionStartMessage } from './wire/service-messages.ts';

/** What a start handler gets; the service waits for 2 s in all. */
export const startHandlerMs = 1_500;
/** A little longer than the service tries to take a call up again. */
export const parkedMs = times.resumeLimitMs + 5_000;
/** Handlers of one call that have not settled yet; beyond it events are left out. */
const mostHandlers = 256;
/** Messages of one call that may be out of order; more close the link. */
const mostFaults = 16;

export const rejectText = (code: string, message: string): string =>
  JSON.stringify({ type: 'session.reject', code, message } satisfies SessionRejectMessage);

export interface CallLinkOptions {
  readonly agent: AgentDefinition;
  /** With `resume`: another process had the call. */
  readonly start: SessionStartMessage;
  readonly path: string;
  /** Called once, when nothing of the call is left. */
  readonly onOver: () => void;
}

/** What is surely there of `resume`: a service that does not say which calls are pending may wait for all of them. */
type ReadResume = Pick<ResumeOfStart, 'previous_seq'> &
  Partial<Pick<ResumeOfStart, 'pending' | 'replay_from' | 'lost'>>;
type ResumeOfStart = NonNullable<SessionStartMessage['resume']>;

/** The link before the newest one as the service names it, and what of it was seen. */
interface LinkBefore {
  readonly previousSeq: number;
  readonly seen: number | undefined;
}

type Phase = 'starting' | 'active' | 'parked' | 'over';

export class CallLink {
  readonly session: Session;
  readonly #options: CallLinkOptions;
  readonly #ending = new AbortController();
  readonly #commands = new Commands((text) => this.#write(text));
  #tools: ToolRuns;
  #connection: Connection | undefined;
  #phase: Phase = 'starting';
  #parked: NodeJS.Timeout | undefined;
  /** Newest message of the newest link that was seen. */
  #seq = 0;
  #before: LinkBefore | undefined;
  /** Nothing but its opening was seen of the newest link: the service may not know that it was accepted. */
  #isFresh = false;
  #tMs = 0;
  #handlers = 0;
  #faults = 0;
  #endReason: string | undefined;

  constructor(connection: Connection, options: CallLinkOptions) {
    this.#connection = connection;
    this.#options = options;
    this.session = new Session(factsOf(options), {
      signal: this.#ending.signal,
      send: (command) => this.#commands.send(command),
      endReason: () => this.#endReason,
    });
    this.#tools = this.#toolRuns(options.agent.opening);
  }

  get #logger(): AgentDefinition['logger'] {
    return this.#options.agent.logger;
  }

  #toolRuns(opening: Opening): ToolRuns {
    const { agent } = this.#options;
    const write = (text: string): void => this.#write(text);
    return new ToolRuns({
      session: this.session,
      tools: toolsOf(agent, opening),
      logger: agent.logger,
      write,
    });
  }

  /** Answers the `session.start` of a call that is new here, after the start handler if there is one. */
  async start(received: Received): Promise<void> {
    const { agent } = this.#options;
    try {
      const opening = { ...agent.opening, ...(await this.#opening()) };
      const text = acceptText(agent, opening);
      if (this.#phase !== 'starting') return;
      this.#tools = this.#toolRuns(opening);
      this.#phase = 'active';
      const { isContinued } = this.session;
      const { resume } = this.#options.start;
      this.#opened(received.seq, resume && { previousSeq: resume.previous_seq, seen: undefined });
      this.#write(isContinued ? JSON.stringify({ type: 'session.accept', version: 1 }) : text);
      this.#commands.sendAll();
      this.#logger.info(isContinued ? 'a call goes on here' : 'a call began', { session: this.session.id });
      if (!isContinued) this.#tell(received);
    } catch (error) {
      this.#reject(error);
    }
  }

  /** What the start handler wants. Rejects when it throws or is late. */
  async #opening(): Promise<Opening> {
    const { startHandler } = this.#options.agent;
    if (startHandler === undefined) return {};
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the start handler took more than ${startHandlerMs} ms`)),
        startHandlerMs,
      );
    });
    try {
      return (await Promise.race([Promise.resolve(startHandler(this.session)), late])) ?? {};
    } finally {
      clearTimeout(timer);
    }
  }

  #reject(error: unknown): void {
    if (this.#phase !== 'starting') return;
    const { code, message } =
      error instanceof RejectCall
        ? error
        : { code: 'agent_failed', message: 'the agent could not take the call' };
    if (error instanceof RejectCall)
      this.#logger.info('a call was rejected', { session: this.session.id, code });
    else this.#logger.error('a call could not be started', { session: this.session.id, error });
    this.#send(rejectText(code, message));
    this.#connection?.close(closeCodes.normal, 'rejected');
    this.#over();
  }

  #opened(seq: number, before: LinkBefore | undefined): void {
    this.#seq = seq;
    this.#isFresh = true;
    this.#before = before;
  }

  /** What was seen of the link that the service names as the one before. */
  #seenOf(previousSeq: number): number | undefined {
    return this.#isFresh && this.#before?.previousSeq === previousSeq ? this.#before.seen : this.#seq;
  }

  /** Takes the call up again on a new link. */
  resume(connection: Connection, { message, seq }: Received): void {
    if (message.type !== 'session.start' || message.resume === undefined) return;
    const { previous_seq: previousSeq, replay_from, lost = 0, pending } = message.resume as ReadResume;
    const seen = this.#seenOf(previousSeq);
    const oldest = Math.min(replay_from ?? previousSeq + 1, previousSeq + 1);
    const gone = seen === undefined ? 0 : Math.max(0, oldest - seen - 1);
    this.#opened(seq, { previousSeq, seen });
    clearTimeout(this.#parked);
    const before = this.#connection;
    this.#connection = connection;
    before?.close(closeCodes.normal, 'taken up again on another link');
    this.#phase = 'active';
    this.#send(JSON.stringify({ type: 'session.accept', version: 1, last_seq: seen }));
    this.#tools.settleOthers(pending);
    this.#tools.sendAgain(pending);
    this.#commands.sendAll();
    this.#logger.info('a call was taken up again', { session: this.session.id });
    this.#tellAll({ type: 'session.resume', lost: lost + gone, seq, tMs: 0 });
  }

  /** Whether it can be taken up on a new link. */
  get canResume(): boolean {
    return this.#options.agent.resume && (this.#phase === 'parked' || this.#phase === 'active');
  }

  text(connection: Connection, text: string): void {
    if (connection !== this.#connection || this.#phase === 'over') return;
    const reading = readServiceMessage(text);
    if (reading.kind === 'bad') {
      this.#fault(reading.rule);
      return;
    }
    if (reading.kind === 'unknown') {
      this.#saw(reading.seq ?? 0);
      return;
    }
    const { message, seq } = reading;
    if (this.#phase === 'active' && seq <= this.#seq) return;
    if (message.type === 'session.end') {
      this.#finish(reading, message.reason);
      return;
    }
    if (this.#phase !== 'active') return;
    this.#saw(seq);
    this.#tMs = reading.tMs;
    switch (message.type) {
      case 'session.start': {
        this.#fault(`${message.type}: comes first or not at all`);
        return;
      }
      case 'tool.call':
        this.#tools.start(message, seq);
        break;
      case 'tool.cancel':
        this.#tools.cancel(message.id, message.reason);
        break;
      case 'command.result':
        this.#commands.settle(message);
        break;
      case 'error':
        if (message.stage === 'agent_link')
          this.#logger.warn('the service refused something', {
            session: this.session.id,
            rule: message.message,
          });
        break;
      default:
        break;
    }
    this.#tell(reading);
  }

  #saw(seq: number): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#isFresh = false;
  }

  binary(connection: Connection): void {
    if (connection === this.#connection) this.#fault('binary frames are not part of the protocol');
  }

  /** The link is gone without `session.end`. */
  closed(connection: Connection): void {
    if (connection !== this.#connection || this.#phase === 'over') return;
    this.#connection = undefined;
    if (this.#phase === 'active' && this.#options.agent.resume) {
      this.#phase = 'parked';
      this.#logger.warn('a link broke; the call waits to be taken up again', { session: this.session.id });
      this.#parked = setTimeout(() => this.#lose(), parkedMs);
      this.#parked.unref();
    } else this.#lose();
  }

  /** Ends the call on this side, whatever the service thinks of it. */
  abandon(): void {
    if (this.#phase === 'over') return;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close(closeCodes.normal, 'the agent stops');
    this.#lose();
  }

  #lose(): void {
    const message = { type: 'session.end', reason: 'link_lost' } as const;
    this.#finish({ message, seq: this.#seq, tMs: this.#tMs }, 'link_lost');
  }

  #finish(received: Received, reason: string): void {
    const wasTaken = this.#phase !== 'starting';
    const connection = this.#connection;
    this.#endReason = reason;
    this.#over();
    connection?.close(closeCodes.normal, '');
    if (!wasTaken) return;
    this.#logger.info('a call ended', { session: this.session.id, reason });
    this.#tell(received);
  }

  #over(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearTimeout(this.#parked);
    this.#connection = undefined;
    this.#commands.close();
    this.#tools.close();
    this.#ending.abort(new Error('the call is over'));
    this.#options.onOver();
  }

  /** Calls the handlers of an event in the order in which they were declared. */
  #tell(received: Received): void {
    const { type } = received.message;
    if (isEventType(type) && this.#options.agent.handlersOf(type).length > 0)
      this.#tellAll(eventOf(received));
  }

  #tellAll(event: AgentEvent): void {
    for (const handler of this.#options.agent.handlersOf(event.type)) this.#handle(handler, event);
  }

  #handle(handler: (event: AgentEvent, session: Session) => unknown, event: AgentEvent): void {
    if (this.#handlers >= mostHandlers && event.type !== 'session.end') {
      this.#logger.warn('an event was left out: too many handlers have not settled', {
        session: this.session.id,
      });
      return;
    }
    const { session } = this;
    this.#handlers += 1;
    const perform = async (): Promise<void> => {
      await reacting({ session, seq: event.seq }, () => handler(event, session));
    };
    perform()
      .catch((error: unknown) => {
        // Nobody waits for the outcome of a command once the call is over.
        if (!this.session.signal.aborted || !(error instanceof CallEnded))
          this.#logger.error('a handler failed', { session: session.id, event: event.type, error });
      })
      .finally(() => (this.#handlers -= 1));
  }

  #fault(rule: string): void {
    this.#faults += 1;
    this.#logger.warn('a message was left out', { session: this.session.id, rule });
    if (this.#faults > mostFaults) this.#connection?.close(closeCodes.violation, 'too many faults');
  }

  /** Sends when there is a link that the agent has accepted. */
  #write(text: string): void {
    if (this.#phase === 'active') this.#send(text);
  }

  #send(text: string): void {
    this.#connection?.send(text);
  }
}

/** The reader looks no deeper than the fields of a message. */
const isTrue = (value: unknown): boolean => value === true;

function factsOf({ start, path }: CallLinkOptions): SessionFacts {
  const { call, route, session: signed, metadata = {} } = start;
  const [pathname = '', ...query] = path.split('?');
  return {
    id: start.session_id,
    agent: start.agent,
    path: pathname,
    query: Object.fromEntries(new URLSearchParams(query.join('?'))),
    isContinued: start.resume !== undefined,
    route,
    signed,
    metadata,
    caller: call && {
      number: call.from,
      calledNumber: call.to,
      carrierCallId: call.carrier_call_id,
      carrier: call.carrier,
    },
    capabilities: {
      transfer: isTrue(start.capabilities.transfer),
      tools: isTrue(start.capabilities.tools),
    },
  };
}
