/** Reads what a server of the Model Context Protocol sends: its tools and their results. All of it is untrusted. */
import * as z from 'zod';
import { exactWhereNeeded } from '../../../shared/base/decimal.ts';
import { writeJson } from '../../../shared/base/exact-json.ts';
import { isDeeperThan } from '../../../shared/base/nesting.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { mapSchemas, type Schema } from '../../../shared/config/schema-walk.ts';
import { isTable } from '../../../shared/config/table.ts';
import type { ToolDeclaration } from '../../stages/stage.ts';
import { deepestRead } from './messages.ts';
import { mostResultBytes, unreadAnswer, type ToolReport, type ToolRunRequest } from '../tool.ts';

/** Tools and pages of a server that are looked at. */
const mostTools = 128;
const mostPages = 8;
/** What is kept of a description (as for an agent process: docs/reference/agent-link.md, Tool declaration). */
const longestDescription = 4_096;
const longestName = 256;
/** What the LLM is told of a failure. */
const longestFailure = 2_000;

export const listPage = z.looseObject({
  tools: z.array(z.unknown()).default([]),
  nextCursor: z.string().max(4_096).optional(),
});

/** The parts of a result, where a server writes one, or its text, in the place of a list. */
function partsOf(content: unknown): unknown {
  if (content === undefined) return undefined;
  return (Array.isArray(content) ? content : [content]).map((part: unknown) => {
    if (!isTable(part)) return { type: 'text', text: textOfStructured(part) };
    return part['type'] === undefined && typeof part['text'] === 'string' ? { ...part, type: 'text' } : part;
  });
}

export const toolResult = z.looseObject({
  content: z.preprocess(partsOf, z.array(z.looseObject({ type: z.string() })).default([])),
  /** Its text. */
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

/** What a server offers, and what of it cannot be offered on. */
export interface Listing {
  readonly tools: readonly ToolDeclaration[];
  readonly leftOut: readonly LeftOutTool[];
}

export interface LeftOutTool {
  readonly name: string;
  /** Continues the name. */
  readonly rule: string;
}

/** Asks for pages until there are no more, or as many as are looked at. Only tools that are wanted count. */
export async function readListing(
  ask: (cursor: string | undefined) => Promise<z.output<typeof listPage>>,
  isWanted: (name: string) => boolean,
): Promise<Listing> {
  const tools: ToolDeclaration[] = [];
  const leftOut: LeftOutTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const { tools: listed, nextCursor = '' } = await ask(cursor);
    // A server that takes no notice of cursors gives the same page again.
    const known = new Set(tools.map(({ name }) => name));
    for (const entry of listed) {
      const read = readTool(entry);
      if (!isWanted(read.ok ? read.value.name : read.error.name)) continue;
      if (!read.ok) leftOut.push(read.error);
      else if (known.has(read.value.name)) continue;
      else if (tools.length < mostTools) tools.push(read.value);
      else leftOut.push({ name: read.value.name, rule: `is one more than the ${mostTools} that are taken` });
    }
    if (nextCursor === '' || nextCursor === cursor) return { tools, leftOut };
    cursor = nextCursor;
  }
  leftOut.push({ name: '', rule: `stands behind the ${mostPages} pages of tools that are read` });
  return { tools, leftOut };
}

function readTool(entry: unknown): Result<ToolDeclaration, LeftOutTool> {
  const { name, description, ...given }: Record<string, unknown> = isTable(entry) ? entry : {};
  // Servers that are written by hand name it as the LLM interfaces do.
  const inputSchema = given['inputSchema'] ?? given['input_schema'] ?? given['parameters'] ?? true;
  if (typeof name !== 'string' || name === '') return fail({ name: '', rule: 'has no name' });
  if (name.length > longestName || /\p{Cc}/u.test(name))
    return fail({
      name: name.slice(0, 64),
      rule: 'has a name that is too long, or holds control characters',
    });
  if (inputSchema !== true && !isTable(inputSchema))
    return fail({ name, rule: 'has no schema of arguments' });
  const text = typeof description === 'string' ? description.slice(0, longestDescription) : '';
  return ok({
    name,
    description: text,
    parameters: asArguments(inputSchema === true ? {} : readSchema(inputSchema)),
  });
}

/**
 * As today's draft has it what older drafts and languages without empty objects write, and without what is null in the place of nothing. A schema
 * that is too deep is refused later.
 */
function readSchema(given: Schema): Schema {
  if (isDeeperThan(given, deepestRead)) return given;
  const isOld = /draft-0/.test(String(given['$schema']));
  return mapSchemas(exactWhereNeeded(given), (schema) => {
    const {
      properties,
      minimum,
      maximum,
      exclusiveMinimum: above,
      exclusiveMaximum: below,
      id: _,
      ...rest
    } = withoutNulls(schema);
    return {
      ...(isOld ? rest : withPrefix(rest)),
      ...(properties !== undefined && { properties: isEmptyList(properties) ? {} : anyForNull(properties) }),
      ...(minimum !== undefined && { [above === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
      ...(maximum !== undefined && { [below === true ? 'exclusiveMaximum' : 'maximum']: maximum }),
      ...(above !== undefined && typeof above !== 'boolean' && { exclusiveMinimum: above }),
      ...(below !== undefined && typeof below !== 'boolean' && { exclusiveMaximum: below }),
    };
  }) as Schema;
}

/** Of these, null is a value like others. */
const mayBeNull = ['const', 'default'];

const withoutNulls = (schema: Schema): Schema =>
  Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => value !== null || mayBeNull.includes(key)),
  );

const anyForNull = (properties: unknown): unknown =>
  isTable(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schema ?? {}]))
    : properties;

function withPrefix({ items, additionalItems, ...rest }: Schema): Schema {
  if (!Array.isArray(items)) return { ...rest, ...(items !== undefined && { items }) };
  return { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Arguments are an object, whatever else a schema permits. */
function asArguments({ type, ...schema }: Schema): Schema {
  const mayBeObject = type === undefined || (Array.isArray(type) && type.includes('object'));
  return { type: mayBeObject ? 'object' : type, ...schema };
}

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const resourcePart = z.object({ type: z.literal('resource'), resource: z.object({ text: z.string() }) });

/** A part of an answer as text; a part that is no text is only named. */
function textOf(part: { readonly type: string }): string {
  const text = textPart.safeParse(part);
  if (text.success) return text.data.text;
  const resource = resourcePart.safeParse(part);
  return resource.success ? resource.data.resource.text : `[${part.type.slice(0, 32)}, not shown]`;
}

function textOfStructured(content: unknown): string {
  return typeof content === 'string' ? content : writeJson(content);
}

/** The report of a result, bounded in size. */
export function reportOf(
  { content, structuredContent, isError }: z.output<typeof toolResult>,
  kind: ToolRunRequest['kind'],
): ToolReport {
  const shown = content
    .map(textOf)
    .filter((part) => part.trim() !== '')
    .join('\n');
  const isBlank = shown === '';
  const text = isBlank && structuredContent !== undefined ? textOfStructured(structuredContent) : shown;
  if (isError) return { kind: 'failed', message: text.slice(0, longestFailure), transport: false };
  if (Buffer.byteLength(text) > mostResultBytes)
    return unreadAnswer('the answer is larger than 64 KiB', kind);
  return { kind: 'result', text };
}
