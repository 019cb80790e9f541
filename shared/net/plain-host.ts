/**
 * Where an unencrypted connection may lead that carries what callers say (docs/security.md, Unencrypted links). The rule reads the text of the
 * host alone and resolves no name.
 */
import { isInRange, parseCidr, parseIp, type Cidr } from './cidr.ts';

/**
 * `private`: this machine or its own network. `single_label`: a name without a dot, which a list of search domains may lead elsewhere.
 * `public`: everything else.
 */
export type HostReach = 'private' | 'single_label' | 'public';

const range = (text: string): Cidr => {
  const read = parseCidr(text);
  if (!read.ok) throw new TypeError(read.error);
  return read.value;
};

const linkLocalV6 = range('fe80::/10');
const privateRanges: readonly Cidr[] = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'].map(range),
  ...['::1/128', 'fc00::/7'].map(range),
  linkLocalV6,
];

const privateSuffixes = ['.localhost', '.internal', '.local'];

/** `host` as a URL names it, IPv6 without brackets, a zone id behind `%`. */
export function hostReach(host: string): HostReach {
  const [address = '', zone] = host.toLowerCase().split('%');
  const ip = parseIp(address);
  if (ip !== undefined) {
    // A zone tells interfaces apart where addresses of several links are the same, and nowhere else.
    const ranges = zone === undefined ? privateRanges : [linkLocalV6];
    return ranges.some((one) => isInRange(ip, one)) ? 'private' : 'public';
  }
  if (address.includes(':') || zone !== undefined || address === '') return 'public';
  if (address === 'localhost' || privateSuffixes.some((suffix) => isUnder(address, suffix))) return 'private';
  return address.includes('.') ? 'public' : 'single_label';
}

const isUnder = (name: string, suffix: string): boolean =>
  name.endsWith(suffix) && name.length > suffix.length;
