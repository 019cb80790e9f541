/**
 * JSON Schemas of tool arguments (docs/reference/agent-link.md, Tool declaration: type object, no remote `$ref`). `check`, the start and the
 * calls compile them here and nowhere else, so that they agree. Nothing is ever fetched: a schema that refers outside
 * itself is refused. Faults of a schema are told by place and rule, without its values. A check of any schema
 * and arguments ends soon: all calls of a worker wait for it.
 */
import {
  Ajv,
  type ErrorObject,
  type Options,
  type SchemaValidateFunction,
  type ValidateFunction,
  _,
} from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compareNumbers, isMultipleOf, isWritten, numberKey, type Written } from '../base/decimal.ts';
import { isExactNumber, plainNumbers, writeJson } from '../base/exact-json.ts';
import { linearPattern, patternRules } from '../base/linear-pattern.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { isPlainSchema } from './plain-schema.ts';
import { type Schema, mapSchemas } from './schema-walk.ts';
import { isTable } from './table.ts';

export interface SchemaFault {
  /** Where in the schema. */
  readonly path: readonly string[];
  /** Continues the path: `must be ...`. */
  readonly rule: string;
}

/** What is wrong with arguments, in words for the LLM; undefined when nothing is. */
export type ArgumentCheck = (value: unknown) => string | undefined;

export interface SchemaOptions {
  /** Whether `pattern`, `patternProperties` and `format` are obeyed. Those of servers are not: the server checks them on its own side. */
  readonly patterns: 'obeyed' | 'ignored';
}

const longestSchema = 65_536;
/** Values of a schema times walks through it. */
const mostSteps = 500_000;
/** Steps for one character of all patterns of a schema together. */
const mostPatternCost = 20_000;
const deepestSchema = 64;
/** Faults and characters that are told of one set of arguments. */
const mostFaults = 5;
const longestFault = 600;

const isDate = (text: string): boolean => {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
};

/** Formats that are checked, because callers say something else: "next Friday", "bob at gmail dot com". Others are notes for the model. */
const formats = {
  date: { check: isDate, example: 'a date as in "2026-12-31"' },
  email: {
    check: (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text),
    example: 'an address as in "name@example.com"',
  },
};

type Compiler = Ajv | Ajv2020;

/** What a keyword asks of a value, made ready once for all that is checked. */
interface Rule {
  readonly fits: (found: unknown) => boolean;
  readonly words: string;
}

const numberRule =
  (words: string, fits: (found: Written, limit: Written) => boolean) =>
  (limit: unknown): Rule => ({
    words: `must be ${words} ${writeJson(limit)}`,
    fits: (found) => !isWritten(found) || (isWritten(limit) && fits(found, limit)),
  });

/** What the compiler's own would decide by the first digits of large numbers, and by whatever fractions of two make of 4.35. */
const exactRules: Readonly<Record<string, (limit: unknown) => Rule>> = {
  maximum: numberRule('<=', (found, limit) => compareNumbers(found, limit) <= 0),
  minimum: numberRule('>=', (found, limit) => compareNumbers(found, limit) >= 0),
  exclusiveMaximum: numberRule('<', (found, limit) => compareNumbers(found, limit) < 0),
  exclusiveMinimum: numberRule('>', (found, limit) => compareNumbers(found, limit) > 0),
  multipleOf: numberRule('multiple of', isMultipleOf),
  const: (wanted) => ({ fits: oneOf([wanted]), words: `must be ${shortened(writeJson(wanted))}` }),
  enum: (given) => {
    const values: readonly unknown[] = Array.isArray(given) ? given : [];
    return { fits: oneOf(values), words: `must be one of ${shortened(writeJson(values.slice(0, 32)))}` };
  },
};

const shortened = (text: string): string => text.slice(0, longestFault);

function oneOf(values: readonly unknown[]): (found: unknown) => boolean {
  const isWhole = (value: unknown): boolean => typeof value !== 'object' || value === null;
  const whole = new Set(values.filter((value) => isWhole(value) && !isWritten(value)));
  const numbers = new Set(values.filter(isWritten).map(numberKey));
  const others = new Set(values.filter((value) => !isWhole(value) && !isWritten(value)).map(keyOf));
  return (found) => {
    if (isWritten(found)) return numbers.size > 0 && numbers.has(numberKey(found));
    return isWhole(found) ? whole.has(found) : others.size > 0 && others.has(knownKeyOf(found));
  };
}

