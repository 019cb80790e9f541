/**
 * Checks one table of the agent file against its declaration and reports everything that is wrong with it. The words of
 * the messages are made here, from the declaration alone, so that no value can get into them.
 */
import type { z } from 'zod';
import { isExactNumber } from '../base/exact-json.ts';
import { nearestName } from './nearest.ts';
import type { KeyPath, ProblemList } from './problem.ts';

export interface TableRules {
  /** Names that may be meant besides the declared keys. */
  readonly alsoKnown?: readonly string[];
  /** What to say about certain unknown keys instead of a suggestion. */
  readonly hints?: Readonly<Record<string, string>>;
}

export interface TableReading<T> {
  /** The table with its defaults; absent when anything in it is wrong. */
  readonly value?: T;
  /** The keys that are right, with defaults, so that rules between keys can be checked all the same. */
  readonly known: Partial<T>;
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'a number',
  string: 'a text in quotes',
  boolean: 'true or false',
  array: 'a list in brackets',
  record: 'a table',
  object: 'a table',
};

export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Date) &&
  !isExactNumber(value);

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** `limit` with what it counts for this kind of value. */
function boundRule(origin: string, limit: string, side: 'least' | 'most'): string {
  const bound = `at ${side} ${limit}`;
  if (origin === 'string')
    return limit === '1' && side === 'least' ? 'must not be empty' : `must be ${bound} characters long`;
  if (origin === 'array')
    return limit === '1' && side === 'least' ? 'must not be empty' : `must have ${bound} entries`;
  return `must be ${bound}`;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return boundRule(issue.origin, issue.minimum.toString(), 'least');
    case 'too_big':
      return boundRule(issue.origin, issue.maximum.toString(), 'most');
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_key':
      return `is not a valid name here: it ${issue.issues.map(ruleOf).join(' and ')}`;
    default:
      return issue.message;
  }
}

/** A declaration seen through its default and whether it is optional. */
function innermost(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isTable(schema)) return {};
  const unwrap = schema['unwrap'];
  return typeof unwrap === 'function' ? innermost(Reflect.apply(unwrap, schema, [])) : schema;
}

/** The declaration of the value at `path` below `schema`. */
function declarationAt(schema: z.ZodObject, path: readonly PropertyKey[]): Readonly<Record<string, unknown>> {
  let found = innermost(schema);
  for (const part of path) {
    const shape = found['shape'];
    found = innermost(isTable(shape) ? shape[String(part)] : undefined);
  }
  return found;
}

function declaredKeys(schema: z.ZodObject, path: readonly PropertyKey[]): string[] {
  const shape = declarationAt(schema, path)['shape'];
  return isTable(shape) ? Object.keys(shape) : [];
}

/** Reports a key that nothing declares, with the name that was probably meant. */
export function reportUnknownKey(path: KeyPath, known: readonly string[], problems: ProblemList): void {
  const name = String(path.at(-1));
  const nearest = nearestName(name, known);
  const advice = nearest === undefined ? `known here: ${known.join(', ')}` : `did you mean "${nearest}"?`;
  problems.keyError(path, `is not a known key; ${advice}`);
}

interface IssueSite {
  readonly schema: z.ZodObject;
  readonly raw: unknown;
  readonly at: KeyPath;
  readonly rules: TableRules;
}

function reportIssue(issue: z.core.$ZodIssue, site: IssueSite, problems: ProblemList): void {
  const inside = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const path = [...site.at, ...inside];
  if (issue.code === 'unrecognized_keys') {
    const known = declaredKeys(site.schema, issue.path);
    if (inside.length === 0) known.push(...(site.rules.alsoKnown ?? []));
    for (const key of issue.keys) {
      const hint = inside.length === 0 ? site.rules.hints?.[key] : undefined;
      if (hint === undefined) reportUnknownKey([...path, key], known, problems);
      else problems.keyError([...path, key], hint);
    }
  } else if (valueAt(site.raw, issue.path) === undefined) {
    problems.missing(path, 'is required');
  } else if (issue.code === 'invalid_key') {
    problems.keyError(path, ruleOf(issue));
  } else {
    const isInteger =
      issue.code === 'invalid_type' && declarationAt(site.schema, issue.path)['isInt'] === true;
    problems.error(path, isInteger ? `must be ${typeNames['int'] ?? ''}` : ruleOf(issue));
  }
}

/** Reads `raw`, the table at `at`, by `schema`; every fault goes to `problems`. */
export function readTable<S extends z.ZodObject>(
  schema: S,
  raw: unknown,
  site: { readonly at: KeyPath; readonly problems: ProblemList; readonly rules?: TableRules },
): TableReading<z.output<S>> {
  const result = schema.safeParse(raw);
  if (result.success) return { value: result.data, known: result.data };
  const wrong = new Set<PropertyKey>();
  for (const issue of result.error.issues) {
    reportIssue(issue, { schema, raw, at: site.at, rules: site.rules ?? {} }, site.problems);
    const first = issue.path[0];
    if (first !== undefined) wrong.add(first);
    else if (issue.code === 'unrecognized_keys') issue.keys.forEach((key) => wrong.add(key));
  }
  if (!isTable(raw)) return { known: {} };
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !wrong.has(key)));
  const partial = schema.partial().safeParse(rest);
  if (!partial.success) return { known: {} };
  const known = Object.entries(partial.data).filter(([key]) => !wrong.has(key));
  return { known: Object.fromEntries(known) as Partial<z.output<S>> };
}
