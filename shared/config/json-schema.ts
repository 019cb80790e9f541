/**
 * JSON Schemas of tool arguments (spec 02, Tool declaration: type object, no remote `$ref`). `check`, the start and the
 * calls compile them here and nowhere else, so that they agree. Nothing is ever fetched: a schema that refers outside
 * itself is refused. What is wrong with a schema is told by place and rule, without its values.
 */
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fail, ok, type Result } from '../base/result.ts';
import { isPlainSchema } from './plain-schema.ts';
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
  /**
   * Whether `pattern`, `patternProperties` and `format` are obeyed. A pattern can be written to take forever, so those of servers
   * are not: whoever wrote them checks them on its own side.
   */
  readonly patterns: 'obeyed' | 'ignored';
}

const longestSchema = 65_536;
const deepestSchema = 64;
/** Faults and characters that are told of one set of arguments. */
const mostFaults = 5;
const longestFault = 600;

const anything: RegExp = /(?:)/;
const ignorePattern = Object.assign(() => anything, { code: '(() => /(?:)/)' });

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

function ajvOptions(patterns: SchemaOptions['patterns']): Options {
  return {
    strict: false,
    allErrors: true,
    validateFormats: patterns === 'obeyed',
    formats: { date: formats.date.check, email: formats.email.check },
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    ...(patterns === 'ignored' && { code: { regExp: ignorePattern } }),
  };
}

type Compiled = Result<ArgumentCheck, SchemaFault>;
/** By text: calls that bring the same tools along share what was compiled. The oldest goes first. */
const compiled = new Map<string, Compiled>();
const mostCompiled = 512;

type Compiler = Ajv | Ajv2020;
const compilers = new Map<string, Compiler>();

/** Older drafts say so in `$schema`; everything else is read as 2020-12, the default of tool protocols. */
function compilerFor(schema: Readonly<Record<string, unknown>>, { patterns }: SchemaOptions): Compiler {
  const named = schema['$schema'];
  const isOld = typeof named === 'string' && /draft-0[4-7]/.test(named);
  const id = `${isOld ? 'old' : 'new'} ${patterns}`;
  const known = compilers.get(id);
  if (known !== undefined) return known;
  const options = ajvOptions(patterns);
  const made = isOld ? new Ajv(options) : new Ajv2020(options);
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
    const isJson = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
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
  const text = error instanceof Error ? error.message : '';
  if (/resolve reference|hash fragment/.test(text)) return 'has a $ref that leads nowhere';
  if (/regular expression/i.test(text)) return 'has a pattern that is no regular expression';
  if (/enum must/.test(text)) return 'has an enum without values';
  return 'must be a JSON Schema that can be compiled';
}

/** Compiles the schema of a tool's arguments; a schema that was compiled before is not compiled again. */
export function compileArguments(
  schema: Readonly<Record<string, unknown>>,
  options: SchemaOptions,
): Compiled {
  const foreign = findForeign(schema, []);
  if (foreign !== undefined) return fail(foreign);
  if (schema['type'] !== 'object') return fail({ path: [], rule: 'must be a JSON Schema of type "object"' });
  const text = JSON.stringify(schema);
  if (text.length > longestSchema)
    return fail({ path: [], rule: `must have at most ${longestSchema} characters` });
  const id = `${options.patterns} ${text}`;
  const known = compiled.get(id);
  if (known !== undefined) return known;
  const made = compile(schema, compilerFor(schema, options));
  for (const oldest of compiled.keys()) {
    if (compiled.size < mostCompiled) break;
    compiled.delete(oldest);
  }
  compiled.set(id, made);
  return made;
}

function compile(schema: Readonly<Record<string, unknown>>, compiler: Compiler): Compiled {
  const { $schema: _, ...own } = schema;
  // A copy of its own: the compiler remembers schemas by identity and by name until they are removed.
  // With a name of our own: without one the compiler does not find the schema itself, to which `#` refers.
  const copy = { ...own, $id: 'arguments-of-a-tool' };
  try {
    const isSchema: unknown = isPlainSchema(own) || compiler.validateSchema(copy);
    if (isSchema !== true) return fail(faultOfSchema(compiler.errors?.[0]));
    const validate = compiler.compile(copy);
    return ok((value) => checkArguments(validate, value));
  } catch (error) {
    return fail({ path: [], rule: ruleOfFailure(error) });
  } finally {
    compiler.removeSchema(copy);
  }
}

function faultOfSchema(error: ErrorObject | undefined): SchemaFault {
  // They are those of JSON Schema itself.
  const allowed: unknown = error?.keyword === 'enum' ? error.params['allowedValues'] : undefined;
  return {
    path: pathOf(error?.instancePath ?? ''),
    rule: Array.isArray(allowed)
      ? `must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`
      : (error?.message ?? 'must be a JSON Schema'),
  };
}

function checkArguments(validate: ValidateFunction, value: unknown): string | undefined {
  if (validate(value)) return undefined;
  const faults = (validate.errors ?? []).slice(0, mostFaults).map(showFault);
  return [...new Set(faults)].join('; ').slice(0, longestFault);
}

function showFault({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = pathOf(instancePath).join('.');
  const subject = place === '' ? 'the arguments' : place;
  const { additionalProperty, allowedValues, format }: Record<string, unknown> = params;
  if (format === 'date' || format === 'email') return `${subject} must be ${formats[format].example}`;
  if (keyword === 'additionalProperties' && typeof additionalProperty === 'string')
    return `${subject} must not have ${JSON.stringify(additionalProperty.slice(0, 64))}`;
  if (keyword === 'enum' && Array.isArray(allowedValues))
    return `${subject} must be one of ${JSON.stringify(allowedValues.slice(0, 32))}`;
  return `${subject} ${message ?? 'is not valid'}`;
}
