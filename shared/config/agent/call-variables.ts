/**
 * Variables in the texts of an agent file: `{{session.agent}}` or `{{metadata.name|friend}}` stands for what came with a call.
 *
 * Invariant: a text is read once, and what a caller sends never is part of what is read: a value that looks like a variable, or
 * like a parameter of a tool, stays a value. Every value that is filled in is one line of bounded length.
 */
import type { KeyPath, ProblemList } from '../problem.ts';

/** The metadata of a call: the client's own, and what the server knows of it (docs/variables.md). */
export type CallMetadata = Readonly<Record<string, string>>;

export interface CallFacts {
  readonly transport: string;
  readonly id: string;
  /** Of telephone calls; the numbers where they are not redacted. */
  readonly carrierCallId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly direction: 'inbound' | 'outbound';
  /** When it began, in words. */
  readonly time: string;
  /** What the operator's server said of it before its first word. */
  readonly variables?: CallMetadata | undefined;
}

/** Names behind `call.` that are the service's own: nobody else sets them. */
export const ownCallVariables: readonly string[] = ['id', 'from', 'to', 'direction', 'time'];

/** What marks a variable; a problem is reported at the place of one of these. */
const opening = '{{';
/** A variable, or an opening that begins none. */
const formPattern = /\{\{(?:([^{}]*)\}\})?/g;
const readablePattern =
  /^\s*(session_id|session\.(?:agent|max_s|transport|carrier_call_id|meta\.[\w.-]{1,64})|call\.[\w.-]{1,64}|metadata\.(?!session\.|session_id(?![\w.-]))[\w.-]{1,64})\s*(?:\|(.*))?$/s;

/** Bounds what one text can grow to. */
const mostVariables = 64;
/** Of a value, in characters; values that come with a call are bounded in bytes before. */
const longestValue = 256;

interface Variable {
  /** In the metadata. */
  readonly key: string;
  readonly fallback: string;
}

/** What the service knows of a call stands among the metadata under names that no client can set. */
const keyOf = (name: string): string => name.replace(/^metadata\./, '').replace(/^call\./, 'session.call.');

function readVariable(form: string | undefined): Variable | undefined {
  const [, name, fallback = ''] = readablePattern.exec(form ?? '') ?? [];
  if (name === undefined) return undefined;
  return { key: keyOf(name), fallback: fallback.trim() };
}

/** The same metadata, with what the service knows of the call. */
export function withCallFacts(metadata: CallMetadata, facts: CallFacts): CallMetadata {
  const { transport, id, carrierCallId, from, to, direction, time, variables = {} } = facts;
  const given = Object.entries(variables).map(([key, value]): [string, string] => [
    `session.call.${key}`,
    value,
  ]);
  const own = Object.entries({
    'session.transport': transport,
    'session.carrier_call_id': carrierCallId,
    'session.call.id': id,
    'session.call.from': from,
    'session.call.to': to,
    'session.call.direction': direction,
    'session.call.time': time,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...metadata, ...Object.fromEntries(given), ...Object.fromEntries(own) };
}

/** Whether anything in the text depends on the call; true for a part of such a text as well. */
export const hasVariables = (text: string): boolean => text.includes(opening) || text.includes('}}');

/** A value as one line: nothing in it can begin a paragraph of its own or break what carries it. */
const oneLine = (value: string): string =>
  value
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, longestValue)
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .trim();

/**
 * The text with its variables filled in. One whose value is absent or blank becomes its fallback, and without one nothing.
 * `shown` says how a value is written where the text goes; fallbacks are the author's and stay as they are.
 */
export function fillVariables(
  text: string,
  metadata: CallMetadata,
  shown: (value: string) => string = (value) => value,
): string {
  if (!text.includes(opening)) return text;
  return text.replace(formPattern, (whole, form: string | undefined) => {
    const variable = readVariable(form);
    if (variable === undefined) return whole;
    const { key, fallback } = variable;
    const value = oneLine((Object.hasOwn(metadata, key) ? metadata[key] : undefined) ?? '');
    return value === '' ? fallback : shown(value);
  });
}

const unknownForm =
  'is no variable: there are {{session_id}}, {{session.agent}}, {{session.max_s}}, {{session.transport}}, ' +
  '{{session.carrier_call_id}}, {{session.meta.KEY}}, {{call.id}}, {{call.from}}, {{call.to}}, {{call.direction}}, {{call.time}}, {{call.KEY}} and {{metadata.KEY}}, ' +
  'each of them with a fallback behind a | or without';
const tooMany = `has more than ${mostVariables} variables`;

/** What is wrong with the variables of a text: which openings begin none, counted from 0, and whether there are too many. */
function faultsOf(text: string): { readonly unknown: number[]; readonly isTooMany: boolean } {
  const forms = [...text.matchAll(formPattern)];
  const unknown = forms.flatMap(([, form], nth) => (readVariable(form) === undefined ? [nth] : []));
  return { unknown, isTooMany: forms.length > mostVariables };
}

/** Reports what is wrong with the variables of a value of the agent file, each at its own place. */
export function checkVariables(text: string, at: KeyPath, problems: ProblemList): void {
  const { unknown, isTooMany } = faultsOf(text);
  for (const nth of unknown)
    problems.errorWithin(at, { text: opening, nth }, `holds {{, which ${unknownForm}`);
  if (isTooMany) problems.error(at, tooMany);
}

/** The same for the text of a file that is named at `at`. */
export function checkVariablesOfFile(text: string, at: KeyPath, problems: ProblemList): void {
  const { unknown, isTooMany } = faultsOf(text);
  const places = [...text.matchAll(formPattern)].map(({ index }) => text.slice(0, index).split('\n'));
  for (const nth of unknown) {
    const before = places[nth] ?? [];
    const column = (before.at(-1) ?? '').length + 1;
    const place = `line ${before.length}, column ${column}`;
    problems.error(at, `names a file that holds {{ in ${place}, which ${unknownForm}`);
  }
  if (isTooMany) problems.error(at, `names a file that ${tooMany}`);
}
