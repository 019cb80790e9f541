/** What handlers of an application receive: the messages of the service, with names as they are usual in JavaScript. */
import { conversationEventTypes } from './wire/constants.ts';
import type { ServiceMessage } from './wire/service-messages.ts';
import type { Received } from './reading.ts';

type CamelName<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelName<Rest>>}`
  : Name;
type CamelFields<T> = { readonly [Key in keyof T as CamelName<Key>]: T[Key] };
type CamelEvent<T> = CamelFields<{
  [Key in keyof T]: Key extends 'metrics' | 'call' | 'resume' ? CamelFields<T[Key]> : T[Key];
}>;

/** `seq` numbers the messages of a link from 1; `tMs` is in milliseconds since the link opened. */
interface Envelope {
  readonly seq: number;
  readonly tMs: number;
}

type EventMessage = Exclude<ServiceMessage, { type: 'session.end' }>;

/**
 * Every event by its type (docs/reference/agent-link.md, Service to agent), and the messages that are always sent. `session.start` comes when the
 * agent has taken the call, `session.resume` when the call goes on over a new link (`lost` says how many events the agent did not hear
 * of), `session.end` exactly once, with the reason `link_lost` when the service went away without a word.
 */
export type AgentEvents = {
  readonly [Type in EventMessage['type']]: CamelEvent<Extract<EventMessage, { type: Type }>> & Envelope;
} & {
  readonly 'session.end': {
    readonly type: 'session.end';
    readonly reason: Extract<ServiceMessage, { type: 'session.end' }>['reason'] | 'link_lost';
  } & Envelope;
  readonly 'session.resume': { readonly type: 'session.resume'; readonly lost: number } & Envelope;
};

export type AgentEventType = keyof AgentEvents;
export type AgentEvent = AgentEvents[AgentEventType];
export type SignedSession = NonNullable<AgentEvents['session.start']['session']>;

/** Always sent, whatever is asked for. */
const alwaysSent = [
  'session.start',
  'session.end',
  'session.resume',
  'tool.call',
  'tool.cancel',
  'command.result',
  'events.lost',
  'error',
] as const satisfies readonly AgentEventType[];

const eventTypes: ReadonlySet<string> = new Set([...conversationEventTypes, ...alwaysSent]);

export const isEventType = (name: string): name is AgentEventType => eventTypes.has(name);

export const isChosenEvent = (name: string): boolean =>
  (conversationEventTypes as readonly string[]).includes(name);

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const camelKeys = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value]));

const nested = ['metrics', 'call', 'resume'];

/** The event of a message. Data of callers (arguments, texts) stays as it came. */
export function eventOf({ message, seq, tMs }: Received): AgentEvent {
  const fields = Object.entries(message).map(([name, value]: [string, unknown]) => [
    name,
    nested.includes(name) ? camelKeys(value as Readonly<Record<string, unknown>>) : value,
  ]);
  return {
    ...camelKeys(Object.fromEntries(fields) as Readonly<Record<string, unknown>>),
    seq,
    tMs,
  } as unknown as AgentEvent;
}
