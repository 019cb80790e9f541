/**
 * The schema of a tool as every LLM interface takes it. OpenAI's refuse a whole request for one object without `properties`, one array without
 * `items`, or combinators at the top; Google's know a part of JSON Schema; Anthropic's have rules for names; llama.cpp makes a grammar of all tools, and
 * refuses the request for one expression, length or value that it has no grammar for. Arguments are still checked by
 * the schema as it was declared, so that nothing is permitted by leaving something out. Pure; an ordinary schema stays as it is.
 */
import { writeJson } from '../../shared/base/exact-json.ts';
import type { Schema } from '../../shared/config/schema-walk.ts';
import { isTable } from '../../shared/config/table.ts';
import { offeredName } from './offered-name.ts';

export interface OfferedSchema {
  readonly parameters: Schema;
  /** Arguments that have another name for the LLM, by that name. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** What every interface takes. All else (references, conditions, patterns of names, notes of other programs) is written out or left out. */
const known: ReadonlySet<string> = new Set([
  ...[
    'type',
    'title',
    'description',
    'default',
    'examples',
    'enum',
    'const',
    'format',
    'pattern',
    'anyOf',
    'oneOf',
  ],
  ...[
    'properties',
    'required',
    'additionalProperties',
    'minProperties',
    'maxProperties',
    'minLength',
    'maxLength',
  ],
  ...['items', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]);
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
const texts: ReadonlySet<string> = new Set(['title', 'description', 'format']);
/** Whole, and of signs that stand for themselves, classes of them and how often they come. */
const plainPattern = /^\^(?:[^\\[(]|\((?!\?)|\[[^\\\]]*\]|\\[\^$.[\]()|{}*+?])*\$$/;
const lengths: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);
const longestLength = 1_000;
/** Any of them says what kind of value a schema is for. */
const telling: ReadonlySet<string> = new Set([
  ...['type', 'anyOf', 'oneOf', 'enum', 'const', 'properties', 'items', 'additionalProperties', 'pattern'],
]);
const anything: Schema = {
  type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
  items: {},
};
/** Schemas that are written out in place of references; the references behind them may be anything. */
const mostWrittenOut = 1_000;

export function offeredSchema(declared: Schema): OfferedSchema {
  const whole = withoutVariants(new Writer(declared).schema(declared, []) ?? {});
  const renamed = new Map<string, string>();
  const names = Object.keys(isTable(whole['properties']) ? whole['properties'] : {});
  const taken = new Set(names.filter((name) => fits.test(name)));
  const shown = (name: string): string => {
    const offered = offeredName(name, { fits, isTaken: (other) => taken.has(other) });
    taken.add(offered);
    if (offered !== name) renamed.set(offered, name);
    return offered;
  };
  const offeredBy = new Map(names.map((name) => [name, shown(name)]));
  if (renamed.size === 0) return { parameters: whole, renamed };
  const { properties, required } = whole;
  const entries = isTable(properties) ? Object.entries(properties) : [];
  const parameters = {
    ...whole,
    properties: Object.fromEntries(entries.map(([name, schema]) => [offeredBy.get(name) ?? name, schema])),
    ...(required !== undefined && { required: namesIn(required).map((name) => offeredBy.get(name) ?? name) }),
  };
  return { parameters, renamed };
}

/** Of an argument, for Anthropic. */
const fits = /^[A-Za-z0-9_.-]{1,64}$/;

/** An object with properties: what differs between its variants is optional. */
function withoutVariants(schema: Schema): Schema {
  const { anyOf, oneOf, enum: _enum, const: _const, ...own } = schema;
  const variants = [anyOf, oneOf].filter(Array.isArray).map((list) => list.filter(isTable));
  const loose = variants.flatMap((list) => {
    const inAll = namesIn(list[0]?.['required']).filter((name) =>
      list.every(({ required }) => namesIn(required).includes(name)),
    );
    return list.map(({ properties }): Schema => ({
      ...(isTable(properties) && { properties }),
      required: inAll,
    }));
  });
  const both = loose.reduce(merged, own);
  return withRequired({ ...both, type: 'object', properties: both['properties'] ?? {} });
}

const namesIn = (required: unknown): string[] =>
  Array.isArray(required) ? [...new Set(required.filter((name) => typeof name === 'string'))] : [];

/** Both at once, as far as one schema can say it; what the first says counts. */
function merged(first: Schema, second: Schema): Schema {
  const [a, b] = [first['properties'], second['properties']];
  const required = [...new Set([...namesIn(first['required']), ...namesIn(second['required'])])];
  return {
    ...second,
    ...first,
    ...((isTable(a) || isTable(b)) && { properties: { ...(isTable(b) && b), ...(isTable(a) && a) } }),
    ...(required.length > 0 && { required }),
  };
}

class Writer {
  readonly #root: Schema;
  #left = mostWrittenOut;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** Undefined for a schema that nothing is valid by. `within`: the references that led here. */
  schema(given: unknown, within: readonly string[]): Schema | undefined {
    if (!isTable(given)) return given === false ? undefined : {};
    if (within.length > 0) this.#left -= 1;
    if (this.#left < 0) return {};
    const entries = Object.entries(given).flatMap(([keyword, value]): [string, unknown][] => {
      const written = known.has(keyword) ? this.#keyword(keyword, value, within) : undefined;
      return written === undefined ? [] : [[keyword, written]];
    });
    const own = completed(noted(Object.fromEntries(entries), given), this.#tuple(given, within));
    const parts = Array.isArray(given['allOf'])
      ? given['allOf'].map((part) => this.schema(part, within) ?? {})
      : [];
    const all = [...parts, ...this.#target(given['$ref'], within)].reduce<Schema>(merged, own);
    if (isTable(given['patternProperties'])) {
      const { additionalProperties: _, ...open } = all;
      return withRequired(open);
    }
    return withRequired(all);
  }

  /** A schema within the whole: it says what kind of value it is for. */
  #part(given: unknown, within: readonly string[]): Schema | undefined {
    const schema = this.schema(given, within);
    if (schema === undefined || Object.keys(schema).length === 0) return schema;
    return Object.keys(schema).some((keyword) => telling.has(keyword)) ? schema : { ...anything, ...schema };
  }

  #keyword(keyword: string, value: unknown, within: readonly string[]): unknown {
    if (keyword === 'enum') return enumOf(value);
    if (data.has(keyword)) return value;
    if (value === null || (texts.has(keyword) && typeof value !== 'string')) return undefined;
    if (keyword === 'pattern')
      return typeof value === 'string' && plainPattern.test(value) ? value : undefined;
    if (lengths.has(keyword)) return Number(value) < longestLength ? value : undefined;
    if (keyword === 'required') return Array.isArray(value) ? namesIn(value) : undefined;
    if (keyword === 'properties') return isTable(value) ? this.#named(value, within) : undefined;
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      const list = Array.isArray(value) ? value.flatMap((one) => this.#part(one, within) ?? []) : [];
      return list.length > 0 ? list : undefined;
    }
    // A list of them is written as that of what they may be.
    if (keyword === 'items')
      return Array.isArray(value) || value === false ? undefined : this.#part(value, within);
    if (keyword === 'additionalProperties') return isTable(value) ? this.#part(value, within) : value;
    return value;
  }

  #named(schemas: Schema, within: readonly string[]): Schema {
    return Object.fromEntries(
      Object.entries(schemas).flatMap(([name, schema]) => {
        const written = this.#part(schema, within);
        return written === undefined ? [] : [[name, written]];
      }),
    );
  }

  /** What the items of a tuple may be. */
  #tuple({ prefixItems, items }: Schema, within: readonly string[]): Schema | undefined {
    const list: unknown = Array.isArray(prefixItems) ? prefixItems : items;
    if (!Array.isArray(list)) return undefined;
    const written = list.flatMap((one) => this.#part(one, within) ?? []);
    return written.length === 0 ? {} : { anyOf: written };
  }

  /** The schema that a reference leads to, unless it leads in a circle. */
  #target(ref: unknown, within: readonly string[]): Schema[] {
    if (typeof ref !== 'string' || within.includes(ref)) return [];
    const steps = ref
      .replace(/^#\/?/, '')
      .split('/')
      .filter((step) => step !== '');
    const found = steps.reduce<unknown>((value, step) => {
      const key = safelyDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      return (isTable(value) || Array.isArray(value)) && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined;
    }, this.#root);
    const written = found === undefined ? undefined : this.schema(found, [...within, ref]);
    return written === undefined ? [] : [written];
  }
}

/** Some refuse a value that is there twice, others one that is empty. */
function enumOf(value: unknown): readonly unknown[] | undefined {
  const listed: readonly unknown[] = Array.isArray(value) ? value.filter((one) => one !== '') : [];
  const unique = [...new Map(listed.map((one) => [writeJson(one), one])).values()];
  return unique.length > 0 ? unique : undefined;
}

function safelyDecoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** What the LLM is told in words instead, where there are any that it can keep to. */
function noted(written: Schema, { pattern, maxLength }: Schema): Schema {
  const notes = [
    ...(typeof pattern === 'string' && written['pattern'] === undefined ? [`Pattern: ${pattern}`] : []),
    ...(Number(maxLength) >= longestLength ? [`At most ${String(maxLength)} characters.`] : []),
  ];
  const { description } = written;
  const all = [...(typeof description === 'string' ? [description] : []), ...notes];
  return notes.length === 0 ? written : { ...written, description: all.join(' ') };
}

/** An array says what its items are. */
function completed(schema: Schema, tuple: Schema | undefined): Schema {
  const { type, items } = schema;
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  if (tuple !== undefined) return { ...schema, items: tuple };
  return isArray && items === undefined ? { ...schema, items: {} } : schema;
}

/** What is required is a property, and a list without names says nothing. */
function withRequired(schema: Schema): Schema {
  const { required, ...rest } = schema;
  if (!Array.isArray(required) || required.length === 0) return rest;
  const properties = isTable(rest['properties']) ? rest['properties'] : {};
  const missing = namesIn(required).filter((name) => !Object.hasOwn(properties, name));
  if (missing.length === 0) return schema;
  return {
    ...schema,
    properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, {}])) },
  };
}
