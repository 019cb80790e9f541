/**
 * An event on its way to one endpoint, as the file that it is kept in. The service and the command line both read these files.
 * Text in, text out.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import type { RecordedAgent } from '../record.ts';
import { callEvents, type CallEventName } from './events.ts';

/** Below the folder of webhooks: events that wait, those that were given up, and endpoints that want no more. */
export const webhookFolders = { waiting: 'waiting', failed: 'failed', disabled: 'disabled' } as const;

export interface LastAttempt {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A status of HTTP, or a word of ours. */
  readonly answer: number | string;
}

export interface QueuedEvent {
  /** `webhook-id`: the same at every attempt. */
  readonly id: string;
  readonly type: CallEventName;
  readonly call: string;
  /** Whose event it is, by the version that the call began with. */
  readonly agent: RecordedAgent;
  /** Id of the endpoint. */
  readonly endpoint: string;
  /** Host of the endpoint, for people. */
  readonly host: string;
  readonly createdAt: number;
  /** Attempts that were made. */
  readonly attempts: number;
  readonly nextAt: number;
  readonly last?: LastAttempt;
  /** The body as it is signed and sent. */
  readonly body: string;
}

/** The file of an event: one for each endpoint, so that an event which is told twice is kept once. */
export const queuedFile = ({ endpoint, id }: Pick<QueuedEvent, 'endpoint' | 'id'>): string =>
  `${endpoint}.${id}.json`;

/** The endpoint of such a file; undefined for a file that is none. */
export const endpointOfFile = (name: string): string | undefined =>
  /^([0-9a-f]{12})\.[\w-]{1,128}\.json$/.exec(name)?.[1];

export const writeQueued = (event: QueuedEvent): string => JSON.stringify({ version: 1, ...event });

export function readQueued(text: string): Result<QueuedEvent, 'unreadable'> {
  try {
    const value = JSON.parse(text) as Partial<QueuedEvent>;
    const isEvent =
      [value.id, value.call, value.endpoint, value.host, value.body].every(
        (one) => typeof one === 'string',
      ) &&
      typeof value.agent?.name === 'string' &&
      [value.createdAt, value.attempts, value.nextAt].every((one) => Number.isFinite(one)) &&
      callEvents.some((name) => name === value.type);
    return isEvent ? ok(value as QueuedEvent) : fail('unreadable');
  } catch {
    return fail('unreadable');
  }
}

/** The event as it is when it is to be tried all over again. */
export const afresh = (event: QueuedEvent, now: number): QueuedEvent => ({
  ...event,
  attempts: 0,
  nextAt: now,
});
