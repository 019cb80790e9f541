/** What minting refuses (docs/tokens.md, Making tokens). */
import { describe, it, expect } from 'vitest';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import type { MintClaims } from '../../../shared/auth/mint.ts';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';

const secret = 'a secret for minting, 32 bytes or more';
const nowS = 1_800_000_000;
const claims: MintClaims = { aud: 'svc-rtvi', ttlS: 60, sid: 's-1' };
const mint = (changed: Partial<MintClaims> = {}, options = { secret, nowS }) =>
  mintSessionToken({ ...claims, ...changed }, options);

describe('minting', () => {
  it('makes tokens that verify', () => {
    const meta = { a: 'ü', n: 1.5, b: true };
    const token = mint({ agent: 'a', maxS: 60, nbfS: nowS - 1, meta });
    expect(
      token.ok && verifySessionToken(token.value, { secrets: [secret], audience: 'svc-rtvi', nowS }),
    ).toEqual({
      ok: true,
      value: {
        aud: 'svc-rtvi',
        expS: nowS + 60,
        nbfS: nowS - 1,
        sid: 's-1',
        agent: 'a',
        maxS: 60,
        meta: new Map([
          ['a', 'ü'],
          ['n', '1.5'],
          ['b', 'true'],
        ]),
      },
    });
  });

  it('takes a TTL of up to 24 hours', () => {
    expect(mint({ ttlS: 86_400 }).ok).toBe(true);
    expect(mint({ ttlS: 1 }).ok).toBe(true);
  });

  it.each([86_401, 0, -5, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a TTL of %d s', (ttlS) => {
    expect(mint({ ttlS })).toEqual({ ok: false, error: expect.stringContaining('TTL') as string });
  });

  it.each([
    [nowS + 0.5, 'whole seconds'],
    [Number.NaN, 'whole seconds'],
    [-1, 'whole seconds'],
    [nowS * 1000, 'milliseconds'],
  ])('refuses %d as now', (now, rule) => {
    expect(mint({}, { secret, nowS: now })).toEqual({
      ok: false,
      error: expect.stringContaining(rule) as string,
    });
  });

  it.each([0, 86_401, 1.5, -1])('refuses a max_s of %d', (maxS) => {
    expect(mint({ maxS })).toEqual({ ok: false, error: expect.stringContaining('max_s') as string });
  });

  it('refuses a secret under 32 bytes, and counts bytes', () => {
    expect(mint({}, { secret: 'x'.repeat(31), nowS }).ok).toBe(false);
    expect(mint({}, { secret: 'ü'.repeat(16), nowS }).ok).toBe(true);
  });

  it.each<Partial<MintClaims>>([
    { sid: '' },
    { sid: 'a\nb' },
    { sid: '\ud800' },
    { sid: 'x'.repeat(129) },
    { nbfS: nowS + 60 },
    { nbfS: 1.5 },
    { meta: { a: Number.NaN } },
    { meta: { a: 'x'.repeat(257) } },
    { meta: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 1])) },
    { agent: 'x'.repeat(4096) },
  ])('refuses what verification would refuse, without repeating it', (changed) => {
    const token = mint(changed);
    expect(token.ok).toBe(false);
    expect(!token.ok && token.error.length).toBeLessThan(100);
  });
});
