/** The bodies of events: what happened, when, and the record of the call, without what is long where that would be too much. Pure. */
import { writeJson } from '../../base/exact-json.ts';
import type { CallRecord } from '../record.ts';
import type { CallEventName } from './events.ts';

/** Standard Webhooks asks for bodies below 20 kB. */
export const mostBodyBytes = 20_000;

/** What is left out of a body that is too large, one after the other. A record without all of them is small. */
const long = [
  'turns',
  'transcript',
  'tools',
  'faults',
  'failovers',
  'takeovers',
  'transfers',
  'dtmf',
  'operators',
  'recording_pauses',
  'hand_overs',
  'usage',
  'metadata',
  'analysis',
] as const satisfies readonly (keyof CallRecord)[];

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

export interface BodyParts {
  readonly type: CallEventName;
  /** Milliseconds since 1970: when it happened. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export const eventBody = ({ type, at, data }: BodyParts): string =>
  writeJson({ type, timestamp: new Date(at).toISOString(), data });

/** `recordUrl`: where receivers find the whole record, with `{id}`. */
export function recordBody(
  record: CallRecord,
  { type, at, recordUrl }: Omit<BodyParts, 'data'> & { readonly recordUrl?: string | undefined },
): string {
  const link =
    recordUrl === undefined
      ? {}
      : { record_url: recordUrl.replaceAll('{id}', encodeURIComponent(record.id)) };
  const left = new Map<string, unknown>(Object.entries(record));
  const leftOut: string[] = [];
  for (;;) {
    const told = leftOut.length === 0 ? {} : { left_out: leftOut };
    const body = eventBody({ type, at, data: { ...Object.fromEntries(left), ...link, ...told } });
    const next = long.find((key) => left.has(key));
    if (next === undefined || bytesOf(body) <= mostBodyBytes) return body;
    left.delete(next);
    leftOut.push(next);
  }
}
