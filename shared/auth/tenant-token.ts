/**
 * Tokens that open the calls of one tenant alone: signed by the static token that opens those of all, so that the service keeps no list, and
 * another static token makes all of them void. The signature covers what the token opens. Pure but for digests.
 */
import { createHmac } from 'node:crypto';
import { isSameSecret } from './same-secret.ts';
import { minSecretBytes } from './session-token.ts';

/** The history page, the live view, and what operators may do in a running call. */
const tenantAccess = ['calls', 'live', 'listen', 'whisper', 'take_over'] as const;
export type TenantAccess = (typeof tenantAccess)[number];

/** The holder of one token could find a short secret by trying. */
export const maySign = (secret: string): boolean => Buffer.byteLength(secret) >= minSecretBytes;

export interface TenantClaims {
  readonly to: TenantAccess;
  readonly tenant: string;
  /** Unix seconds. */
  readonly expiresS: number;
}

function signatureOf({ to, tenant, expiresS }: TenantClaims, secret: string): string {
  const text = `${to} of a tenant\n${tenant}\n${expiresS}`;
  return createHmac('sha256', secret).update(text).digest('base64url');
}

export const isTenant = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name);

export const tenantToken = (claims: TenantClaims, secret: string): string =>
  [claims.to, claims.tenant, claims.expiresS, signatureOf(claims, secret)].join('.');

/** The tenant whose calls a token opens now; undefined: none. */
export function readTenantToken(
  given: string,
  { to, secret, nowS }: { readonly to: TenantAccess; readonly secret: string; readonly nowS: number },
): string | undefined {
  const [first, tenant = '', until = '', signature = '', ...more] = given.split('.');
  const isFormed = first === to && isTenant(tenant) && /^[1-9]\d{0,11}$/.test(until) && more.length === 0;
  if (!isFormed || !maySign(secret)) return undefined;
  const expiresS = Number(until);
  const isSigned = isSameSecret(signature, signatureOf({ to, tenant, expiresS }, secret));
  return isSigned && nowS < expiresS ? tenant : undefined;
}

/** A reader sees the calls of this tenant alone; without a tenant those of all. */
export interface Reader {
  readonly tenant?: string;
}

/** The reader that a token stands for: of all tenants by the static token, of one tenant by a token that it has signed. */
export function readerOf(
  given: string,
  asked: { readonly to: TenantAccess; readonly secret: string; readonly nowS: number },
): Reader | undefined {
  if (isSameSecret(given, asked.secret)) return {};
  const tenant = readTenantToken(given, asked);
  return tenant === undefined ? undefined : { tenant };
}
