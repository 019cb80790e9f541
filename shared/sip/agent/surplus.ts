/**
 * What peers that nobody knows may be answered over UDP beyond the bytes that they asked with. Their address may be forged, and the host it
 * belongs to must not be flooded through this side: so many bytes for each source, and so many for all of them. Pure.
 */
import type { Millis } from '../../base/units.ts';
import { parseIp } from '../../net/cidr.ts';

interface Allowance {
  /** Bytes that are left. */
  left: number;
  at: Millis;
}

interface Limit {
  readonly burst: number;
  readonly perSecond: number;
}

const ofOne: Limit = { burst: 8 * 1024, perSecond: 2 * 1024 };
const ofAll: Limit = { burst: 64 * 1024, perSecond: 16 * 1024 };
/** Sources that are remembered. One that is forgotten begins anew; what all have together stands in any case. */
const mostSources = 1_024;

export interface Surplus {
  readonly sources: Map<string, Allowance>;
  readonly all: Allowance;
}

export const newSurplus = (): Surplus => ({ sources: new Map(), all: { left: ofAll.burst, at: 0 } });

/** Takes so many bytes for an answer; false where they are not left. */
export function takeSurplus(
  { sources, all }: Surplus,
  { address, bytes, now }: { readonly address: string; readonly bytes: number; readonly now: Millis },
): boolean {
  const network = networkOf(address);
  const own = sources.get(network) ?? { left: ofOne.burst, at: now };
  sources.delete(network);
  sources.set(network, own);
  const [oldest] = sources.keys();
  if (sources.size > mostSources && oldest !== undefined) sources.delete(oldest);
  refill(own, ofOne, now);
  refill(all, ofAll, now);
  if (own.left < bytes || all.left < bytes) return false;
  own.left -= bytes;
  all.left -= bytes;
  return true;
}

function refill(allowance: Allowance, { burst, perSecond }: Limit, now: Millis): void {
  allowance.left = Math.min(burst, allowance.left + ((now - allowance.at) / 1000) * perSecond);
  allowance.at = now;
}

/** One machine has as many addresses of IPv6 as it likes, all of one network. */
function networkOf(address: string): string {
  const ip = parseIp(address);
  return ip?.length === 16 ? ip.slice(0, 8).join('.') : address;
}
