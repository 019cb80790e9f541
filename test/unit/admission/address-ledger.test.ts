/** The limits of an address (docs/webrtc.md, Limits): offers per address per minute, calls per address, tracked addresses. */
import { describe, it, expect } from 'vitest';
import { AddressLedger } from '../../../supervisor/admission/address-ledger.ts';

const limits = { offersPerMinute: 5, maxCalls: 8 };
const minute = 60_000;

/** How many offers in a row are admitted at one moment. */
function burst(ledger: AddressLedger, nowMs: number, address = 'a'): number {
  let admitted = 0;
  while (admitted < 1_000 && ledger.offer(address, nowMs).kind === 'admitted') admitted += 1;
  return admitted;
}

describe('offers per address per minute', () => {
  it('are a burst of 5, then one more every 12 s', () => {
    const ledger = new AddressLedger(limits);
    expect(burst(ledger, 0)).toBe(5);
    expect(ledger.offer('a', 0)).toEqual({ kind: 'refused', retryAfterS: 12 });
    expect(ledger.offer('a', 11_000)).toEqual({ kind: 'refused', retryAfterS: 1 });
    expect(burst(ledger, 12_000)).toBe(1);
    expect(burst(ledger, 36_000)).toBe(2);
    expect(burst(ledger, 36_000 + minute)).toBe(5);
    expect(burst(ledger, 1e9)).toBe(5);
  });

  it('are admitted again after the time that the refusal names', () => {
    const ledger = new AddressLedger({ ...limits, offersPerMinute: 7 });
    expect(burst(ledger, 123)).toBe(7);
    const refused = ledger.offer('a', 123);
    expect(refused.kind === 'refused' && ledger.offer('a', 123 + refused.retryAfterS * 1000).kind).toBe(
      'admitted',
    );
  });

  it('do not count refused offers', () => {
    const ledger = new AddressLedger(limits);
    burst(ledger, 0);
    for (let count = 0; count < 100; count += 1) ledger.offer('a', 6_000);
    expect(burst(ledger, 12_000)).toBe(1);
  });

  it('count each address on its own', () => {
    const ledger = new AddressLedger(limits);
    expect(burst(ledger, 0, 'a')).toBe(5);
    expect(burst(ledger, 0, 'b')).toBe(5);
  });

  it.each([1, 5, 60, 1_000])('keep to %i in the long run', (offersPerMinute) => {
    const ledger = new AddressLedger({ ...limits, offersPerMinute });
    let admitted = 0;
    for (let nowMs = 0; nowMs < 10 * minute; nowMs += 50)
      for (const outcome of [ledger.offer('a', nowMs), ledger.offer('a', nowMs)])
        if (outcome.kind === 'admitted') admitted += 1;
    expect(admitted).toBeGreaterThanOrEqual(offersPerMinute * 11 - 1);
    expect(admitted).toBeLessThanOrEqual(offersPerMinute * 11);
  });

  it('can be off', () => {
    const ledger = new AddressLedger({ ...limits, offersPerMinute: undefined });
    expect(burst(ledger, 0)).toBe(1_000);
    expect(ledger.tracked).toBe(0);
  });
});

describe('calls per address', () => {
  it('are 8 at the same time', () => {
    const ledger = new AddressLedger(limits);
    const places = Array.from({ length: 8 }, () => ledger.place('a', 0));
    expect(places.every((place) => place !== undefined)).toBe(true);
    expect([ledger.hasPlace('a'), ledger.hasPlace('b')]).toEqual([false, true]);
    expect(ledger.place('a', 0)).toBeUndefined();
    expect(ledger.place('b', 0)).toBeDefined();
    places[3]!.release(1);
    expect(ledger.place('a', 1)).toBeDefined();
    expect(ledger.place('a', 1)).toBeUndefined();
  });

  it('are given back once, however often that is said', () => {
    const ledger = new AddressLedger({ ...limits, maxCalls: 1 });
    const place = ledger.place('a', 0)!;
    place.release(0);
    const next = ledger.place('a', 0);
    place.release(0);
    expect(next).toBeDefined();
    expect(ledger.place('a', 0)).toBeUndefined();
  });

  it('can be off', () => {
    const ledger = new AddressLedger({ ...limits, maxCalls: undefined });
    for (let count = 0; count < 100; count += 1) expect(ledger.place('a', 0)).toBeDefined();
  });
});

describe('tracked addresses', () => {
  const fill = (ledger: AddressLedger, count: number, nowMs = 0): void => {
    for (let index = 0; index < count; index += 1) ledger.offer(`full-${index}`, nowMs);
  };

  it('are at most 8192; then newcomers are let through untracked and counted', () => {
    const ledger = new AddressLedger(limits);
    fill(ledger, 8192);
    expect(ledger.rateTableFull).toBe(0);
    expect(burst(ledger, 1)).toBe(1_000);
    expect(ledger.rateTableFull).toBe(1_000);
    expect(ledger.tracked).toBe(8192);
    expect(burst(ledger, 1, 'full-0')).toBe(4);
  });

  it('are dropped once their burst is whole, and not before', () => {
    const ledger = new AddressLedger({ ...limits, maxAddresses: 3 });
    fill(ledger, 3);
    ledger.offer('full-0', 0);
    ledger.offer('late', 11_999);
    expect(ledger.rateTableFull).toBe(1);
    ledger.offer('late', 12_000);
    expect(ledger.rateTableFull).toBe(1);
    expect(ledger.tracked).toBe(2);
    expect(burst(ledger, 12_000, 'late')).toBe(4);
    expect(burst(ledger, 12_000, 'full-0')).toBe(4);
  });

  it('make room for one generation after the other', () => {
    const ledger = new AddressLedger({ ...limits, maxAddresses: 2 });
    for (let generation = 0; generation < 10; generation += 1)
      for (const name of ['a', 'b', 'c']) ledger.offer(`${name}${generation}`, generation * 12_000);
    expect(ledger.rateTableFull).toBe(10);
  });

  it('stay while they have a call', () => {
    const ledger = new AddressLedger({ ...limits, maxAddresses: 1 });
    const place = ledger.place('a', 0)!;
    ledger.offer('b', 10 * minute);
    expect(ledger.rateTableFull).toBe(1);
    place.release(20 * minute);
    ledger.offer('b', 20 * minute);
    expect(ledger.rateTableFull).toBe(1);
    expect(ledger.tracked).toBe(1);
  });

  it('count a call that is let through only where no offer was counted', () => {
    const both = new AddressLedger({ ...limits, maxAddresses: 1 });
    both.offer('a', 0);
    both.offer('b', 0);
    both.place('b', 0)!.release(0);
    expect(both.rateTableFull).toBe(1);
    const callsAlone = new AddressLedger({ offersPerMinute: undefined, maxCalls: 1, maxAddresses: 1 });
    callsAlone.place('a', 0);
    expect(callsAlone.place('b', 0)).toBeDefined();
    expect(callsAlone.rateTableFull).toBe(1);
  });
});
