/**
 * Whether a JSON Schema is well formed beyond doubt, told by its own words alone. The full answer is that of the meta-schema, whose compilation
 * takes longer than all else at the start of a worker and would hold up every call of a worker when a call brings tools along; nearly all
 * tools say no more than what is known here.
 *
 * Invariant: what is plain is valid by the meta-schemas of draft-07 and of 2020-12. "No" says nothing but that the meta-schema must be asked.
 */
import { isTable } from './table.ts';

type Check = (value: unknown) => boolean;

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isAnything: Check = () => true;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => Number.isFinite(value);
const isScalar: Check = (value) => value === null || typeof value !== 'object';
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isStep: Check = (value) => isNumber(value) && Number(value) > 0;
const isTypeName: Check = (value) => typeof value === 'string' && typeNames.includes(value);

const isSet =
  (isItem: Check, least: number): Check =>
  (value) =>
    Array.isArray(value) &&
    value.length >= least &&
    value.every(isItem) &&
    new Set(value).size === value.length;

const isSchemas: Check = (value) => isTable(value) && Object.values(value).every(isPlainSchema);
const isSchemaList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isPlainSchema);
const isNameSet = isSet(isText, 0);
const isTypeSet = isSet(isTypeName, 1);

const checks: ReadonlyMap<string, Check> = new Map([
  ['$ref', isText],
  ['additionalProperties', isPlainSchema],
  ['allOf', isSchemaList],
  ['anyOf', isSchemaList],
  ['const', isAnything],
  ['default', isAnything],
  ['description', isText],
  ['enum', isSet(isScalar, 1)],
  ['examples', Array.isArray],
  ['exclusiveMaximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['format', isText],
  ['items', isPlainSchema],
  ['maxItems', isCount],
  ['maxLength', isCount],
  ['maxProperties', isCount],
  ['maximum', isNumber],
  ['minItems', isCount],
  ['minLength', isCount],
  ['minProperties', isCount],
  ['minimum', isNumber],
  ['multipleOf', isStep],
  ['not', isPlainSchema],
  ['oneOf', isSchemaList],
  ['pattern', isText],
  ['properties', isSchemas],
  ['required', isNameSet],
  ['title', isText],
  ['type', (value) => isTypeName(value) || isTypeSet(value)],
  ['uniqueItems', isFlag],
]);

/** True when every keyword of the schema, at every level, is a known one with a value of its kind. The value must be finite in depth. */
export function isPlainSchema(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isTable(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => checks.get(keyword)?.(value) ?? false);
}
