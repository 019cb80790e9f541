/** The headers that carry a provider's key. A key leaves this machine encrypted, or not at all. */
import { isLoopbackHost } from '../../shared/net/loopback.ts';

/** The bearer header, or none without a key. @throws Error as {@link keyHeaders} does. */
export function bearerHeaders(url: URL, apiKey: string | undefined): Record<string, string> {
  return keyHeaders(url, apiKey, { name: 'authorization', scheme: 'Bearer ' });
}

/**
 * The header that carries the key, or none without a key.
 *
 * @throws Error when the key holds characters that no header may carry, or would leave this machine unencrypted
 *   (docs/providers.md, Connections). The message never holds the key or the address.
 */
export function keyHeaders(
  url: URL,
  apiKey: string | undefined,
  { name, scheme = '' }: { readonly name: string; readonly scheme?: string },
): Record<string, string> {
  if (apiKey === undefined || apiKey === '') return {};
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('api_key_env: the key must be printable ASCII');
  const encrypted = url.protocol === 'https:' || url.protocol === 'wss:';
  if (!encrypted && !isLoopbackHost(url.hostname)) {
    throw new Error('api_key_env: a key is only sent over TLS or to a loopback host');
  }
  return { [name]: scheme + apiKey };
}
