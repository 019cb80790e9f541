/**
 * Addresses of providers that an agent file may override (docs/reference/agent-file.md, `base_url` and `url`). Rules are about the shape of the
 * address only; nothing is resolved. No message repeats the address, because people put credentials into them.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import { isLoopbackHost } from '../../net/loopback.ts';

export interface Endpoint {
  /** The address without a closing slash. */
  readonly text: string;
  readonly host: string;
  /** Over TLS, so that a credential may travel. */
  readonly isEncrypted: boolean;
  readonly isLoopback: boolean;
}

export interface EndpointRules {
  /** `ws` stands for ws:// and wss://, `http` for http:// and https://. */
  readonly family: 'ws' | 'http';
  /** `allowed`, or the key that takes it in place of the address. */
  readonly path: 'allowed' | 'path' | 'path_and_query';
  /** Where the unencrypted form may lead. */
  readonly plain: 'loopback' | 'any-host';
}

const schemeRules: Readonly<Record<EndpointRules['family'], Record<EndpointRules['plain'], string>>> = {
  ws: {
    'any-host': 'must be a ws:// or wss:// address',
    loopback: 'must be a wss:// address; ws:// only to a loopback host',
  },
  http: {
    'any-host': 'must be an http:// or https:// address',
    loopback: 'must be an https:// address; http:// only to a loopback host',
  },
};

/** Reads an address; the error is the rule that it breaks. */
export function readEndpoint(address: string, rules: EndpointRules): Result<Endpoint, string> {
  const schemeRule = schemeRules[rules.family][rules.plain];
  const hasScheme =
    address.toLowerCase().startsWith(`${rules.family}://`) ||
    address.toLowerCase().startsWith(`${rules.family}s://`);
  if (!hasScheme || /[\s\\]/.test(address) || !URL.canParse(address)) return fail(schemeRule);
  const url = new URL(address);
  const isEncrypted = url.protocol === `${rules.family}s:`;
  const isLoopback = isLoopbackHost(url.hostname);
  if (!isEncrypted && rules.plain === 'loopback' && !isLoopback) return fail(schemeRule);
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold credentials; name an environment variable with api_key_env');
  }
  if (address.includes('?') || address.includes('#')) return fail('must have neither a query nor a fragment');
  if (rules.path !== 'allowed' && url.pathname !== '/')
    return fail(`must have no path; the key ${rules.path} takes it`);
  const text = `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '');
  return ok({ text, host: url.hostname, isEncrypted, isLoopback });
}
