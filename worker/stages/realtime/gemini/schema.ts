/**
 * The schema of a tool as Gemini Live takes it: a part of OpenAPI with names of types in capitals. One keyword that it does not know ends the
 * session, so that all others are left out; arguments are still checked by the schema as it was declared. Pure.
 */
import { isWritten } from '../../../../shared/base/decimal.ts';
import { isRecord, listOf, recordOf, textOf, writeJson, type JsonRecord } from '../../json.ts';

/** Keywords that mean the same on both sides. */
const same = ['description', 'minimum', 'maximum', 'pattern'] as const;
/** Numbers that the service takes as text. */
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength'] as const;
const formats: ReadonlySet<unknown> = new Set(['date-time', 'float', 'double', 'int32', 'int64']);
/** Beyond that a schema says nothing to a model, and may go round in a circle. */
const deepest = 32;

/** Of a whole tool; absent for one that takes no arguments, because an object must have properties. */
export function wireParameters(parameters: JsonRecord): JsonRecord | undefined {
  const properties = recordOf(parameters['properties']);
  return properties === undefined || Object.keys(properties).length === 0
    ? undefined
    : wireSchema({ ...parameters, type: 'object' }, 0);
}

function wireSchema(schema: JsonRecord, depth: number): JsonRecord {
  if (depth > deepest) return { type: 'STRING' };
  const named = [schema['type']].flat().filter((type) => typeof type === 'string');
  const types = named.filter((type) => type !== 'null');
  const either = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])].filter(isRecord);
  // Variants of an object that has properties of its own only say more of these.
  const variants = isRecord(schema['properties']) ? [] : either;
  const isNull = (variant: JsonRecord): boolean => variant['type'] === 'null' || variant['const'] === null;
  const several =
    types.length > 1
      ? types.map((type) => ({ ...schema, type, description: undefined }))
      : variants.filter((variant) => !isNull(variant));
  const allowed = schema['const'] === undefined ? listOf(schema['enum']) : [schema['const']];
  const isNullable = named.includes('null') || variants.some(isNull) || allowed.includes(null);
  const nullable = isNullable ? { nullable: true } : {};
  const [first, second] = several;
  if (first !== undefined && second === undefined && types.length === 0)
    return { ...wireSchema({ ...first, ...described(schema) }, depth + 1), ...nullable };
  if (second !== undefined)
    return { ...described(schema), anyOf: several.map((one) => wireSchema(one, depth + 1)), ...nullable };
  const type = types[0] ?? guessed(schema, allowed);
  const chosen = allowed.filter((value) => value !== null);
  const isEnumerable = type === 'string' && chosen.every((value) => value !== '');
  return {
    type: type.toUpperCase(),
    ...plain(schema, isEnumerable || !isListed(type) ? [] : chosen),
    ...parts(schema, type, depth),
    ...(isEnumerable && chosen.length > 0 && { enum: chosen.map(String), format: 'enum' }),
    ...nullable,
  };
}

/** The service enumerates text alone, and none that is empty: other values are told in words. Truth has two, and those of objects and lists say nothing. */
const isListed = (type: string): boolean => type === 'string' || type === 'number' || type === 'integer';

const described = ({ description }: JsonRecord): JsonRecord =>
  typeof description === 'string' ? { description } : {};

/** Every schema names its type, also one that takes anything. */
function guessed(schema: JsonRecord, allowed: readonly unknown[]): string {
  if (isRecord(schema['properties'])) return 'object';
  if (schema['items'] !== undefined) return 'array';
  const kindOf = (value: unknown): string => (isWritten(value) ? 'number' : typeof value);
  const kinds = new Set(allowed.filter((value) => value !== null).map(kindOf));
  const [kind] = kinds;
  return kinds.size === 1 && (kind === 'number' || kind === 'boolean') ? kind : 'string';
}

function plain(schema: JsonRecord, listed: readonly unknown[]): JsonRecord {
  const { format, description } = schema;
  const kept = same.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]));
  const counted = counts.flatMap((key) => (schema[key] === undefined ? [] : [[key, writeJson(schema[key])]]));
  // Models write the form and the values that they are told, in whatever place.
  const told = [
    ...(typeof format === 'string' && !formats.has(format) ? [`Format: ${format}.`] : []),
    ...(listed.length > 0 ? [`One of: ${listed.map((value) => writeJson(value)).join(', ')}.`] : []),
  ];
  return {
    ...(Object.fromEntries([...kept, ...counted]) as JsonRecord),
    ...(formats.has(format) && { format }),
    ...(told.length > 0 && { description: [textOf(description), ...told].join(' ').trimStart() }),
  };
}

function parts(schema: JsonRecord, type: string, depth: number): JsonRecord {
  if (type === 'array') return { items: wireSchema(recordOf(schema['items']) ?? {}, depth + 1) };
  const properties = recordOf(schema['properties']);
  if (type !== 'object' || properties === undefined) return {};
  const required = listOf(schema['required']);
  const entries = Object.entries(properties);
  return {
    properties: Object.fromEntries(
      entries.map(([key, one]) => [key, wireSchema(recordOf(one) ?? {}, depth + 1)]),
    ),
    ...(required.length > 0 && { required }),
  };
}