/** A compiler, and what it needs of the schema that it compiles and of the check that runs. */
class SchemaCompiler {
  readonly ajv: Compiler;
  readonly #budget = new CheckBudget();
  /** Of the schema that is compiled. */
  #patternCost = 0;
  /** What is checked, with every digit of its numbers. */
  #checked: unknown;
  /** By a schema that is compiled, the one that was given: with every digit of its numbers. */
  #given = new WeakMap<object, Schema>();

  constructor(isOld: boolean, { patterns }: SchemaOptions) {
    const options: Options = {
      strict: false,
      allErrors: true,
      validateFormats: patterns === 'obeyed',
      formats: { date: formats.date.check, email: formats.email.check },
      validateSchema: false,
      addUsedSchema: false,
      // Otherwise a schema that refers to a large part many times becomes that much code.
      inlineRefs: false,
      // Otherwise every object has a `constructor` and a `toString`.
      ownProperties: true,
      logger: false,
      code: { regExp: Object.assign((source: string) => this.#pattern(source), { code: 'patternOf' }) },
    };
    this.ajv = isOld ? new Ajv(options) : new Ajv2020(options);
    this.#budget.countReferences(this.ajv);
    // The compiler's own compares each item with each other one, and large numbers by their first digits.
    this.ajv.removeKeyword('uniqueItems').addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must NOT have duplicate items' },
      validate: (
        isWanted: boolean,
        _items: unknown,
        _schema: unknown,
        site?: Parameters<ValidateFunction>[1],
      ) => !isWanted || areUnique(valueAt(this.#checked, pathOf(site?.instancePath ?? ''))),
    });
    for (const [keyword, ruleOf] of Object.entries(exactRules))
      this.ajv.removeKeyword(keyword).addKeyword({
        keyword,
        errors: true,
        compile: (limit: unknown, schema: Schema) => {
          const given = this.#given.get(schema)?.[keyword] ?? limit;
          const { fits, words } = ruleOf(given);
          const check: SchemaValidateFunction = (found: unknown, site?: Parameters<ValidateFunction>[1]) => {
            if (fits(this.#exact(found, site?.instancePath ?? ''))) return true;
            check.errors = [{ keyword, message: words, params: { limit: given } }];
            return false;
          };
          return check;
        },
      });
  }

  /** What is found, with every digit of its numbers. The name of a property is none of the values. */
  #exact(found: unknown, pointer: string): unknown {
    const isPart = typeof found === 'number' || (typeof found === 'object' && found !== null);
    return isPart ? valueAt(this.#checked, pathOf(pointer)) : found;
  }

  isSchema(schema: Schema): boolean {
    return this.#budget.run(mostSteps, () => this.ajv.validateSchema(schema)) === true;
  }

  compile(schema: Schema, given: Schema): ValidateFunction {
    this.#patternCost = 0;
    this.#given = new WeakMap();
    remember(schema, given, this.#given);
    return this.ajv.compile(schema);
  }

  /** Whether the value is valid. `steps`: references that may be followed. @throws TooMuchError */
  run(validate: ValidateFunction, value: unknown, steps: number): boolean {
    this.#checked = value;
    return this.#budget.run(steps, () => validate(plainNumbers(value)));
  }

  #pattern(source: string): { test: (text: string) => boolean; toString: () => string } {
    const pattern = linearPattern(source);
    if (!pattern.ok) throw new SyntaxError('no regular expression');
    const { cost } = pattern.value;
    this.#patternCost += cost;
    if (this.#patternCost > mostPatternCost) throw new TooMuchError();
    return {
      test: (text) => {
        this.#budget.spendOnPattern(text.length * cost);
        return pattern.value.test(text);
      },
      toString: () => source,
    };
  }
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (value, step) => (isTable(value) || Array.isArray(value) ? Reflect.get(value, step) : undefined),
    root,
  );
}

const areUnique = (items: unknown): boolean =>
  !Array.isArray(items) || new Set(items.map(keyOf)).size === items.length;

/** A value may be compared with a thousand others. */
const keys = new WeakMap<object, string>();

function knownKeyOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return keyOf(value);
  const key = keys.get(value) ?? keyOf(value);
  keys.set(value, key);
  return key;
}

/** Equal for equal values, however their numbers are written. */
function keyOf(value: unknown): string {
  if (isWritten(value)) return numberKey(value);
  if (Array.isArray(value)) return `[${value.map(keyOf).join(',')}]`;
  if (!isTable(value)) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${keyOf(value[name])}`).join(',')}}`;
}

/** Which part of what was given each table of its copy is. */
function remember(copy: unknown, given: unknown, by: WeakMap<object, Schema>): void {
  if (typeof copy !== 'object' || copy === null || typeof given !== 'object' || given === null) return;
  if (isTable(given)) by.set(copy, given);
  for (const [name, inner] of Object.entries(copy)) remember(inner, Reflect.get(given, name), by);
}

type Compiled = Result<ArgumentCheck, SchemaFault>;
/** By text: calls that bring the same tools along share what was compiled. The oldest goes first. */
const compiled = new Map<string, Compiled>();
const mostCompiled = 512;

const compilers = new Map<string, SchemaCompiler>();

/** Older drafts say so in `$schema`; everything else is read as 2020-12, the default of tool protocols. */
function compilerFor(schema: Schema, { patterns }: SchemaOptions): SchemaCompiler {
  const named = schema['$schema'];
  const isOld = typeof named === 'string' && /draft-0[4-7]/.test(named);
  const id = `${isOld ? 'old' : 'new'} ${patterns}`;
  const known = compilers.get(id);
  if (known !== undefined) return known;
  const made = new SchemaCompiler(isOld, { patterns });
  compilers.set(id, made);
  return made;
}

/** The first place that holds something that no schema of ours may hold. */
function findForeign(value: unknown, path: readonly string[]): SchemaFault | undefined {
  if (path.length > deepestSchema) return { path: [], rule: `must have at most ${deepestSchema} levels` };
  if (Array.isArray(value))
    return firstFault(
      value.map((inner, index) => [String(index), inner]),
      path,
    );
  if (!isTable(value)) {
    const isNumber = isWritten(value) && Number.isFinite(Number(value));
    const isJson = value === null || ['string', 'boolean'].includes(typeof value) || isNumber;
    return isJson ? undefined : { path, rule: 'must be a value that JSON has' };
  }
  for (const name of ['$ref', '$dynamicRef', '$recursiveRef']) {
    const target = value[name];
    if (typeof target === 'string' && !target.startsWith('#'))
      return { path: [...path, name], rule: 'must not lead to another document' };
  }
  if (value['$async'] !== undefined) return { path: [...path, '$async'], rule: 'has no place here' };
  return firstFault(Object.entries(value), path);
}

function firstFault(
  entries: readonly (readonly [string, unknown])[],
  path: readonly string[],
): SchemaFault | undefined {
  for (const [name, inner] of entries) {
    const found = findForeign(inner, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const pathOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The compiler's own words may hold values of the schema, so they are sorted into rules. */
function ruleOfFailure(error: unknown): string {
  if (error instanceof TooMuchError) return 'has too many or too large patterns';
  const text = error instanceof Error ? error.message : '';
  if (/resolve reference|hash fragment/.test(text)) return 'has a $ref that leads nowhere';
  if (/regular expression/i.test(text)) return 'has a pattern that is no regular expression';
  if (/enum must/.test(text)) return 'has an enum without values';
  return 'must be a JSON Schema that can be compiled';
}

/** Compiles the schema of a tool's arguments; a schema that was compiled before is not compiled again. */
export function compileArguments(schema: Schema, options: SchemaOptions): Compiled {
  const foreign = findForeign(schema, []);
  if (foreign !== undefined) return fail(foreign);
  if (schema['type'] !== 'object') return fail({ path: [], rule: 'must be a JSON Schema of type "object"' });
  const text = writeJson(schema);
  if (text.length > longestSchema)
    return fail({ path: [], rule: `must have at most ${longestSchema} characters` });
  const id = `${options.patterns} ${text}`;
  const known = compiled.get(id);
  if (known !== undefined) return known;
  const made = compile(schema, options);
  for (const oldest of compiled.keys()) {
    if (compiled.size < mostCompiled) break;
    compiled.delete(oldest);
  }
  compiled.set(id, made);
  return made;
}

function compile(schema: Schema, options: SchemaOptions): Compiled {
  const { $schema: _, ...own } = schema;
  const obeys = options.patterns === 'obeyed';
  const beyond = obeys ? findBeyond(own) : undefined;
  if (beyond !== undefined) return fail({ path: beyond, rule: patternRules.beyond });
  const compiler = compilerFor(schema, options);
  const given = obeys ? own : withoutPatterns(own);
  // A copy of its own: the compiler remembers schemas by identity and by name until they are removed.
  // With a name of our own: without one the compiler does not find the schema itself, to which `#` refers.
  const copy: Schema = { ...(plainNumbers(given) as Schema), $id: 'arguments-of-a-tool' };
  try {
    if (!isPlainSchema(plainNumbers(own)) && !compiler.isSchema(copy))
      return fail(faultOfSchema(compiler.ajv.errors?.[0]));
    const validate = compiler.compile(copy, given);
    const steps = Math.floor(mostSteps / countValues(copy));
    return ok((value) => checkArguments(value, { compiler, validate, steps }));
  } catch (error) {
    return fail({ path: [], rule: ruleOfFailure(error) });
  } finally {
    compiler.ajv.removeSchema(copy);
  }
}

function faultOfSchema(error: ErrorObject | undefined): SchemaFault {
  // They are those of JSON Schema itself.
  const allowed: unknown = error?.keyword === 'enum' ? error.params['limit'] : undefined;
  return {
    path: pathOf(error?.instancePath ?? ''),
    rule: Array.isArray(allowed)
      ? `must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`
      : (error?.message ?? 'must be a JSON Schema'),
  };
}

interface Check {
  readonly compiler: SchemaCompiler;
  readonly validate: ValidateFunction;
  /** Walks through the schema, one for each value and each reference. */
  readonly steps: number;
}

function checkArguments(value: unknown, { compiler, validate, steps }: Check): string | undefined {
  if (countValues(value) > steps) return 'the arguments hold too many values';
  try {
    if (compiler.run(validate, value, steps)) return undefined;
  } catch (error) {
    // A RangeError is one of the stack: the schema leads back to itself without an end.
    if (!(error instanceof TooMuchError) && !(error instanceof RangeError)) throw error;
    return 'the arguments take too long to check';
  }
  const faults = (validate.errors ?? []).slice(0, mostFaults).map(showFault);
  return [...new Set(faults)].join('; ').slice(0, longestFault);
}

function showFault({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = pathOf(instancePath).join('.');
  const subject = place === '' ? 'the arguments' : place;
  const { additionalProperty, format }: Record<string, unknown> = params ?? {};
  if (format === 'date' || format === 'email') return `${subject} must be ${formats[format].example}`;
  if (keyword === 'additionalProperties' && typeof additionalProperty === 'string')
    return `${subject} must not have ${JSON.stringify(additionalProperty.slice(0, 64))}`;
  return `${subject} ${message ?? 'is not valid'}`;
}

/** What one check of arguments may cost. Checks run to their end one after the other, so that one budget does for a compiler. */
/** Thrown out of a check that costs more than it may. */
class TooMuchError extends Error {
  override readonly name = 'TooMuchError';
}

/** Characters of texts times the steps that each takes, for all patterns of a check: about a second at the very most. */
const mostPatternSteps = 100_000_000;

class CheckBudget {
  #references = 0;
  #patternSteps = 0;

  /** Runs a check that may follow so many references. @throws TooMuchError */
  run<T>(references: number, check: () => T): T {
    this.#references = references;
    this.#patternSteps = mostPatternSteps;
    return check();
  }

  spendOnPattern(steps: number): void {
    this.#patternSteps -= steps;
    if (this.#patternSteps < 0) throw new TooMuchError();
  }

  /** Few references can double the work with each of them, and lead back to where they came from. */
  countReferences(ajv: Ajv): void {
    const follow = (): void => {
      this.#references -= 1;
      if (this.#references < 0) throw new TooMuchError();
    };
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const known = ajv.getKeyword(keyword);
      if (typeof known !== 'object' || !('code' in known)) continue;
      ajv.removeKeyword(keyword).addKeyword({
        ...known,
        keyword,
        code: (context, type) => {
          context.gen.code(_`${context.gen.scopeValue('func', { ref: follow })}()`);
          known.code(context, type);
        },
      });
    }
  }
}

/** Values in a value, itself included. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return 1;
  return Object.values(value).reduce((count: number, inner) => count + countValues(inner), 1);
}

/** `pattern` and `patternProperties` of a JSON Schema: which of them can be obeyed in linear time, and a schema without any. */
/** The place of the first pattern that is a regular expression and cannot be had in linear time. */
function findBeyond(schema: Schema): readonly string[] | undefined {
  let found: readonly string[] | undefined;
  const look = (source: string, path: readonly string[]): void => {
    const made = linearPattern(source);
    if (!made.ok && made.error === patternRules.beyond) found ??= path;
  };
  mapSchemas(schema, (one, path) => {
    const { pattern, patternProperties } = one;
    if (typeof pattern === 'string') look(pattern, [...path, 'pattern']);
    if (isTable(patternProperties))
      for (const source of Object.keys(patternProperties))
        look(source, [...path, 'patternProperties', source]);
    return one;
  });
  return found;
}

/** The schema without its patterns, and without what depends on the names that they allow. */
const withoutPatterns = (schema: Schema): Schema =>
  mapSchemas(schema, (one) => {
    const { pattern: _, patternProperties, ...rest } = one;
    if (patternProperties === undefined) return rest;
    const { additionalProperties: _1, unevaluatedProperties: _2, ...open } = rest;
    return open;
  }) as Schema;
