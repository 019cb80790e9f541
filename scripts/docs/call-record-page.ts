/** The page of the record of a call: its fields out of its schema, and the ways in which calls end. */
import * as z from 'zod';
import { callEnds } from '../../shared/calls/ends.ts';
import { callRecordSchema, recordLimits } from '../../shared/calls/record.ts';
import { markdownTable } from './markdown-table.ts';

/** What is read of a JSON Schema. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Longer lists are told by a table of their own, or by the reader's eye. */
const mostShown = 8;

function typeOf({ type = '', format, items, enum: values, const: only }: Schema): string {
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values !== undefined)
    return values.length > mostShown ? 'text' : values.map((one) => `\`${String(one)}\``).join(', ');
  if (format === 'date-time') return 'time, ISO 8601';
  if (items !== undefined) return 'list';
  return (
    { string: 'text', integer: 'integer', number: 'number', object: 'object', boolean: 'true' }[type] ?? type
  );
}

type Row = readonly [path: string, type: string, always: string, text: string];

function rowsOf(path: string, schema: Schema, isRequired: boolean): readonly Row[] {
  const own: Row = [`\`${path}\``, typeOf(schema), isRequired ? 'yes' : '', schema.description ?? ''];
  const { properties, required = [], items, additionalProperties: values } = schema;
  if (items?.properties !== undefined) return [own, ...childrenOf(`${path}[]`, items)];
  if (properties !== undefined) return [own, ...childrenOf(path, { ...schema, properties, required })];
  if (typeof values === 'object' && Object.keys(values).length > 0)
    return [own, ...rowsOf(`${path}.NAME`, values, false)];
  return [own];
}

const childrenOf = (path: string, { properties = {}, required = [] }: Schema): readonly Row[] =>
  Object.entries(properties).flatMap(([name, child]) =>
    rowsOf(path === '' ? name : `${path}.${name}`, child, required.includes(name)),
  );

export function callRecordPage(): string {
  const schema = z.toJSONSchema(callRecordSchema) as Schema;
  const ends = Object.entries(callEnds).map(([code, end]) => [
    `\`${code}\``,
    end.by,
    'isFailure' in end ? 'yes' : '',
    end.text,
  ]);
  return `# The record of a call

Generated from the schema in \`shared/calls/record.ts\`; \`npm run docs\` writes it anew. [Records of calls](../calls.md) says what they are for.

A record is one JSON object. What a call did not have is absent, unless *always* says yes. Times within a call are milliseconds since it began. A record has at
most ${recordLimits.turns} turns, ${recordLimits.transcript} lines of transcript, and ${recordLimits.entries} entries of each other list; \`truncated\` says that there was more.

## Fields

${markdownTable(['Field', 'Value', 'Always', 'Meaning'], childrenOf('', schema))}

## Ends

Every call ends in one of these ways. \`end.by\` says who ended it, \`end.detail\` more where there is more to say.

${markdownTable(['\`end.code\`', '\`end.by\`', 'Went wrong', 'Meaning'], ends)}
`;
}
