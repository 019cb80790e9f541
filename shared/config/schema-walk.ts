/** The schemas that a JSON Schema holds, by its keywords: what lies in `const`, `enum`, `default` and `examples` is data. */
import { isTable } from './table.ts';

export type Schema = Readonly<Record<string, unknown>>;

const single: readonly string[] = [
  ...['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];
const listed: readonly string[] = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const named: readonly string[] = [
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
];

/** A copy in which every schema is what `change` makes of it, the inner ones before those that hold them. It must be finite in depth. */
export function mapSchemas(
  schema: unknown,
  change: (schema: Schema, path: readonly string[]) => Schema,
  path: readonly string[] = [],
): unknown {
  if (!isTable(schema)) return schema;
  const inner = (value: unknown, ...at: readonly string[]): unknown =>
    mapSchemas(value, change, [...path, ...at]);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (Array.isArray(value) && listed.includes(keyword))
      return [keyword, value.map((one, index) => inner(one, keyword, String(index)))];
    if (isTable(value) && named.includes(keyword))
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one, keyword, name)])),
      ];
    return [keyword, single.includes(keyword) ? inner(value, keyword) : value];
  });
  return change(Object.fromEntries(entries), path);
}
