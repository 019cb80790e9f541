/**
 * Which addresses a request may reach that somebody else names: a tool, a webhook. The check happens on the resolved addresses of the very connection that is made, so
 * that a name that changes its address between check and use gains nothing.
 */
import { lookup as resolve, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isInRange, parseCidr, parseIp, type Cidr } from '../net/cidr.ts';

/** Everything that is not public unicast, with the prefixes that carry an IPv4 address inside IPv6. */
const refused: readonly Cidr[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23'],
  ...['2001:db8::/32', '2002::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
].flatMap((text) => {
  const range = parseCidr(text);
  return range.ok ? [range.value] : [];
});

/** False for what cannot be read as an address. */
export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  return ip !== undefined && !refused.some((range) => isInRange(ip, range));
}

/** A host that was named leads to an address that may not be reached. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  constructor() {
    super('the host has no public address');
  }
}

/** @throws RefusedAddressError for a host that is no name and not public: such an address never passes through a lookup. */
export function refuseLiteral({ hostname }: Pick<URL, 'hostname'>): void {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = /^[\d.]+$/.test(host) || host.includes(':');
  if (isLiteral && !isPublicAddress(host)) throw new RefusedAddressError();
}

/** A lookup for sockets that gives public addresses alone; one private address among them refuses the name. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  resolve(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0];
    if (error !== null) callback(error, '', 0);
    else if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      callback(new RefusedAddressError(), '', 0);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
