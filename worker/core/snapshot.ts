/**
 * A call's state as text and back, so that another worker can go on with it. The state is plain data, and every time in
 * it stands under a name that ends in `At` or `By`: that is how times are brought to the clock of the process that reads.
 * Settings and history are not part of it: the one comes from the agent file, the other is saved when it changes.
 */
import type { Millis } from '../../shared/base/units.ts';
import { newRespelling } from './response.ts';
import type { CallSettings } from './settings.ts';
import type { CallState } from './state.ts';

/** Fields of the state that a snapshot leaves out, wherever they stand. */
const leftOut: ReadonlySet<string> = new Set([
  'settings',
  'pronounce',
  'history',
  'wordTimes',
  'reasoning',
  'heldReasoning',
]);
const nothing: ReadonlySet<string> = new Set();
const timeName = /(?:At|By)$/;

/**
 * Plain data as JSON. Maps and numbers that JSON does not know survive; fields named in `leftOutFields` do not. It runs at every
 * step of every call: writing the text itself takes half the time of `JSON.stringify` with a function that is asked about
 * every field.
 */
export function encodePlain(value: unknown, leftOutFields: ReadonlySet<string> = nothing): string {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? String(value) : `{"$number":"${value}"}`;
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : encodeObject(value, leftOutFields);
    default:
      return 'null';
  }
}

function encodeObject(value: object, leftOutFields: ReadonlySet<string>): string {
  if (value instanceof Map) return `{"$map":${encodeList([...value], leftOutFields)}}`;
  if (Array.isArray(value)) return encodeList(value, leftOutFields);
  let text = '';
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined || leftOutFields.has(name)) continue;
    text += `${text === '' ? '' : ','}${quoted(name)}:${encodePlain(field, leftOutFields)}`;
  }
  return `{${text}}`;
}

function encodeList(items: readonly unknown[], leftOutFields: ReadonlySet<string>): string {
  let text = '';
  for (const item of items) text += `${text === '' ? '' : ','}${encodePlain(item, leftOutFields)}`;
  return `[${text}]`;
}

/** Names of fields are few; a record with names from outside must not make this grow without end. */
const mostNames = 1_000;
const quotedNames = new Map<string, string>();

function quoted(name: string): string {
  let text = quotedNames.get(name);
  if (text === undefined) {
    text = JSON.stringify(name);
    if (quotedNames.size < mostNames) quotedNames.set(name, text);
  }
  return text;
}

/** What {@link encodePlain} made, with `shiftMs` added to every time in it. */
export function decodePlain(text: string, shiftMs: Millis): unknown {
  return JSON.parse(text, (key, field: unknown) => {
    if (typeof field === 'number') return timeName.test(key) ? field + shiftMs : field;
    if (typeof field !== 'object' || field === null) return field;
    if ('$map' in field) return new Map(field.$map as [unknown, unknown][]);
    if ('$number' in field) return Number(field.$number);
    return field;
  }) as unknown;
}

export const encodeState = (state: CallState): string => encodePlain(state, leftOut);

const withoutReasoning: ReadonlySet<string> = new Set(['reasoning']);

/** The newest messages that fit into `bytes`, as JSON. */
export function encodeHistory(history: CallState['history'], bytes: number): string {
  const kept: string[] = [];
  let left = bytes - '[]'.length;
  for (let index = history.messages.length - 1; index >= 0; index -= 1) {
    const message = encodePlain(history.messages[index], withoutReasoning);
    left -= Buffer.byteLength(message) + ','.length;
    if (left < 0) break;
    kept.unshift(message);
  }
  return `[${kept.join(',')}]`;
}

/**
 * The state that was saved, on this process's clock. `state` is what {@link decodePlain} gave, `history` is text as saved; the
 * writer was of this same version.
 */
export function decodeState(
  saved: { readonly state: unknown; readonly history: string },
  settings: CallSettings,
): CallState {
  const rest = saved.state as Omit<CallState, 'settings' | 'pronounce' | 'history'>;
  const messages = JSON.parse(saved.history) as CallState['history']['messages'];
  // Times of words are many; without them what was heard is estimated within a piece.
  if (rest.response !== undefined) rest.response.heard.wordTimes = [];
  return { ...rest, settings, pronounce: newRespelling(settings.pronounce), history: { messages } };
}
