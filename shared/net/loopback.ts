/**
 * Which hosts count as this machine alone. The answer decides whether plain text connections and listeners without
 * authentication are acceptable, so only literal forms count and no name is resolved.
 */
import { parseIp } from './cidr.ts';

/** True for localhost, 127.0.0.x and ::1 in any notation, with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost') return true;
  if (name.includes(':')) return isSameIp(name, '::1');
  const last = /^127\.0\.0\.(0|[1-9]\d{0,2})$/.exec(name)?.[1];
  return last !== undefined && Number(last) <= 255;
}

const isSameIp = (left: string, right: string): boolean =>
  parseIp(left)?.join('.') === parseIp(right)?.join('.');
