/**
 * JSON whose numbers lose no digit on their way through the service. Order, card and telephone numbers have more digits than a `number` holds
 * (2^53), and `10.00` is not `10` to a person who reads it.
 */
import {
  isLosslessNumber,
  type LosslessNumber,
  LosslessNumber as ExactNumberClass,
  parse,
  stringify,
} from 'lossless-json';

/** A number that a `number` would not write as it was read. `toString()` is its text, which is also what a template shows. */
export type ExactNumber = LosslessNumber;

export const isExactNumber = (value: unknown): value is ExactNumber => isLosslessNumber(value);

/** Numbers of at least 16 digits, with a fraction, an exponent or a minus zero: all others are written as they were read. */
const mayLose = /\d{16}|\d[.eE]|-0/;

/**
 * Reads JSON as `JSON.parse` does, but a number that a `number` would write in another way becomes an `ExactNumber`.
 *
 * @throws SyntaxError where the text is not JSON
 */
export function parseJson(text: string): unknown {
  // Decides also what is JSON at all, in the engine's own words.
  const value: unknown = JSON.parse(text);
  return mayLose.test(text) ? parse(text, null, { parseNumber: numberOf, onDuplicateKey: lastValue }) : value;
}

/** Writes JSON as `JSON.stringify` does; an `ExactNumber` is written as it was read. */
export const writeJson = (value: unknown): string => stringify(value) ?? 'null';

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

function numberOf(text: string): unknown {
  const number = Number(text);
  return String(number) === text ? number : new ExactNumberClass(text);
}

const lastValue = ({ newValue }: { readonly newValue: unknown }): unknown => newValue;
