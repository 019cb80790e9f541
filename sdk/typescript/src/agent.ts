/** The agent: what it says and can do, declared once, for all calls. */
import { acceptText, type AgentDefinition, type Opening, type StartHandler } from './definition.ts';
import {
  isChosenEvent,
  isEventType,
  type AgentEvent,
  type AgentEvents,
  type AgentEventType,
} from './events.ts';
import { consoleLogger, guarded, type Logger } from './log.ts';
import type { Arguments, Parameters } from './schema.ts';
import { listen, type AgentServer, type ListenOptions } from './server.ts';
import type { Session } from './session.ts';
import { declareTool, type Tool, type ToolCall, type ToolOptions } from './tools/tool.ts';
import { limits } from './wire/constants.ts';

export interface AgentOptions extends Omit<Opening, 'tools'> {
  readonly name: string;
  /** The state of a call outlives a broken link, and the service takes it up again. Default true. */
  readonly resume?: boolean;
  /** Events that the service sends: `all`, or their types. Default: those with handlers when a call begins. */
  readonly events?: 'all' | readonly AgentEventType[];
  /** Default: lines on the console. */
  readonly logger?: Logger;
}

type Handler = (event: AgentEvent, session: Session) => unknown;

/**
 * An agent. The service connects to it once for each call, and every call has a `Session` of its own. Handlers are called in the order of
 * the events and not awaited; one that throws is logged, and the call goes on.
 */
export class Agent {
  readonly name: string;
  /** What serves its calls; not for applications. */
  readonly definition: AgentDefinition;
  readonly #tools: Tool[] = [];
  readonly #handlers = new Map<AgentEventType, Handler[]>();
  #startHandler: StartHandler | undefined;

  /** Throws a `TypeError` that names the option and its rule. */
  constructor(options: AgentOptions) {
    const {
      name,
      systemPrompt,
      greeting,
      context = [],
      overrides,
      resume = true,
      events,
      logger = consoleLogger,
    } = options;
    if (typeof name !== 'string' || name === '') throw new TypeError('name: must be a text');
    if (Array.isArray(events) && !events.every(isEventType))
      throw new TypeError('events: must be names of events');
    this.name = name;
    this.definition = {
      name,
      opening: { systemPrompt, greeting, context, overrides },
      resume,
      logger: guarded(logger),
      tools: this.#tools,
      startHandler: (session) => this.#startHandler?.(session),
      chosenEvents: () => this.#chosenEvents(events),
      handlersOf: (type) => this.#handlers.get(type) ?? [],
    };
    acceptText(this.definition, this.definition.opening);
  }

  #chosenEvents(events: AgentOptions['events']): readonly string[] | undefined {
    if (events === 'all') return undefined;
    return [...(events ?? this.#handlers.keys())].filter(isChosenEvent);
  }

  /** Declares a tool. Throws a `TypeError` that names the tool and what is wrong with it. */
  tool<const P extends Parameters>(
    options: ToolOptions<P>,
    handler: (args: Arguments<P>, call: ToolCall) => unknown,
  ): this {
    this.#add(declareTool(options, handler));
    return this;
  }

  /** Adds tools that were declared elsewhere, by an adapter for instance. */
  addTools(tools: readonly Tool[]): this {
    for (const tool of tools) this.#add(tool);
    return this;
  }

  #add(tool: Tool): void {
    const { name } = tool.declaration;
    if (this.#tools.some(({ declaration }) => declaration.name === name))
      throw new TypeError(`tool ${name}: is declared twice`);
    if (this.#tools.length >= limits.tools)
      throw new TypeError(`tool ${name}: an agent has at most ${limits.tools} tools`);
    this.#tools.push(tool);
  }

  /**
   * Called before a call begins, while the caller hears silence: what it returns takes the place of the agent's own opening. It has 1.5 s.
   * When it throws or is late, the service holds the call by its agent file; `RejectCall` does so on purpose.
   */
  onStart(handler: StartHandler): this {
    if (this.#startHandler !== undefined) throw new TypeError('onStart: has a handler already');
    this.#startHandler = handler;
    return this;
  }

  /** Called with the whole text of each turn of the caller. */
  onUserText(handler: (text: string, session: Session) => unknown): this {
    return this.on('user.text', ({ text }, session) => handler(text, session));
  }

  /** Called when a call goes on over a new link; `event.lost` says how many events the agent did not hear of. */
  onResume(handler: (event: AgentEvents['session.resume'], session: Session) => unknown): this {
    return this.on('session.resume', handler);
  }

  /** Called once when the call is over. */
  onEnd(handler: (event: AgentEvents['session.end'], session: Session) => unknown): this {
    return this.on('session.end', handler);
  }

  /** Called for each event of a type. */
  on<Type extends AgentEventType>(
    type: Type,
    handler: (event: AgentEvents[Type], session: Session) => unknown,
  ): this {
    if (!isEventType(type)) throw new TypeError('on: there is no such event');
    this.#handlers.set(type, [...(this.#handlers.get(type) ?? []), handler as Handler]);
    return this;
  }

  /** Serves calls, on every path of one address. */
  listen(options: ListenOptions = {}): Promise<AgentServer> {
    return listen({ all: [this.definition], of: () => this.definition }, options);
  }
}

/** Serves several agents on one address, each on its path: `{ '/pizza': pizza, '/salon': salon }`. */
export function serve(
  agents: Readonly<Record<string, Agent>>,
  options: ListenOptions = {},
): Promise<AgentServer> {
  const byPath = new Map(Object.entries(agents).map(([path, { definition }]) => [path, definition]));
  if ([...byPath.keys()].some((path) => !path.startsWith('/')))
    throw new TypeError('agents: paths must begin with /');
  return listen({ all: [...byPath.values()], of: (path) => byPath.get(path) }, options);
}
