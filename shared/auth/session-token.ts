/**
 * Verification of session tokens (docs/tokens.md), in this order: length, form, signature, payload, audience,
 * times. The payload is parsed after its signature is established and never before. Nothing here throws on any token, and
 * nothing remembers one: single use is the business of the owner of the used ids.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { fail, ok, type Result } from '../base/result.ts';
import { decodeBase64Url } from './base64url.ts';
import type { TokenFault } from './token-fault.ts';
import { readPayload, type SessionClaims, type TokenAudience } from './token-payload.ts';

export const maxTokenBytes = 4096;
/** Allowed difference between the clocks of minter and server, on each side. */
export const skewS = 30;
/** A token may expire at most this far ahead, plus the skew. */
export const maxLifetimeS = 86_400;
/** Shortest secret, in bytes of UTF-8 (docs/reference/server-settings.md, `SVC_SESSION_SECRET`). */
export const minSecretBytes = 32;

export const tokenPrefix = 'v1';

export interface VerifyOptions {
  /** The current secret, then the previous one if there is one. */
  readonly secrets: readonly string[];
  readonly audience: TokenAudience;
  /** The server's clock, Unix seconds. */
  readonly nowS: number;
}

/** A token in its parts, nothing of it believed yet. */
export interface TokenParts {
  readonly payload: Buffer;
  readonly signature: Buffer;
}

/** The first thing that is wrong with a token, or what it says (docs/tokens.md, Answers; all but single use). */
export function verifySessionToken(token: string, options: VerifyOptions): Result<SessionClaims, TokenFault> {
  const parts = splitToken(token);
  if (!parts.ok) return parts;
  if (signingSecret(parts.value, options.secrets) === undefined) return fail('wrong_signature');
  const claims = readPayload(parts.value.payload);
  if (!claims.ok) return fail('bad_payload');
  const fault = claimsFault(claims.value, options);
  return fault === undefined ? ok(claims.value) : fail(fault);
}

/** Length and form alone. The signed bytes are the JSON text of the payload, as sent. */
export function splitToken(token: string): Result<TokenParts, 'too_large' | 'malformed'> {
  if (isTooLarge(token)) return fail('too_large');
  const [prefix, payloadText, signatureText, ...more] = token.split('.');
  if (prefix !== tokenPrefix || payloadText === undefined || signatureText === undefined || more.length > 0)
    return fail('malformed');
  const payload = decodeBase64Url(payloadText);
  const signature = decodeBase64Url(signatureText);
  return payload === undefined || signature === undefined ? fail('malformed') : ok({ payload, signature });
}

export function isTooLarge(token: string): boolean {
  return token.length > maxTokenBytes || Buffer.byteLength(token) > maxTokenBytes;
}

/** Index of the secret that made the signature, or undefined. Time does not depend on where signatures differ. */
export function signingSecret(parts: TokenParts, secrets: readonly string[]): number | undefined {
  const index = secrets.findIndex((secret) => {
    const expected = sign(parts.payload, secret);
    return expected.length === parts.signature.length && timingSafeEqual(expected, parts.signature);
  });
  return index === -1 ? undefined : index;
}

/** The key is the UTF-8 of the secret (docs/tokens.md, Form). */
export function sign(payload: Uint8Array, secret: string): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(payload).digest();
}

/** Audience and times against the server's clock; undefined when the claims are in order. */
function claimsFault(
  claims: SessionClaims,
  { audience, nowS }: Pick<VerifyOptions, 'audience' | 'nowS'>,
): TokenFault | undefined {
  if (claims.aud !== audience) return 'wrong_audience';
  if (nowS < claims.nbfS - skewS) return 'not_yet_valid';
  if (nowS >= claims.expS + skewS) return 'expired';
  return claims.expS > nowS + maxLifetimeS + skewS ? 'lifetime_too_long' : undefined;
}
