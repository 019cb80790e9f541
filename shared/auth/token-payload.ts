/**
 * The payload of a session token: what it may hold (docs/tokens.md, Form). Reading and minting share these rules,
 * so what one refuses the other never makes. Rules name the field and never repeat a value. Unknown fields are ignored.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { jsonOf, parseStrictJson, type JsonNode } from './strict-json.ts';

/** The listeners that take session tokens. */
export const tokenAudiences = ['svc-ws', 'svc-rtvi', 'svc-webrtc'] as const;
export type TokenAudience = (typeof tokenAudiences)[number];

export interface SessionClaims {
  /** As signed; not yet compared with a listener. */
  readonly aud: string;
  /** Unix seconds; the token is refused from here on, plus the skew. */
  readonly expS: number;
  /** Unix seconds; 0 when the token does not say. */
  readonly nbfS: number;
  /** 1 to 128 bytes without control characters; opens one call. */
  readonly sid: string;
  readonly agent?: string;
  /** Longest call, 1 to 86400 seconds. */
  readonly maxS?: number;
  /** Scalars as texts, numbers as they were written. At most 16 entries. */
  readonly meta: ReadonlyMap<string, string>;
  /** What the call has otherwise than its agent's file says, as JSON; nothing of it is checked here. */
  readonly overrides?: string;
}

export const maxCallS = 86_400;
const maxSidBytes = 128;
const maxMetaEntries = 16;
const maxMetaKeyBytes = 64;
const maxMetaValueBytes = 256;

const integer = /^(?:0|-?[1-9][0-9]*)$/;
const controlCharacter = /\p{Cc}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Fields = ReadonlyMap<string, JsonNode>;

/** Reads and checks the bytes that were signed. The error is the rule that is broken. */
export function readPayload(bytes: Uint8Array): Result<SessionClaims, string> {
  const text = decodeUtf8(bytes);
  const node = text === undefined ? undefined : parseStrictJson(text);
  if (node?.kind !== 'object') return fail('the payload must be one JSON object without repeated keys');
  const fields = node.entries;
  const aud = readString(fields, 'aud');
  if (!aud.ok) return aud;
  const exp = readInteger(fields, 'exp');
  if (!exp.ok) return exp;
  const nbf = fields.has('nbf') ? readInteger(fields, 'nbf') : ok(0);
  if (!nbf.ok) return nbf;
  if (nbf.value >= exp.value) return fail('nbf must be before exp');
  const sid = readSid(fields);
  if (!sid.ok) return sid;
  const rest = readOptional(fields);
  if (!rest.ok) return rest;
  return ok({ aud: aud.value, expS: exp.value, nbfS: nbf.value, sid: sid.value, ...rest.value });
}

function readOptional(
  fields: Fields,
): Result<Pick<SessionClaims, 'agent' | 'maxS' | 'meta' | 'overrides'>, string> {
  const agent = fields.has('agent') ? readString(fields, 'agent') : undefined;
  if (agent?.ok === false) return agent;
  const maxS = fields.has('max_s') ? readInteger(fields, 'max_s') : undefined;
  if (maxS?.ok === false) return maxS;
  if (maxS !== undefined && (maxS.value < 1 || maxS.value > maxCallS))
    return fail(`max_s must be from 1 to ${maxCallS}`);
  const meta = readMeta(fields.get('meta'));
  if (!meta.ok) return meta;
  const overrides = fields.get('overrides');
  return ok({
    ...(agent && { agent: agent.value }),
    ...(maxS && { maxS: maxS.value }),
    meta: meta.value,
    ...(overrides && { overrides: jsonOf(overrides) }),
  });
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function readString(fields: Fields, name: string): Result<string, string> {
  const node = fields.get(name);
  return node?.kind === 'string' ? ok(node.value) : fail(`${name} must be a string`);
}

function readInteger(fields: Fields, name: string): Result<number, string> {
  const node = fields.get(name);
  const isInteger = node?.kind === 'number' && integer.test(node.text);
  const value = isInteger ? Number(node.text) : Number.NaN;
  return Number.isSafeInteger(value)
    ? ok(value)
    : fail(`${name} must be an integer, written without point and exponent`);
}

function readSid(fields: Fields): Result<string, string> {
  const sid = readString(fields, 'sid');
  if (!sid.ok) return sid;
  const isRight =
    sid.value !== '' && Buffer.byteLength(sid.value) <= maxSidBytes && !controlCharacter.test(sid.value);
  return isRight ? sid : fail(`sid must have 1 to ${maxSidBytes} bytes and no control characters`);
}

function readMeta(node: JsonNode | undefined): Result<ReadonlyMap<string, string>, string> {
  const meta = new Map<string, string>();
  if (node === undefined) return ok(meta);
  if (node.kind !== 'object') return fail('meta must be an object');
  if (node.entries.size > maxMetaEntries) return fail(`meta must have at most ${maxMetaEntries} entries`);
  for (const [key, value] of node.entries) {
    if (Buffer.byteLength(key) > maxMetaKeyBytes)
      return fail(`keys of meta must have at most ${maxMetaKeyBytes} bytes`);
    const text = scalarText(value);
    if (text === undefined) return fail('values of meta must be strings, numbers or booleans');
    if (Buffer.byteLength(text) > maxMetaValueBytes)
      return fail(`values of meta must have at most ${maxMetaValueBytes} bytes`);
    meta.set(key, text);
  }
  return ok(meta);
}

function scalarText(node: JsonNode): string | undefined {
  switch (node.kind) {
    case 'string':
      return node.value;
    case 'number':
      return node.text;
    case 'boolean':
      return String(node.value);
    case 'null':
    case 'array':
    case 'object':
      return undefined;
  }
}
