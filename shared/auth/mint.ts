/**
 * Makes session tokens, for the command line, tests and backends in Node. The verifier accepts whatever this makes: the payload
 * goes through the verifier's own rules before it is signed (docs/tokens.md, Making tokens).
 */
import { fail, ok, type Result } from '../base/result.ts';
import { encodeBase64Url } from './base64url.ts';
import {
  isTooLarge,
  maxLifetimeS,
  maxTokenBytes,
  minSecretBytes,
  sign,
  tokenPrefix,
} from './session-token.ts';
import { readPayload, type TokenAudience } from './token-payload.ts';

export interface MintClaims {
  readonly aud: TokenAudience;
  /** Seconds from now until the token expires; 30 to 120 are usual, at most 86400. */
  readonly ttlS: number;
  /** Opens one call: never give the same id twice. */
  readonly sid: string;
  /** Unix seconds before which the token is refused. */
  readonly nbfS?: number;
  readonly agent?: string;
  /** Longest call, 1 to 86400 seconds. */
  readonly maxS?: number;
  readonly meta?: Readonly<Record<string, string | number | boolean>>;
  /** What the call has otherwise than its agent's file says, by the paths of its keys, as far as the file allows it. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

export interface MintOptions {
  /** At least 32 bytes; the server's SVC_SESSION_SECRET. */
  readonly secret: string;
  /** Unix seconds. */
  readonly nowS: number;
}

/** Unix seconds reach this in the year 5138, milliseconds passed it in 1973. */
const leastMilliseconds = 1e11;

/** A signed token, or the rule that the arguments break. */
export function mintSessionToken(claims: MintClaims, options: MintOptions): Result<string, string> {
  const rule = brokenRule(claims, options);
  if (rule !== undefined) return fail(rule);
  const payload = Buffer.from(
    JSON.stringify({
      aud: claims.aud,
      exp: options.nowS + claims.ttlS,
      nbf: claims.nbfS,
      sid: claims.sid,
      agent: claims.agent,
      max_s: claims.maxS,
      meta: claims.meta,
      overrides: claims.overrides,
    }),
  );
  const read = readPayload(payload);
  if (!read.ok) return read;
  const token = `${tokenPrefix}.${encodeBase64Url(payload)}.${encodeBase64Url(sign(payload, options.secret))}`;
  return isTooLarge(token) ? fail(`the token must have at most ${maxTokenBytes} bytes`) : ok(token);
}

function brokenRule({ ttlS }: MintClaims, { secret, nowS }: MintOptions): string | undefined {
  if (Buffer.byteLength(secret) < minSecretBytes)
    return `the secret must have at least ${minSecretBytes} bytes`;
  if (!Number.isSafeInteger(nowS) || nowS < 0) return 'now must be whole seconds since 1970';
  if (nowS >= leastMilliseconds) return 'now must be in seconds, and looks like milliseconds';
  if (!Number.isSafeInteger(ttlS) || ttlS < 1 || ttlS > maxLifetimeS)
    return `the TTL must be whole seconds from 1 to ${maxLifetimeS}`;
  return undefined;
}
