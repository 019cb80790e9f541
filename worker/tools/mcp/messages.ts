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

const needsReading =
  /^\s*\[|"structuredContent"|"inputSchema"|"nextCursor"|"protocolVersion"|"id"\s*:\s*"|null/;
/** A message with more levels stays as it is. */
export const deepestRead = 256;
/**
 * One message as text; a text that is no message stays as it is. `asked`: the request that it answers, where there can be no other: servers
 * that cannot tell it write null for its id.
 */
export function readableMessage(text: string, asked?: number): string {
  if (!needsReading.test(text)) return text;
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    return text;
  }
  const only: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (!isTable(only) || isDeeperThan(only, deepestRead)) return text;
  const message = withId(only, asked);
  const kept = isTable(message['result']) ? readableResult(message['result']) : message['result'];
  return JSON.stringify(withSchemas(plainNumbers(withoutNulls({ ...message, result: kept })), message));
}

type Result = Readonly<Record<string, unknown>>;

/** Ids of this side are numbers, which some servers give back as text. */
function withId(message: Result, asked: number | undefined): Result {
  const { id } = message;
  if ('method' in message || !('error' in message || 'result' in message)) return message;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return { ...message, id: Number(id) };
  return (id === null || id === undefined) && asked !== undefined ? { ...message, id: asked } : message;
}

/** What a server can do, as languages without empty objects write it, and who it is. */
function readableOpening({ capabilities, serverInfo, ...rest }: Result): Result {
  const { name, version, ...more } = isTable(serverInfo) ? serverInfo : {};
  const able = Object.entries(isTable(capabilities) ? capabilities : {}).flatMap(
    ([key, value]): [string, unknown][] => {
      if (value === false || value === null) return [];
      return [[key, isTable(value) ? value : {}]];
    },
  );
  return {
    ...rest,
    capabilities: Object.fromEntries(able),
    serverInfo: { ...more, name: wordOf(name), version: wordOf(version) },
  };
}

const wordOf = (value: unknown): string =>
  typeof value === 'string' ? value : isWritten(value) ? String(value) : '';

function readableResult(given: Result): Result {
  const { structuredContent: content, nextCursor: cursor, ...others } = given;
  const rest = 'protocolVersion' in others ? readableOpening(others) : others;
  const isThere = content !== undefined && content !== null;
  const isPlace = typeof cursor === 'string' || isWritten(cursor);
  return {
    ...rest,
    ...(isThere && { structuredContent: writeJson(content) }),
    ...(isPlace && { nextCursor: String(cursor) }),
  };
}

/** A schema stays as it is, with every digit in the form that `exactWhereNeeded` reads: `listing.ts` knows which of its nulls are data. */
function withSchemas(plain: unknown, message: unknown): unknown {
  const [read, given] = [resultOf(plain), resultOf(message)];
  if (!isTable(plain) || !Array.isArray(read?.['tools']) || !Array.isArray(given?.['tools'])) return plain;
  const schemas = given['tools'].map((tool: unknown) => (isTable(tool) ? tool['inputSchema'] : undefined));
  const tools = read['tools'].map((tool: unknown, at) =>
    isTable(tool) && isTable(schemas[at]) ? { ...tool, inputSchema: schemas[at] } : tool,
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
