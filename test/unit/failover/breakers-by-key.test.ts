/** Breakers and retry budgets by provider and key: who has another key is not stopped with it. */
import { describe, expect, it } from 'vitest';
import { Breakers, breakerInts, type Breaker } from '../../../shared/protocol/breakers.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import type { StageContext } from '../../../worker/stages/stage.ts';

const memory = (): Int32Array => new Int32Array(new SharedArrayBuffer(breakerInts * 4));
const opened = (breaker: Breaker): void => breaker.failed(breaker.force(), 1_000, { pauseMs: 5_000 });

describe('a breaker by key', () => {
  it('is the same for the same provider and key, in every process, and no other one', () => {
    const shared = memory();
    const [one, other] = [new Breakers(shared).byKey, new Breakers(shared).byKey];
    opened(one.of('llm', 'primary', 'a key'));
    expect(other.of('llm', 'secondary', 'a key').state(1_000)).toBe('open');
    expect(other.of('llm', 'primary', 'another key').state(1_000)).toBe('closed');
    expect(other.of('tts', 'primary', 'a key').state(1_000)).toBe('closed');
    expect(new Breakers(shared).of('llm', 'primary').state(1_000)).toBe('closed');
  });

  it('of a thousand keys opens alone', () => {
    const book = new Breakers(memory()).byKey;
    const all = Array.from({ length: 500 }, (_, at) => book.of('llm', 'primary', `key ${at}`));
    opened(all[123]!);
    expect(all.filter((one) => one.state(1_000) === 'open')).toHaveLength(1);
    expect(all[123]!.state(1_000)).toBe('open');
  });

  it('is given to another key when it was used longest ago, and begins closed; one in use stays', () => {
    const book = new Breakers(memory()).byKey;
    const used = book.of('llm', 'primary', 'used');
    const left = book.of('llm', 'primary', 'left');
    for (const one of [used, left]) opened(one);
    for (let at = 0; at < 20_000; at += 1) {
      const fresh = book.of('llm', 'primary', `key ${at}`);
      expect(fresh.state(1_000)).toBe('closed');
      if (at % 50 === 0) opened(fresh);
      if (at % 4 === 0) expect(used.state(1_000)).toBe('open');
    }
    // Its line is another's by now; it begins anew and has a line again.
    expect(left.state(1_000)).toBe('closed');
    opened(left);
    expect(left.state(1_000)).toBe('open');
  });
});

describe('a retry budget by key', () => {
  const clock = newVirtualClock();
  const newCall = (): StageContext => ({ clock, bind: (callback) => callback });
  const sizes = { call: { tokens: 2, perSecond: 0 }, process: { tokens: 3, perSecond: 0 } };

  it('is spent by its own calls alone', () => {
    const budgets = new RetryBudgets(sizes);
    const [one, other] = [budgets.of('one'), budgets.of('other')];
    const taken = Array.from({ length: 5 }, () => one.take(newCall()));
    expect(taken).toEqual([true, true, true, false, false]);
    expect(other.take(newCall())).toBe(true);
    expect(budgets.of('one').take(newCall())).toBe(false);
  });

  it('leaves a call its one budget, whichever provider fails', () => {
    const budgets = new RetryBudgets(sizes);
    const call = newCall();
    expect([budgets.of('one').take(call), budgets.of('other').take(call)]).toEqual([true, true]);
    expect(budgets.of('third').take(call)).toBe(false);
  });

  it('is kept for so many keys, those that were used last', () => {
    const budgets = new RetryBudgets(sizes);
    for (let taken = 0; taken < 3; taken += 1) budgets.of('spent').take(newCall());
    for (let at = 0; at < 1_023; at += 1) budgets.of(`key ${at}`);
    expect(budgets.of('spent').take(newCall())).toBe(false);
    for (let at = 0; at < 1_024; at += 1) budgets.of(`other ${at}`);
    expect(budgets.of('spent').take(newCall())).toBe(true);
  });
});
