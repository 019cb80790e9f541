/** What an agent is for the machinery that serves its calls. */
import type { AgentEvent, AgentEventType } from './events.ts';
import type { Logger } from './log.ts';
import type { ContextMessage, Session } from './session.ts';
import type { Tool } from './tools/tool.ts';
import type { SessionAcceptMessage } from './wire/agent-messages.ts';
import { limits } from './wire/constants.ts';

/** What a call begins with. */
export interface Opening {
  /** In place of the agent file's prompt; undefined leaves that one. At most 64 KiB, together with everything else here. */
  readonly systemPrompt?: string | undefined;
  /** A line that the agent speaks at once; undefined leaves the agent file's. At most 4 KiB. */
  readonly greeting?: string | undefined;
  /** Messages that the conversation begins with; at most 32. */
  readonly context?: readonly ContextMessage[];
  /** Names of the agent's tools that this call has; undefined: all. */
  readonly tools?: readonly string[] | undefined;
  /** What this call has otherwise than the agent file says, by dotted keys such as `tts.voice`, as far as its `[overrides]` allows; the service tells what it does not take as an `error`. */
  readonly overrides?: Readonly<Record<string, unknown>> | undefined;
}

export type StartHandler = (session: Session) => Opening | undefined | Promise<Opening | undefined>;

export interface AgentDefinition {
  readonly name: string;
  readonly opening: Opening;
  readonly resume: boolean;
  readonly logger: Logger;
  readonly tools: readonly Tool[];
  readonly startHandler: StartHandler | undefined;
  /** Events to ask the service for; undefined: all. */
  readonly chosenEvents: () => readonly string[] | undefined;
  readonly handlersOf: (
    type: AgentEventType,
  ) => readonly ((event: AgentEvent, session: Session) => unknown)[];
}

export const toolsOf = ({ tools }: AgentDefinition, { tools: names }: Opening): readonly Tool[] =>
  names === undefined ? tools : tools.filter(({ declaration }) => names.includes(declaration.name));

/** The rule that an opening breaks (docs/reference/agent-link.md, Limits), with the name of its field. */
function brokenRule(
  { tools: declared }: AgentDefinition,
  { systemPrompt, greeting, context = [], tools = [] }: Opening,
): string | undefined {
  const isLarge = (text: string | undefined, most: number): boolean =>
    text !== undefined && Buffer.byteLength(text) > most;
  if (isLarge(systemPrompt, limits.systemPromptBytes))
    return `systemPrompt: must be at most ${limits.systemPromptBytes} bytes`;
  if (isLarge(greeting, limits.sayBytes)) return `greeting: must be at most ${limits.sayBytes} bytes`;
  if (context.length > limits.contextMessages)
    return `context: must have at most ${limits.contextMessages} messages`;
  const isUnknown = tools.some((name) => !declared.some(({ declaration }) => declaration.name === name));
  return isUnknown ? 'tools: must be names of tools of the agent' : undefined;
}

/** The text of `session.accept`. Throws a `TypeError` that names the field and the rule. */
export function acceptText(agent: AgentDefinition, opening: Opening): string {
  const rule = brokenRule(agent, opening);
  if (rule !== undefined) throw new TypeError(rule);
  const { systemPrompt, greeting, context = [], overrides } = opening;
  const tools = toolsOf(agent, opening).map(({ declaration }) => declaration);
  const events = agent.chosenEvents();
  const accept: SessionAcceptMessage = {
    type: 'session.accept',
    version: 1,
    ...(tools.length > 0 && { tools }),
    ...(systemPrompt !== undefined && { system_prompt: systemPrompt }),
    ...(context.length > 0 && { context }),
    ...(greeting !== undefined && { greeting }),
    ...(overrides !== undefined && { overrides }),
    ...(agent.resume && { resume: true }),
    ...(events !== undefined && { events }),
  };
  const text = JSON.stringify(accept);
  if (Buffer.byteLength(text) > limits.messageBytes)
    throw new TypeError(
      `prompt, greeting, context, tools and overrides: must be at most ${limits.messageBytes} bytes together`,
    );
  return text;
}
