/**
 * From a text frame of the service to a message. Pure. Additions of a later version 1 (fields, types, words of a list) are let through or left out. A
 * known message of another shape is refused with its field, never with its value.
 */
import { parseJson } from './json.ts';
import { limits, serviceFields } from './wire/constants.ts';
import type { ServiceMessage } from './wire/service-messages.ts';

/** A message with its envelope (docs/reference/agent-link.md, Service to agent). */
export interface Received {
  readonly message: ServiceMessage;
  /** Grows by one per message of the link. */
  readonly seq: number;
  /** Milliseconds since the link opened. */
  readonly tMs: number;
}

export type Reading =
  | ({ readonly kind: 'message' } & Received)
  | { readonly kind: 'unknown'; readonly seq: number | undefined }
  | { readonly kind: 'bad'; readonly rule: string };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOfKind: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isSafeInteger(value),
  object: isObject,
  array: Array.isArray,
};

const bad = (rule: string): Reading => ({ kind: 'bad', rule });

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The field that breaks the shape of its message. */
function wrongField(
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  return Object.entries(fields).find(([name, kind]) => {
    const value = given[name];
    if (value === undefined) return !kind.endsWith('?');
    return isOfKind[kind.replace('?', '')]?.(value) === false;
  })?.[0];
}

const isResume = ({ previous_seq: previous, pending }: Readonly<Record<string, unknown>>): boolean =>
  Number.isSafeInteger(previous) &&
  (pending === undefined || (Array.isArray(pending) && pending.every(Number.isSafeInteger)));

export function readServiceMessage(text: string): Reading {
  if (text.length > limits.messageBytes) return bad('the message is larger than a link allows');
  const given = parse(text);
  if (!isObject(given) || typeof given['type'] !== 'string')
    return bad('a frame must hold one JSON object with a string type');
  const { type, seq, t_ms: tMs = 0 } = given;
  const fields = Object.hasOwn(serviceFields, type) ? serviceFields[type] : undefined;
  if (fields === undefined)
    return { kind: 'unknown', seq: Number.isSafeInteger(seq) ? Number(seq) : undefined };
  const wrong = wrongField({ ...given, seq }, { ...fields, seq: 'integer', t_ms: 'integer?' });
  if (wrong !== undefined) return bad(`${type}: ${wrong} is missing or has another kind`);
  if (type === 'session.start' && isObject(given['resume']) && !isResume(given['resume']))
    return bad(`${type}: resume must hold previous_seq, and whole numbers in pending`);
  return { kind: 'message', message: given as unknown as ServiceMessage, seq: Number(seq), tMs: Number(tMs) };
}
