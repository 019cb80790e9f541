/** Which of this machine's addresses a peer reaches: the one of the network that it is in, else the first one that leads outside. */
import { networkInterfaces } from 'node:os';
import { isInRange, parseCidr, parseIp } from '../../../shared/net/cidr.ts';

export interface OwnAddress {
  readonly address: string;
  /** With its network: `192.0.2.7/24`. */
  readonly cidr: string | null;
  readonly internal: boolean;
}

export const ownAddresses = (): readonly OwnAddress[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);

export function localAddressFor(peer: string, own: readonly OwnAddress[]): string | undefined {
  const ip = parseIp(peer);
  if (ip === undefined) return undefined;
  const family = own.filter(({ address }) => parseIp(address)?.length === ip.length);
  const near = family.find(({ cidr }) => {
    const range = parseCidr(cidr ?? '');
    return range.ok && isInRange(ip, range.value);
  });
  const outer = family.find(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (near ?? outer ?? family[0])?.address;
}
