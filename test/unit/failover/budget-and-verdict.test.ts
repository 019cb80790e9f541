import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { newProviderMeter } from '../../../worker/stages/failover/metering.ts';
import { describe, expect, it } from 'vitest';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { kindOf, verdictOn } from '../../../worker/stages/failover/verdict.ts';
import type { StageError } from '../../../worker/stages/stage.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

describe('the budget of retries', () => {
  it('is bounded for a call, and fills up with time', () => {
    const clock = newVirtualClock();
    const budgets = new RetryBudgets({ call: { tokens: 2, perSecond: 0.5 } });
    const [one, other] = [newStageContext(clock), newStageContext(clock)];
    expect([1, 2, 3].map(() => budgets.take(one))).toEqual([true, true, false]);
    expect(budgets.take(other)).toBe(true);
    clock.advance(1_999);
    expect(budgets.take(one)).toBe(false);
    clock.advance(1);
    expect([budgets.take(one), budgets.take(one)]).toEqual([true, false]);
  });

  it('is bounded for all calls together, and a refused retry costs neither', () => {
    const clock = newVirtualClock();
    const sizes = { call: { tokens: 1, perSecond: 0 }, process: { tokens: 3, perSecond: 1 } };
    const budgets = new RetryBudgets(sizes);
    const calls = Array.from({ length: 5 }, () => newStageContext(clock));
    expect(calls.map((call) => budgets.take(call))).toEqual([true, true, true, false, false]);
    clock.advance(1_000);
    expect([budgets.take(calls[0]!), budgets.take(calls[4]!), budgets.take(calls[3]!)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

const rejected = (status: number, more: object = {}): StageError => ({ kind: 'rejected', status, ...more });

describe('what an error means', () => {
  it.each([
    [{ kind: 'disconnected' }, { blames: true, mayRepeat: true }],
    [
      { kind: 'timeout', what: 'connect' },
      { blames: true, mayRepeat: true },
    ],
    [
      { kind: 'protocol', rule: 'r' },
      { blames: true, mayRepeat: false },
    ],
    [{ kind: 'cancelled' }, { blames: false, mayRepeat: false }],
    [rejected(400), { blames: false, mayRepeat: false }],
    [rejected(400, { retryable: true }), { blames: false, mayRepeat: true }],
    [rejected(401), { blames: true, mayRepeat: false }],
    [rejected(429), { blames: true, mayRepeat: true }],
    [rejected(429, { retryAfterMs: 700 }), { blames: true, mayRepeat: true, pauseMs: 700 }],
    [rejected(429, { retryable: false }), { blames: true, mayRepeat: false, pauseMs: 60_000 }],
    [rejected(503, { retryAfterMs: 86_400_000 }), { blames: true, mayRepeat: true, pauseMs: 60_000 }],
    [rejected(500, { retryable: false }), { blames: true, mayRepeat: false }],
    [rejected(302), { blames: true, mayRepeat: false }],
  ] as const)('%j: %j', (error, verdict) => {
    expect(verdictOn(error)).toEqual(verdict);
  });

  it('has a name of a closed set in metrics', () => {
    const errors = [rejected(429), rejected(404), rejected(502), { kind: 'disconnected' } as const];
    expect(errors.map(kindOf)).toEqual([
      'rejected_rate',
      'rejected_client',
      'rejected_server',
      'disconnected',
    ]);
  });
});

describe('the meter of a provider', () => {
  it('counts refusals by status, and tells the people who run the service of each failure', async () => {
    const metrics = newWorkerMetrics();
    const told: StageError[] = [];
    const meter = newProviderMeter({
      metrics,
      stage: 'llm',
      role: 'primary',
      provider: 'p',
      requested: () => undefined,
      failed: (error) => void told.push(error),
    });
    const errors: StageError[] = [401, 404, 418, 503].map((status) => ({ kind: 'rejected', status }));
    for (const error of errors) meter.failed(kindOf(error), error);
    meter.failed('stalled');
    meter.failed('cancelled', { kind: 'cancelled' });
    expect(told).toEqual([...errors, { kind: 'timeout', what: 'answer' }]);
    const { values } = await metrics.providerErrors.get();
    expect(values.map(({ labels }) => `${labels.kind} ${labels.status}`)).toEqual([
      'rejected_client 401',
      'rejected_client 404',
      'rejected_client 4xx',
      'rejected_server 5xx',
      'stalled ',
      'cancelled ',
    ]);
  });
});
