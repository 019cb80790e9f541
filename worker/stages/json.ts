/**
 * Reading of untrusted JSON of providers: every reader answers with a value of its type or with nothing. Numbers keep their digits, because they may
 * be a tool's: what is read here is written with `writeJson`. Pure.
 */
import { isExactNumber, parseJson as parseExactly } from '../../shared/base/exact-json.ts';
import { isDeeperThan } from '../../shared/base/nesting.ts';

export { writeJson } from '../../shared/base/exact-json.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Levels that are read: a model that loops writes thousands, and who writes those again has no stack left. */
const deepest = 256;

export function parseJson(text: string): unknown {
  try {
    const value = parseExactly(text);
    // A shorter text has no room for so many.
    return text.length > 2 * deepest && isDeeperThan(value, deepest) ? undefined : value;
  } catch {
    // The caller names the rule that was broken; the text itself must not travel in an error.
    return undefined;
  }
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

export function recordOf(value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : undefined;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export const recordsOf = (value: unknown): readonly JsonRecord[] => listOf(value).filter(isRecord);

export function countOf(value: unknown): number {
  const count = isExactNumber(value) ? Number(value.value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.floor(count) : 0;
}

/** Half a character, from a text that was cut in its middle, and NUL have no place in what services store: they refuse all of it. */
export const wholeCharacters = (text: string): string => text.replaceAll(/[\p{Cs}\0]/gu, '\uFFFD');

/** The same of JSON text, where halves and NUL may also be written as escapes. Numbers keep their digits. */
export const wholeJson = (text: string): string =>
  wholeCharacters(text).replaceAll(
    /\\(?:u(d[89ab]..)\\u(d[c-f]..)|u(?:d[89a-f]..|0000)|.)/gis,
    (escape, high?: string) => (escape.length < 3 || high !== undefined ? escape : String.raw`\ufffd`),
  );

/** Levels that services take in what they are sent: more are read here, and none of them was meant. */
const deepestTree = 64;

/** The object or list that a text is, as services take it; undefined for any other text. */
export function treeIn(text: string): JsonRecord | readonly unknown[] | undefined {
  const value = parseJson(wholeJson(text));
  const tree = isRecord(value) || Array.isArray(value) ? value : undefined;
  return isDeeperThan(tree, deepestTree) ? undefined : tree;
}
