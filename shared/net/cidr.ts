/**
 * IP addresses and address ranges, literally: no names, no zones, no short forms of IPv4. IPv4 addresses that are written
 * inside IPv6 (`::ffff:1.2.3.4`) are IPv4 addresses, so that one machine has one address on every kind of socket.
 */
import { fail, ok, type Result } from '../base/result.ts';

/** 4 bytes for IPv4, 16 for IPv6; never an IPv4 address in 16 bytes. */
export type IpBytes = readonly number[];

/** The addresses whose first `bits` bits are those of `base`. */
export interface Cidr {
  readonly base: IpBytes;
  readonly bits: number;
}

const mostEntries = 256;
const longestIpText = 45;
const mappedPrefix: IpBytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** The bytes of an address, or undefined when the text is not one. IPv6 comes without brackets. */
export function parseIp(text: string): IpBytes | undefined {
  if (text.length > longestIpText) return undefined;
  return text.includes(':') ? unmapped(parseIpv6(text)) : parseIpv4(text);
}

function parseIpv4(text: string): IpBytes | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** All 16 bytes. */
function parseIpv6(text: string): IpBytes | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const isShort = halves.length === 2;
  const head = groupBytes(halves[0] ?? '', { mayEndInIpv4: !isShort });
  const tail = groupBytes(halves[1] ?? '', { mayEndInIpv4: true });
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group of zeros.
  if (isShort ? missing < 2 : missing !== 0) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function groupBytes(text: string, { mayEndInIpv4 }: { mayEndInIpv4: boolean }): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const ipv4 = mayEndInIpv4 && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (ipv4 === undefined && !/^[0-9A-Fa-f]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(...(ipv4 ?? [value >> 8, value & 0xff]));
  }
  return bytes;
}

function unmapped(bytes: IpBytes | undefined): IpBytes | undefined {
  const isMapped = bytes !== undefined && mappedPrefix.every((byte, index) => bytes[index] === byte);
  return isMapped ? bytes.slice(mappedPrefix.length) : bytes;
}

/** Reads `10.0.0.0/8`, `2001:db8::/32` or one address. Bits after the prefix do not count. The error is the rule. */
export function parseCidr(text: string): Result<Cidr, string> {
  const rule = 'must be an address or a range such as 10.0.0.0/8 or 2001:db8::/32';
  const [address = '', bitsText, ...more] = text.split('/');
  const base = parseIp(address);
  if (base === undefined || more.length > 0) return fail(rule);
  const most = address.includes(':') ? 128 : 32;
  if (bitsText !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(bitsText)) return fail(rule);
  const written = bitsText === undefined ? most : Number(bitsText);
  // A range that is written as mapped IPv4 counts its bits from the start of the IPv6 form.
  const bits = written - (most - base.length * 8);
  return written > most || bits < 0 ? fail(rule) : ok({ base, bits });
}

/** Reads ranges separated by commas, at most 256 (SVC_TRUSTED_PROXIES). The error names the entry by its place. */
export function parseCidrList(text: string): Result<Cidr[], string> {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > mostEntries) return fail(`must have at most ${mostEntries} entries`);
  const ranges: Cidr[] = [];
  for (const [index, entry] of entries.entries()) {
    const range = parseCidr(entry);
    if (!range.ok) return fail(`entry ${index + 1} ${range.error}`);
    ranges.push(range.value);
  }
  return ok(ranges);
}

/** Ranges of one family never hold addresses of the other. */
export function isInRange(ip: IpBytes, { base, bits }: Cidr): boolean {
  if (ip.length !== base.length) return false;
  return base.every((byte, index) => {
    const counted = Math.min(8, Math.max(0, bits - index * 8));
    return ((byte ^ (ip[index] ?? 0)) & ((0xff << (8 - counted)) & 0xff)) === 0;
  });
}

/** IPv4 with points; IPv6 as eight groups, without `::`. */
export function formatIp(ip: IpBytes): string {
  return ip.length === 4 ? ip.join('.') : ipGroups(ip).join(':');
}

/** The 16-bit groups of an IPv6 address in hexadecimal. */
export function ipGroups(ip: IpBytes): string[] {
  return Array.from({ length: ip.length / 2 }, (_, index) =>
    (((ip[2 * index] ?? 0) << 8) | (ip[2 * index + 1] ?? 0)).toString(16),
  );
}
