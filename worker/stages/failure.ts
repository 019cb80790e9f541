/**
 * What is known of a failure beside its {@link StageError}: the vendor's code, the vendor's words, the code of a connection.
 *
 * Invariant: it lies beside the error and never in it, so that whatever passes an error on passes on none of this, and it
 * is read in one way alone: redacted and shortened. Pure.
 */
import { shownCode, shownVendorText } from '../../shared/base/vendor-text.ts';
import type { StageError } from './stage.ts';

export interface Cause {
  /** The vendor's identifier for it, a close code, or that of the system's error. */
  readonly code?: string | undefined;
  /** The vendor's words. */
  readonly text?: string | undefined;
}

export interface CauseSite {
  /** The server had nothing of a caller yet: its words may be shown, without keys. */
  readonly beforeCall: boolean;
}

const causes = new WeakMap<StageError, Cause & CauseSite>();

/** The error, with what was said about it beside it; what is known already stays. */
export function explained<E extends StageError>(
  error: E,
  cause: Cause,
  site: CauseSite = { beforeCall: false },
): E {
  if (causes.has(error) || (cause.code === undefined && cause.text === undefined)) return error;
  causes.set(error, { ...cause, ...site });
  return error;
}

/** Events of a wire; what the server's message says lies beside the error of those that have one. */
export function withCause<E extends { readonly type: string; readonly error?: StageError }>(
  events: readonly E[],
  read: () => Cause,
): readonly E[] {
  for (const { error } of events) if (error !== undefined) explained(error, read());
  return events;
}

/** What may be shown of it. A server that was given something of a caller may repeat it, so its words are not shown. */
export function causeOf(error: StageError, secrets: readonly string[]): Cause {
  const cause = causes.get(error);
  if (cause === undefined) return {};
  const code = cause.code === undefined ? undefined : shownCode(cause.code, secrets);
  const text = cause.beforeCall ? shownVendorText(cause.text ?? '', secrets) : '';
  return { ...(code !== undefined && { code }), ...(text !== '' && text !== code && { text }) };
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Not copied: a body may be lent. */
const fieldsOf = (value: unknown): Fields[] => (isFields(value) ? [value] : []);

const codeNames = ['code', 'error_code', 'err_code', 'error', 'reason', 'type', 'status'];
const textNames = ['message', 'description', 'err_msg', 'warn_msg', 'title', 'msg', 'detail', 'error'];
/** Parts of a list that are looked at. */
const mostParts = 8;
/** Names that say only that it is an error. */
const emptyCodes: readonly string[] = ['error', 'Error', 'invalid_request_error', 'INVALID_ARGUMENT'];

/** The vendor's code and words in an error body or message of any of the known shapes. */
export function causeIn(body: unknown): Cause {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof first === 'string') return { text: first };
  const [outer] = fieldsOf(first);
  if (outer === undefined) return {};
  const { error, detail, data } = outer;
  const inner = [error, detail, data, outer].flatMap(oneOrMore).flatMap(fieldsOf);
  const places = [...inner.flatMap(({ details }) => oneOrMore(details)).flatMap(fieldsOf), ...inner];
  const code = codesIn(places).find((found) => !emptyCodes.includes(found)) ?? codesIn(places)[0];
  const text = inner.flatMap((part) => textNames.map((name) => part[name])).find((found) => isWords(found));
  return { ...(code !== undefined && { code }), ...(typeof text === 'string' && { text }) };
}

const oneOrMore = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, mostParts) : [value];

/** {@link causeIn} of a text, which is the vendor's words itself where it is no JSON. */
export function causeInText(text: string): Cause {
  try {
    return causeIn(JSON.parse(text));
  } catch {
    // Pages of proxies are no words for people.
    return text.trim() === '' || text.trimStart().startsWith('<') ? {} : { text };
  }
}

const isWords = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

function codesIn(places: readonly Fields[]): string[] {
  return places.flatMap((place) =>
    codeNames.flatMap((name) => {
      const value = place[name];
      const isCode =
        (typeof value === 'string' &&
          value.length <= 64 &&
          /^[A-Za-z\d]+(?:[_.:-][A-Za-z\d]+)*$/.test(value)) ||
        typeof value === 'number';
      return isCode ? [String(value)] : [];
    }),
  );
}

/** What a stage failed with, in a few words of a closed vocabulary: `rejected 401`, `timeout connect`. */
export function reasonOf(error: StageError): string {
  switch (error.kind) {
    case 'rejected':
      return `rejected ${error.status}`;
    case 'timeout':
      return `timeout ${error.what}`;
    default:
      return error.kind;
  }
}
