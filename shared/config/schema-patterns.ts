/** `pattern` and `patternProperties` of a JSON Schema: which of them can be obeyed in linear time, and a schema without any. */
import { linearPattern, patternRules } from '../base/linear-pattern.ts';
import { mapSchemas, type Schema } from './schema-walk.ts';
import { isTable } from './table.ts';

/** The place of the first pattern that is a regular expression and cannot be had in linear time. */
export function findBeyond(schema: Schema): readonly string[] | undefined {
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
export const withoutPatterns = (schema: Schema): Schema =>
  mapSchemas(schema, (one) => {
    const { pattern: _, patternProperties, ...rest } = one;
    if (patternProperties === undefined) return rest;
    const { additionalProperties: _1, unevaluatedProperties: _2, ...open } = rest;
    return open;
  }) as Schema;
