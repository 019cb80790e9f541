/** Reads what a server of the Model Context Protocol sends: its tools and their results. All of it is untrusted. */
import * as z from 'zod';
import type { ToolDeclaration } from '../../stages/stage.ts';
import { mostResultBytes, unreadAnswer, type ToolReport, type ToolRunRequest } from '../tool.ts';

/** Tools and pages of a server that are looked at. */
const mostTools = 128;
const mostPages = 8;
/** Parts of one result. */
const mostParts = 64;
/** What is kept of a description (spec 02, Tool declaration). */
const longestDescription = 4_096;
/** What the LLM is told of a failure. */
const longestFailure = 2_000;

const listedTool = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
});

export const listPage = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().max(4_096).optional(),
});

export const toolResult = z.looseObject({
  content: z
    .array(z.looseObject({ type: z.string() }))
    .max(mostParts)
    .default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

/** Asks for pages until there are no more, or as many as are looked at. */
export async function readListing(
  ask: (cursor: string | undefined) => Promise<z.output<typeof listPage>>,
): Promise<ToolDeclaration[]> {
  const tools: ToolDeclaration[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages && tools.length < mostTools; page += 1) {
    const { tools: listed, nextCursor } = await ask(cursor);
    for (const entry of listed.slice(0, mostTools - tools.length)) {
      const found = listedTool.safeParse(entry);
      if (!found.success) continue;
      const { name, description = '', inputSchema } = found.data;
      tools.push({ name, description: description.slice(0, longestDescription), parameters: inputSchema });
    }
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return tools;
}

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const resourcePart = z.object({ type: z.literal('resource'), resource: z.object({ text: z.string() }) });

/** A part of an answer as text; what is no text is only named. */
function textOf(part: { readonly type: string }): string {
  const text = textPart.safeParse(part);
  if (text.success) return text.data.text;
  const resource = resourcePart.safeParse(part);
  return resource.success ? resource.data.resource.text : `[${part.type.slice(0, 32)}, not shown]`;
}

/** The report of a result, bounded in size. */
export function reportOf(
  { content, structuredContent, isError }: z.output<typeof toolResult>,
  kind: ToolRunRequest['kind'],
): ToolReport {
  const text =
    content.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : content.map(textOf).join('\n');
  if (isError) return { kind: 'failed', message: text.slice(0, longestFailure), transport: false };
  if (Buffer.byteLength(text) > mostResultBytes)
    return unreadAnswer('the answer is larger than 64 KiB', kind);
  return { kind: 'result', text };
}
