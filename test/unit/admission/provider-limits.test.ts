import { describe, it, expect } from 'vitest';
import { parseProviderLimits } from '../../../shared/config/server/provider-limits.ts';
import type { ProviderLimit } from '../../../shared/config/server/provider-limits.ts';
import { ProviderLedger } from '../../../supervisor/admission/provider-limits.ts';

const known = ['stt_cloud_a', 'llm_responses', 'tts_cloud_a'];
const ledgerOf = (limits: Record<string, ProviderLimit>): ProviderLedger =>
  new ProviderLedger(new Map(Object.entries(limits)));

describe('SVC_PROVIDER_LIMITS', () => {
  it('is understood', () => {
    expect(
      parseProviderLimits('stt_cloud_a:sessions=100, llm_responses : rpm=3000; sessions = 200', known),
    ).toEqual({
      ok: true,
      value: new Map([
        ['stt_cloud_a', { sessions: 100 }],
        ['llm_responses', { rpm: 3000, sessions: 200 }],
      ]),
    });
  });

  it.each([
    ['', /^entry 1 must be provider:limit=number/],
    ['stt_cloud_a', /^entry 1 must be provider:limit=number/],
    ['stt_cloud_a:sessions=1,', /^entry 2 must be/],
    ['canary:sessions=1', /^entry 1 must begin with one of stt_cloud_a, /],
    ['stt_cloud_a:sessions=1,stt_cloud_a:rpm=1', /^entry 2 names stt_cloud_a a second time/],
    ['stt_cloud_a:', /must set sessions=N, rpm=N or both/],
    ['stt_cloud_a:sessions', /must set sessions=N/],
    ['stt_cloud_a:sessions=canary', /must set sessions=N/],
    ['stt_cloud_a:sessions=1.5', /must set sessions=N/],
    ['stt_cloud_a:canary=1', /unknown limit; the limits are sessions and rpm/],
    ['stt_cloud_a:sessions=0', /sessions must be from 1 to 1000000/],
    ['stt_cloud_a:rpm=99999999', /rpm must be from 1 to 10000000/],
    ['stt_cloud_a:rpm=1;rpm=1', /sets rpm twice/],
    ['x,'.repeat(100), /at most 64 providers/],
  ])('%j is refused by a rule that does not repeat it', (text, rule) => {
    const limits = parseProviderLimits(text, known);
    expect(limits.ok ? '' : limits.error).toMatch(rule);
    expect(JSON.stringify(limits)).not.toContain('canary');
  });
});

describe('the budget of sessions', () => {
  it('is shared by the calls that use the provider', () => {
    const ledger = ledgerOf({ a: { sessions: 2 } });
    ledger.take(['a', 'b']);
    ledger.take(['a']);
    expect(ledger.refusal(['a'], 0)).toEqual({ provider: 'a', what: 'sessions', retryAfterS: 5 });
    expect(ledger.refusal(['b'], 0)).toBeUndefined();
    ledger.release(['a']);
    expect(ledger.refusal(['a'], 0)).toBeUndefined();
  });

  it('counts a provider of two stages once for each call', () => {
    const ledger = ledgerOf({ a: { sessions: 1 } });
    ledger.take(['a', 'a']);
    ledger.release(['a', 'a']);
    expect(ledger.refusal(['a', 'a'], 0)).toBeUndefined();
    expect(ledger.counts(0).get('a')).toEqual({ sessions: 0, requests: 0 });
  });
});

describe('the budget of requests per minute', () => {
  it('comes back as requests leave the last minute', () => {
    const ledger = ledgerOf({ a: { rpm: 3 } });
    ledger.requested('a', 0);
    ledger.requested('a', 20_000, { count: 2 });
    expect(ledger.refusal(['a'], 30_000)).toEqual({ provider: 'a', what: 'rpm', retryAfterS: 30 });
    expect(ledger.refusal(['a'], 59_999)).toMatchObject({ retryAfterS: 2 });
    expect(ledger.refusal(['a'], 60_000)).toBeUndefined();
    ledger.requested('a', 60_000);
    expect(ledger.refusal(['a'], 60_000)).toMatchObject({ retryAfterS: 20 });
    expect(ledger.refusal(['a'], 80_000)).toBeUndefined();
    expect(ledger.counts(80_000).get('a')).toEqual({ sessions: 0, requests: 1 });
    expect(ledger.counts(1e9).get('a')).toEqual({ sessions: 0, requests: 0 });
  });

  it('is exhausted for a minute at most, and the wait is enough', () => {
    const ledger = ledgerOf({ a: { rpm: 10 } });
    ledger.requested('a', 5_500, { count: 500 });
    const refusal = ledger.refusal(['a'], 5_900);
    expect(refusal?.retryAfterS).toBe(60);
    expect(ledger.refusal(['a'], 65_900)).toBeUndefined();
  });

  it('names the provider that takes longest', () => {
    const ledger = ledgerOf({ a: { sessions: 1 }, b: { rpm: 1 } });
    ledger.take(['a']);
    ledger.requested('b', 0);
    expect(ledger.refusal(['a', 'b'], 10_000)).toEqual({ provider: 'b', what: 'rpm', retryAfterS: 50 });
  });

  it('does not mind providers without a limit, or time that runs backwards', () => {
    const ledger = ledgerOf({ a: { rpm: 2 } });
    ledger.requested('c', 0);
    ledger.requested('a', 90_000);
    ledger.requested('a', 10_000);
    expect(ledger.refusal(['a', 'c'], 90_000)).toMatchObject({ provider: 'a', retryAfterS: 60 });
  });
});
