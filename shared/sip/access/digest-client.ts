/** How this side signs in where it is asked to (RFC 3261, 22.2; RFC 8760): the strongest way that both know. */
import { listOf, type SipResponse } from '../message/message.ts';
import { paramsOf, type Params } from '../message/fields.ts';
import type { HeaderPair } from '../message/write.ts';
import { digestResponse } from './digest.ts';

export interface Challenge {
  /** Name of the header that answers it. */
  readonly header: 'Authorization' | 'Proxy-Authorization';
  readonly algorithm: 'SHA-256' | 'MD5';
  readonly isSession: boolean;
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  /** The peer counts the uses of its nonce. */
  readonly hasQop: boolean;
  readonly isStale: boolean;
}

const asks = [
  ['www-authenticate', 'Authorization'],
  ['proxy-authenticate', 'Proxy-Authorization'],
] as const;

/** What a 401 or 407 asks for; undefined where it asks for nothing that this side can do. */
export function challengeOf(response: SipResponse): Challenge | undefined {
  const found: Challenge[] = [];
  for (const [name, header] of asks)
    for (const one of response.headers) {
      if (one.name !== name || !/^digest\s/i.test(one.value)) continue;
      const parts = listOf({ headers: [{ name, value: one.value.slice(7) }], body: noBody }, name);
      const challenge = readChallenge(header, paramsOf(parts));
      if (challenge !== undefined) found.push(challenge);
    }
  return found.find(({ algorithm }) => algorithm === 'SHA-256') ?? found[0];
}

const noBody = Buffer.alloc(0);

function readChallenge(header: Challenge['header'], params: Params): Challenge | undefined {
  const [, name, session] = /^(SHA-256|MD5)(-sess)?$/i.exec(params.get('algorithm') ?? 'MD5') ?? [];
  const [realm, nonce, opaque] = ['realm', 'nonce', 'opaque'].map((key) => params.get(key));
  const qop = params.get('qop');
  // Text that is put between quotes again must not end them.
  const isClean = [realm, nonce, opaque].every((text) => !/["\\]/.test(text ?? ''));
  if (name === undefined || realm === undefined || nonce === undefined || !isClean) return undefined;
  const offered = (qop ?? '').split(',').map((one) => one.trim().toLowerCase());
  if (qop !== undefined && !offered.includes('auth')) return undefined;
  return {
    header,
    realm,
    nonce,
    opaque,
    hasQop: qop !== undefined,
    algorithm: name.toUpperCase() === 'MD5' ? 'MD5' : 'SHA-256',
    isSession: session !== undefined,
    isStale: params.get('stale')?.toLowerCase() === 'true',
  };
}

export interface Proving {
  readonly user: string;
  readonly password: string;
  readonly method: string;
  readonly uri: string;
  readonly cnonce: string;
  /** How often the nonce was used, this time included. */
  readonly count: number;
}

export function proofOf(challenge: Challenge, proving: Proving): HeaderPair {
  const { header, algorithm, isSession, realm, nonce, opaque, hasQop } = challenge;
  const { user, password, method, uri, cnonce } = proving;
  const nc = proving.count.toString(16).padStart(8, '0');
  const qop = hasQop ? 'auth' : '';
  const response = digestResponse(
    { user, password, realm },
    { algorithm, isSession, method, uri, nonce, nc, cnonce, qop },
  );
  const fields = [
    `username="${user}"`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${uri}"`,
    `response="${response}"`,
    `algorithm=${algorithm}${isSession ? '-sess' : ''}`,
    ...(hasQop ? ['qop=auth', `nc=${nc}`] : []),
    ...(hasQop || isSession ? [`cnonce="${cnonce}"`] : []),
    ...(opaque === undefined ? [] : [`opaque="${opaque}"`]),
  ];
  return [header, `Digest ${fields.join(', ')}`];
}
