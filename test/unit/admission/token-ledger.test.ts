/** The used session ids (docs/tokens.md, Single use). */
import { describe, it, expect } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';

const nowS = 1_800_000_000;

describe('the set of used session ids', () => {
  it('lets an id be used once', () => {
    const ledger = new TokenLedger();
    expect(ledger.use({ sid: 'a', expS: nowS + 60, nowS })).toEqual({ kind: 'taken' });
    expect(ledger.use({ sid: 'a', expS: nowS + 60, nowS })).toEqual({ kind: 'reused' });
    expect(ledger.use({ sid: 'a', expS: nowS + 500, nowS })).toEqual({ kind: 'reused' });
    expect(ledger.use({ sid: 'b', expS: nowS + 60, nowS })).toEqual({ kind: 'taken' });
  });

  it('does not use an id by looking, or after a release', () => {
    const ledger = new TokenLedger();
    expect(ledger.isUsed('a', nowS)).toBe(false);
    ledger.use({ sid: 'a', expS: nowS + 60, nowS });
    expect(ledger.isUsed('a', nowS)).toBe(true);
    ledger.release('a');
    expect(ledger.use({ sid: 'a', expS: nowS + 60, nowS })).toEqual({ kind: 'taken' });
  });

  it('keeps an id as long as its token verifies, the skew included', () => {
    const ledger = new TokenLedger();
    ledger.use({ sid: 'a', expS: nowS + 60, nowS });
    expect(ledger.isUsed('a', nowS + 89)).toBe(true);
    expect(ledger.isUsed('a', nowS + 90)).toBe(false);
  });

  it('holds 100000 live ids and then no more, with a warning at most once a minute', () => {
    const ledger = new TokenLedger();
    for (let index = 0; index < 100_000; index += 1)
      expect(ledger.use({ sid: `${index}`, expS: nowS + 600, nowS }).kind).toBe('taken');
    const next = (atS: number) => ledger.use({ sid: 'next', expS: nowS + 600, nowS: atS });
    expect(next(nowS)).toEqual({ kind: 'full', shouldWarn: true });
    expect(next(nowS + 59)).toEqual({ kind: 'full', shouldWarn: false });
    expect(next(nowS + 60)).toEqual({ kind: 'full', shouldWarn: true });
    expect(ledger.isUsed('next', nowS)).toBe(false);
    expect(ledger.use({ sid: '5', expS: nowS + 600, nowS }).kind).toBe('reused');
    expect(next(nowS + 629)).toMatchObject({ kind: 'full' });
    expect(next(nowS + 630)).toEqual({ kind: 'taken' });
  });

  it('makes room by one expired id, wherever it came in', () => {
    const ledger = new TokenLedger({ maxIds: 50 });
    for (let index = 0; index < 50; index += 1)
      ledger.use({ sid: `${index}`, expS: nowS + (index === 31 ? 10 : 1_000), nowS });
    expect(ledger.use({ sid: 'x', expS: nowS + 1_000, nowS: nowS + 39 }).kind).toBe('full');
    expect(ledger.use({ sid: 'x', expS: nowS + 1_000, nowS: nowS + 40 }).kind).toBe('taken');
    expect(ledger.use({ sid: 'y', expS: nowS + 1_000, nowS: nowS + 40 }).kind).toBe('full');
  });

  it('clears expired ids away while others come', () => {
    const ledger = new TokenLedger();
    for (let index = 0; index < 1_000; index += 1) ledger.use({ sid: `${index}`, expS: nowS, nowS });
    for (let index = 0; index < 70; index += 1)
      ledger.use({ sid: `new-${index}`, expS: nowS + 900, nowS: nowS + 100 });
    expect(ledger.size).toBe(70);
  });

  it('agrees with a plain list over random uses, releases and times', () => {
    const rng = newPrng(3);
    const ledger = new TokenLedger({ maxIds: 20 });
    let ids: { sid: string; endS: number }[] = [];
    let atS = nowS;
    const seen = new Set<string>();
    for (let count = 0; count < 20_000; count += 1) {
      atS += rng.below(4);
      ids = ids.filter(({ endS }) => endS > atS);
      const sid = `s${rng.below(60)}`;
      if (rng.chance(0.1)) {
        ledger.release(sid);
        ids = ids.filter((id) => id.sid !== sid);
        continue;
      }
      const expS = atS - 20 + rng.below(60);
      const isKnown = ids.some((id) => id.sid === sid);
      const expected = isKnown ? 'reused' : ids.length >= 20 ? 'full' : 'taken';
      if (expected === 'taken') ids.push({ sid, endS: expS + 30 });
      expect(ledger.use({ sid, expS, nowS: atS }).kind).toBe(expected);
      seen.add(expected);
    }
    expect(seen.size).toBe(3);
  });
});
