/**
 * Who asks for a call: reads the token that an upgrade presents, judges it, and takes it out of the request that travels on
 * (docs/tokens.md, Presenting tokens). Pure; nothing behind this file ever sees a token, so nothing can log or echo one. A
 * verdict marks no token as used.
 */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { overridesKey } from '../../shared/agents/overrides.ts';
import type { Sensitive } from '../../shared/config/sensitive.ts';
import { isSameSecret } from '../../shared/auth/same-secret.ts';
import { isTooLarge, verifySessionToken } from '../../shared/auth/session-token.ts';
import type { TokenFault } from '../../shared/auth/token-fault.ts';
import type { SessionClaims, TokenAudience } from '../../shared/auth/token-payload.ts';

export interface RequestHead {
  /** The request target as sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export interface CredentialOptions {
  /** The listener's SVC_*_TOKEN, if there is one. */
  readonly staticToken: Sensitive<string> | undefined;
  /** SVC_SESSION_SECRET, then SVC_SESSION_SECRET_PREV; empty when session tokens are not in use. */
  readonly secrets: readonly Sensitive<string>[];
  readonly audience: TokenAudience;
  /** Unix seconds. */
  readonly nowS: number;
  /** `bearer` takes the Authorization header alone, as POST /whip does. */
  readonly ways?: 'any' | 'bearer';
}

export type Credentials =
  /** The listener asks for nothing: it has neither a static token nor a secret. */
  | { readonly kind: 'open' }
  | { readonly kind: 'static' }
  /** Verified; its `sid` still has to be used. */
  | { readonly kind: 'session'; readonly claims: SessionClaims };

export interface Judged {
  readonly verdict: Result<Credentials, TokenFault>;
  /** Makes the request without anything that could be a token; most that ask are refused and need none. */
  readonly rest: () => RequestHead;
}

/** What one place of the head presents, and what of it travels on. */
interface Taken {
  readonly tokens: readonly string[];
  readonly rest: string | undefined;
}

/** The tokens that a request head presents in any way. */
export const presentedBy = (head: RequestHead): string[] => [
  ...bearersOf(head),
  ...takeFromUrl(head.url).tokens,
  ...protocolsOf(head).tokens,
];

/** The subprotocols that are no tokens, as a header of them; undefined when there are none. */
export const otherProtocols = (head: RequestHead): string | undefined => protocolsOf(head).rest;

/** Judges a request head. The rest of it is free of tokens whatever the verdict. */
export function judgeCredentials(head: RequestHead, options: CredentialOptions): Judged {
  const tokens = options.ways === 'bearer' ? bearersOf(head) : presentedBy(head);
  const rest = (): RequestHead => ({
    url: takeFromUrl(head.url).rest ?? '/',
    headers: withoutTokens(head.headers, otherProtocols(head)),
  });
  const hasTwoLines = new Set(authorizationsOf(head)).size > 1;
  return { verdict: judge(tokens, { ...options, hasTwoLines }), rest };
}

function withoutTokens(
  headers: RequestHead['headers'],
  protocols: string | undefined,
): RequestHead['headers'] {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'sec-websocket-protocol'),
  );
  if (protocols !== undefined) kept['sec-websocket-protocol'] = protocols;
  return kept;
}

function judge(
  tokens: readonly string[],
  options: CredentialOptions & { readonly hasTwoLines: boolean },
): Result<Credentials, TokenFault> {
  const { staticToken, secrets, audience, nowS } = options;
  if (staticToken === undefined && secrets.length === 0) return ok({ kind: 'open' });
  // A proxy and this service could each believe another one, whatever the schemes are.
  if (options.hasTwoLines) return fail('conflicting');
  const [token] = tokens;
  if (token === undefined) return fail('missing');
  if (tokens.some(isTooLarge)) return fail('too_large');
  if (tokens.some((other) => other !== token)) return fail('conflicting');
  if (staticToken !== undefined && isSameSecret(token, staticToken.reveal())) return ok({ kind: 'static' });
  if (secrets.length === 0) return fail('wrong_signature');
  const claims = verifySessionToken(token, {
    secrets: secrets.map((secret) => secret.reveal()),
    audience,
    nowS,
  });
  return claims.ok ? ok({ kind: 'session', claims: claims.value }) : claims;
}

const listOf = (value: string | string[] | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : (value ?? []);

const authorizationsOf = ({ headers }: RequestHead): string[] =>
  listOf(headers['authorization']).map((line) => line.trim());

/** Another scheme than Bearer, or a scheme alone, presents nothing. */
const bearersOf = (head: RequestHead): string[] =>
  authorizationsOf(head).flatMap((line) => /^Bearer[ \t]+(.+)$/i.exec(line)?.[1] ?? []);

const protocolsOf = ({ headers }: RequestHead): Taken =>
  takeFromProtocols(listOf(headers['sec-websocket-protocol']).join(','));

/** `?token=`; an empty one presents nothing. The other parameters keep their text and order. */
function takeFromUrl(url: string): Taken {
  const mark = url.indexOf('?');
  if (mark === -1) return { tokens: [], rest: url };
  const tokens: string[] = [];
  const kept: string[] = [];
  for (const parameter of url.slice(mark + 1).split('&')) {
    const equals = parameter.indexOf('=');
    const name = equals === -1 ? parameter : parameter.slice(0, equals);
    if (percentDecoded(name) === 'token') tokens.push(percentDecoded(parameter.slice(name.length + 1)));
    else kept.push(parameter);
  }
  const rest = kept.length === 0 ? url.slice(0, mark) : `${url.slice(0, mark)}?${kept.join('&')}`;
  return { tokens: tokens.filter((token) => token !== ''), rest };
}

/** A text that is not percent-encoded correctly stays as it is: it is no name of ours and no valid token. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

const protocolPrefix = 'svc-token.';

/** The entries `svc-token.<token>`; the rest is offered on, or nothing when no entry is left. */
function takeFromProtocols(value: string): Taken {
  if (value === '') return { tokens: [], rest: undefined };
  const entries = value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const isToken = (entry: string): boolean => entry.toLowerCase().startsWith(protocolPrefix);
  const rest = entries.filter((entry) => !isToken(entry));
  const tokens = entries.filter(isToken).map((entry) => entry.slice(protocolPrefix.length));
  return {
    tokens: tokens.filter((token) => token !== ''),
    rest: rest.length === 0 ? undefined : rest.join(', '),
  };
}

/** What the call learns of its token (docs/tokens.md, What is enforced where). */
export function signedMetadata(claims: SessionClaims): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = { session_id: claims.sid };
  if (claims.agent !== undefined) metadata['session.agent'] = claims.agent;
  if (claims.maxS !== undefined) metadata['session.max_s'] = String(claims.maxS);
  for (const [key, value] of claims.meta) metadata[`session.meta.${key}`] = value;
  if (claims.overrides !== undefined) metadata[overridesKey] = claims.overrides;
  return metadata;
}
