/**
 * What one client address may do, as a pure ledger (docs/webrtc.md, Limits): offers per minute and calls at the same time. The
 * table of addresses is bounded; an address that has no call and its whole burst again says nothing and may be dropped. When
 * none can be dropped, newcomers are let through untracked and counted, so that a flood locks nobody out.
 */
import type { Millis } from '../../shared/base/units.ts';

export interface AddressLimits {
  /** Offers per minute and burst; undefined is off (SVC_WEBRTC_OFFERS_PER_MINUTE). */
  readonly offersPerMinute: number | undefined;
  /** Calls of one address at the same time; undefined is off (SVC_WEBRTC_MAX_CALLS_PER_IP). */
  readonly maxCalls: number | undefined;
  /** Tracked addresses, 8192 by default. */
  readonly maxAddresses?: number;
}

export type OfferOutcome =
  | { readonly kind: 'admitted' }
  /** Answered with 429 and `Retry-After`. */
  | { readonly kind: 'refused'; readonly retryAfterS: number };

/** A call's place in the count of its address. Giving it back a second time does nothing. */
export interface AddressPlace {
  release(nowMs: Millis): void;
}

interface Entry {
  /** When the burst is whole again; every offer moves it on by one interval. */
  wholeAtMs: Millis;
  calls: number;
}

const defaultMaxAddresses = 8192;
const minuteMs = 60_000;
/** Rounding of sums of intervals that are not whole numbers. */
const toleranceMs = 1e-3;

const uncounted: AddressPlace = { release: () => undefined };

export class AddressLedger {
  readonly #limits: AddressLimits;
  readonly #maxAddresses: number;
  readonly #entries = new Map<string, Entry>();
  /** Before this no entry can be dropped: spares a flood of newcomers a look at the whole table each. */
  #nextSweepMs: Millis = Number.NEGATIVE_INFINITY;
  #rateTableFull = 0;

  constructor(limits: AddressLimits) {
    this.#limits = limits;
    this.#maxAddresses = limits.maxAddresses ?? defaultMaxAddresses;
  }

  get tracked(): number {
    return this.#entries.size;
  }

  /** Offers that were let through untracked. */
  get rateTableFull(): number {
    return this.#rateTableFull;
  }

  /** Counts an offer of this address. */
  offer(address: string, nowMs: Millis): OfferOutcome {
    const { offersPerMinute } = this.#limits;
    if (offersPerMinute === undefined) return { kind: 'admitted' };
    const entry = this.#track(address, nowMs);
    if (entry === undefined) {
      this.#rateTableFull += 1;
      return { kind: 'admitted' };
    }
    const intervalMs = minuteMs / offersPerMinute;
    const wholeAtMs = Math.max(nowMs, entry.wholeAtMs) + intervalMs;
    // A whole burst missing takes a minute to come back, whatever the rate.
    const earlyMs = wholeAtMs - nowMs - minuteMs;
    if (earlyMs > toleranceMs) return { kind: 'refused', retryAfterS: Math.ceil(earlyMs / 1000) };
    entry.wholeAtMs = wholeAtMs;
    this.#nextSweepMs = Math.min(this.#nextSweepMs, wholeAtMs);
    return { kind: 'admitted' };
  }

  /** Takes a place for a call; undefined when the address has as many as it may (429). */
  place(address: string, nowMs: Millis): AddressPlace | undefined {
    const { maxCalls, offersPerMinute } = this.#limits;
    if (maxCalls === undefined) return uncounted;
    const entry = this.#track(address, nowMs);
    if (entry === undefined) {
      // Where offers are limited, this one has been counted already.
      if (offersPerMinute === undefined) this.#rateTableFull += 1;
      return uncounted;
    }
    if (entry.calls >= maxCalls) return undefined;
    entry.calls += 1;
    let isHeld = true;
    return {
      release: (atMs) => {
        if (!isHeld) return;
        isHeld = false;
        entry.calls -= 1;
        if (entry.calls === 0)
          this.#nextSweepMs = Math.min(this.#nextSweepMs, Math.max(atMs, entry.wholeAtMs));
      },
    };
  }

  /** Whether {@link place} would give a place. */
  hasPlace(address: string): boolean {
    const { maxCalls } = this.#limits;
    return maxCalls === undefined || (this.#entries.get(address)?.calls ?? 0) < maxCalls;
  }

  #track(address: string, nowMs: Millis): Entry | undefined {
    const known = this.#entries.get(address);
    if (known !== undefined) return known;
    if (this.#entries.size >= this.#maxAddresses) this.#sweep(nowMs);
    if (this.#entries.size >= this.#maxAddresses) return undefined;
    const entry: Entry = { wholeAtMs: nowMs, calls: 0 };
    this.#entries.set(address, entry);
    return entry;
  }

  #sweep(nowMs: Millis): void {
    if (nowMs < this.#nextSweepMs) return;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [address, entry] of this.#entries) {
      if (entry.calls > 0) continue;
      if (entry.wholeAtMs <= nowMs) this.#entries.delete(address);
      else nextMs = Math.min(nextMs, entry.wholeAtMs);
    }
    this.#nextSweepMs = nextMs;
  }
}
