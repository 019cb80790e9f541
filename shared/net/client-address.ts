/**
 * Which address a connection counts for (docs/tokens.md, Behind a proxy). Only a trusted peer's header is looked at, from its
 * end: each hop was written by the one after it, so the walk goes on as long as the writer is a trusted proxy. A header that a client writes itself
 * can never move it to another address than its own or its proxy's.
 */
import { formatIp, ipGroups, isInRange, parseIp, type Cidr, type IpBytes } from './cidr.ts';
import { readHops, type ForwardingHeader } from './forwarded.ts';

export interface ClientAddressOptions {
  /** SVC_TRUSTED_PROXIES; empty means that no header is ever read. */
  readonly trustedProxies: readonly Cidr[];
  /** SVC_CLIENT_IP_HEADER. */
  readonly header: ForwardingHeader;
}

export interface Connection {
  /** The address of the TCP peer as Node gives it; undefined once the socket is gone. */
  readonly peer: string | undefined;
  /** Names in lower case, repeated lines joined or as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Stands for every peer whose address is not known: they share one count. */
const unknownAddress = 'unknown';

/**
 * The key that limits per address count by: an IPv4 address, or the first 64 bits of an IPv6 address as `2001:db8:0:1::/64`.
 *
 * The client is the last hop that is not a trusted proxy; when all of them are, the first. A hop without a readable address
 * ends the walk, and the call counts for the trusted proxy that wrote it.
 */
export function clientAddress(connection: Connection, options: ClientAddressOptions): string {
  // A link-local peer comes with the name of its interface.
  let nearest = parseIp((connection.peer ?? '').replace(/%.*$/, ''));
  if (nearest === undefined) return unknownAddress;
  const isTrusted = (ip: IpBytes): boolean => options.trustedProxies.some((range) => isInRange(ip, range));
  if (!isTrusted(nearest)) return addressKey(nearest);
  const value = connection.headers[options.header];
  const hops = readHops(options.header, typeof value === 'string' ? value : (value ?? []).join(','));
  for (const hop of hops.toReversed()) {
    if (hop === undefined) break;
    nearest = hop;
    if (!isTrusted(hop)) break;
  }
  return addressKey(nearest);
}

function addressKey(ip: IpBytes): string {
  return ip.length === 4 ? formatIp(ip) : `${ipGroups(ip).slice(0, 4).join(':')}::/64`;
}
