/**
 * Messages of a server as the protocol's library takes them. Of the structured result of a tool it would round the numbers, so that the
 * result becomes text before; and it refuses whole messages for a field that is null where it may be absent, as many servers write it.
 * Also the way out: the library would round the numbers of arguments, too.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isWritten } from '../../../shared/base/decimal.ts';
import { parseJson, plainNumbers, writeJson } from '../../../shared/base/exact-json.ts';
import { isDeeperThan } from '../../../shared/base/nesting.ts';
import { isTable } from '../../../shared/config/table.ts';

const needsReading = /"structuredContent"|"inputSchema"|"nextCursor"|null/;
/** A message with more levels stays as it is. */
export const deepestRead = 256;
/** What lies in them is data. */
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** One message as text; a text that is no message stays as it is. */
export function readableMessage(text: string): string {
  if (!needsReading.test(text)) return text;
  let message: unknown;
  try {
    message = parseJson(text);
  } catch {
    return text;
  }
  if (!isTable(message) || isDeeperThan(message, deepestRead)) return text;
  const kept = isTable(message['result']) ? readableResult(message['result']) : message['result'];
  return JSON.stringify(withSchemas(plainNumbers(withoutNulls({ ...message, result: kept })), message));
}

type Result = Readonly<Record<string, unknown>>;

function readableResult({ structuredContent: content, nextCursor: cursor, ...rest }: Result): Result {
  const isThere = content !== undefined && content !== null;
  const isPlace = typeof cursor === 'string' || isWritten(cursor);
  return {
    ...rest,
    ...(isThere && { structuredContent: writeJson(content) }),
    ...(isPlace && { nextCursor: String(cursor) }),
  };
}

/** What arguments are compared with keeps every digit, in the form that `exactWhereNeeded` reads. */
function withSchemas(plain: unknown, message: unknown): unknown {
  const [read, given] = [resultOf(plain), resultOf(message)];
  if (!isTable(plain) || !Array.isArray(read?.['tools']) || !Array.isArray(given?.['tools'])) return plain;
  const schemas = given['tools'].map((tool: unknown) => (isTable(tool) ? tool['inputSchema'] : undefined));
  const tools = read['tools'].map((tool: unknown, at) =>
    isTable(tool) && isTable(schemas[at]) ? { ...tool, inputSchema: withoutNulls(schemas[at]) } : tool,
  );
  return { ...plain, result: { ...read, tools } };
}

function resultOf(message: unknown): Result | undefined {
  const result = isTable(message) ? message['result'] : undefined;
  return isTable(result) ? result : undefined;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isTable(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (data.has(key)) return [[key, inner]];
    return inner === null || inner === undefined ? [] : [[key, withoutNulls(inner)]];
  });
  return Object.fromEntries(entries);
}

/** What is being sent, with all digits of its numbers. */
const outgoing = new AsyncLocalStorage<string>();

/** The body of a request in place of the one that the library made. */
export const exactBody = (body: string): string => outgoing.getStore() ?? body;

/** Has the transport send what {@link exactBody} then gives to its requests. */
export function sendExactly(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => outgoing.run(writeJson(message), () => send(message, options));
  return transport;
}
