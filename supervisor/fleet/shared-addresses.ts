/**
 * What one client address may do on all hosts together: calls at the same time and offers in a minute. A place is a lease that its host
 * renews, so that the places of a host that died are free again after a minute. While the store gives no answer each host counts for
 * itself, which it does in any case (`admission/address-ledger.ts`); places that were taken meanwhile are counted as soon as it answers.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { newRareWarning } from '../admission/token-ledger.ts';
import type { WarningLog } from '../admission/token-store.ts';
import { digestOf, type RedisLine } from './redis-line.ts';

export interface SharedAddressesOptions {
  readonly line: Pick<RedisLine, 'ask'>;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: WarningLog;
  /** Names this process among the hosts. */
  readonly host: string;
  /** How long a place is kept that nobody renews. */
  readonly leaseMs?: Millis;
}

interface Place {
  readonly key: string;
  readonly member: string;
}

const defaultLeaseMs: Millis = 60_000;
const renewalsPerLease = 3;
const minuteMs: Millis = 60_000;
const warnEveryS = 60;

/** All hosts go by the clock of the server. */
const now = `local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)`;
/** Takes a place: 1, or 0 when the address has as many as it may. */
const takeScript = `${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;
/** A call that runs is counted, whether or not there is room. */
const renewScript = `${now}
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
/** Counts an offer as the ledger of one host does: 0, or the milliseconds until the next one. */
const offerScript = `${now}
local whole = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + tonumber(ARGV[1])
if whole - now > ${minuteMs} then return math.ceil(whole - now - ${minuteMs}) end
redis.call('SET', KEYS[1], whole, 'PX', math.ceil(whole - now))
return 0`;

export class SharedAddresses {
  readonly #options: SharedAddressesOptions;
  readonly #warnings = newRareWarning(warnEveryS);
  readonly #places = new Set<Place>();
  readonly #lease: string;
  #last = 0;
  #renews = false;

  constructor(options: SharedAddressesOptions) {
    this.#options = options;
    this.#lease = String(options.leaseMs ?? defaultLeaseMs);
  }

  /** Takes a place of an address; undefined when it has as many as it may. The function gives it back, once. */
  async take(kind: string, address: string, most: number): Promise<(() => void) | undefined> {
    this.#last += 1;
    const place = {
      key: `svc:calls:${kind}:${digestOf(address)}`,
      member: `${this.#options.host}:${this.#last}`,
    };
    const taken = await this.#run(takeScript, place.key, [place.member, String(most), this.#lease]);
    if (taken === 0) return undefined;
    this.#places.add(place);
    this.#watch();
    return () => {
      if (!this.#places.delete(place)) return;
      void this.#options.line.ask((client) => client.zRem(place.key, place.member));
    };
  }

  /** Counts an offer of an address. Seconds after which it may make another one; 0 when it may make this one. */
  async offer(address: string, perMinute: number): Promise<number> {
    const key = `svc:offers:${digestOf(address)}`;
    const waitMs = await this.#run(offerScript, key, [String(minuteMs / perMinute)]);
    return Math.ceil((waitMs ?? 0) / 1000);
  }

  /** Undefined when there is no answer. */
  async #run(script: string, key: string, args: readonly string[]): Promise<number | undefined> {
    const { line, log, wallClock } = this.#options;
    const reply = await line.ask((client) => client.eval(script, { keys: [key], arguments: [...args] }));
    if (reply.ok) return typeof reply.value === 'number' ? reply.value : undefined;
    if (this.#warnings.isDue(wallClock.now() / 1000))
      log.warn(
        { reason: reply.error },
        'the shared store gives no answer; limits of addresses are those of this host alone',
      );
    return undefined;
  }

  #watch(): void {
    if (this.#renews) return;
    this.#renews = true;
    this.#options.clock.after(Number(this.#lease) / renewalsPerLease, () => {
      this.#renews = false;
      for (const { key, member } of this.#places) void this.#run(renewScript, key, [member, this.#lease]);
      if (this.#places.size > 0) this.#watch();
    });
  }
}
