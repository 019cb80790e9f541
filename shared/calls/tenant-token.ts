/**
 * Tokens of the history page that open the calls of one tenant: signed by the token that opens all of them, so that the service keeps no list, and
 * a new SVC_CALLS_TOKEN makes all of them void. Pure but for digests.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../auth/same-secret.ts';
import { minSecretBytes } from '../auth/session-token.ts';

const beginning = 'calls';

/** The holder of one token could find a short secret by trying. */
export const maySign = (secret: string): boolean => Buffer.byteLength(secret) >= minSecretBytes;

export interface TenantClaims {
  readonly tenant: string;
  /** Unix seconds. */
  readonly expiresS: number;
}

function signatureOf({ tenant, expiresS }: TenantClaims, secret: string): string {
  const text = `calls of a tenant\n${tenant}\n${expiresS}`;
  return createHmac('sha256', secret).update(text).digest('base64url');
}

export const isTenant = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

export const tenantToken = (claims: TenantClaims, secret: string): string =>
  [beginning, claims.tenant, claims.expiresS, signatureOf(claims, secret)].join('.');

/** The tenant whose calls a token opens now; undefined: none. */
export function readTenantToken(given: string, secret: string, nowS: number): string | undefined {
  const [first, tenant = '', until = '', signature = '', ...more] = given.split('.');
  const isFormed =
    first === beginning && isTenant(tenant) && /^[1-9]\d{0,11}$/.test(until) && more.length === 0;
  if (!isFormed || !maySign(secret)) return undefined;
  const expiresS = Number(until);
  const isSigned = isSameSecret(signature, signatureOf({ tenant, expiresS }, secret));
  return isSigned && nowS < expiresS ? tenant : undefined;
}
