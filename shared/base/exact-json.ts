/**
 * JSON whose numbers lose no digit on their way through the service. Order, card and telephone numbers have more digits than a `number` holds
 * (2^53), and `10.00` is not `10` to a person who reads it.
 */
import {
  isLosslessNumber,
  isNumber,
  type LosslessNumber,
  LosslessNumber as ExactNumberClass,
  parse,
  stringify,
} from 'lossless-json';

/** A number that a `number` would not write as it was read. `toString()` is its text, which is also what a template shows. */
export type ExactNumber = LosslessNumber;

export const isExactNumber = (value: unknown): value is ExactNumber => isLosslessNumber(value);

/**
 * Numbers of at least 16 digits, with a fraction, an exponent or a minus zero: all others are written as they were read. Names such as
 * "gpt-4.1", which stand in every event of a stream, are not looked into further.
 */
const mayLose = /(?:^|[:[,])\s*(?:-?\d+(?:[.eE]|\d{15})|-0)/;

/**
 * Reads JSON as `JSON.parse` does, but a number that a `number` would write in another way becomes an `ExactNumber`.
 *
 * @throws SyntaxError where the text is not JSON
 */
export function parseJson(text: string, reviver?: Change): unknown {
  // Decides also what is JSON at all, in the engine's own words.
  const value: unknown = JSON.parse(text, reviver);
  if (!mayLose.test(text)) return value;
  try {
    return parse(text, reviver, { parseNumber: numberOf, onDuplicateKey: lastValue });
  } catch (error) {
    // Thousands of levels, which nobody here takes: the engine reads them all the same.
    if (error instanceof RangeError) return value;
    throw error;
  }
}

/** Writes JSON as `JSON.stringify` does; an `ExactNumber` and a `bigint` are written with all their digits. */
export function writeJson(value: unknown, replacer?: Change): string {
  try {
    const text = JSON.stringify(value, replacer) ?? 'null';
    // Nearly every value has none, and the engine itself writes many times as fast.
    if (!text.includes(markOfExact)) return text;
  } catch (error) {
    // The message of the engine for a bigint.
    if (!(error instanceof TypeError)) throw error;
  }
  return stringify(value, replacer) ?? 'null';
}

/** The text must be a number of JSON. */
export const exactNumber = (text: string): ExactNumber => new ExactNumberClass(text);

/** Changes a value on its way, as those of `JSON.parse` and `JSON.stringify` do. */
type Change = (key: string, value: unknown) => unknown;

/** How the engine writes an `ExactNumber`. */
const markOfExact = '"isLosslessNumber":true';

/** JSON with sorted keys: equal for equal values. */
export const canonicalJson = (value: unknown): string => writeJson(sorted(value));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, held]) => [key, sorted(held)]));
}

/** The same value with plain numbers only, for what counts or compares them: schemas, limits, times. */
export function plainNumbers(value: unknown): unknown {
  if (isExactNumber(value)) return Number(value.value);
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, plainNumbers(held)]));
}

/** The number that the engine has written in its own way for an `ExactNumber`. */
export function unmarkedNumber(value: object): ExactNumber | undefined {
  const text: unknown = Reflect.get(value, 'value');
  const isMarked =
    Reflect.get(value, 'isLosslessNumber') === true && typeof text === 'string' && isNumber(text);
  return isMarked ? new ExactNumberClass(text) : undefined;
}

function numberOf(text: string): unknown {
  const number = Number(text);
  return String(number) === text ? number : new ExactNumberClass(text);
}

const lastValue = ({ newValue }: { readonly newValue: unknown }): unknown => newValue;
