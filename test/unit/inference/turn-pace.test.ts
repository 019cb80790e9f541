/** Which questions about turns are worth a run, after quick runs, one slow run, and on a machine that is too slow. */
import { describe, expect, it } from 'vitest';
import { TurnPace } from '../../../inference/turn-pace.ts';

const withinMs = 300;
const fresh = { leftMs: withinMs, withinMs };

/** Asks `count` fresh questions of a machine whose runs take so long. Which of them were run. */
function asked(pace: TurnPace, count: number, runMs: number): boolean[] {
  return Array.from({ length: count }, () => {
    const isRun = pace.isWorthRunning(fresh);
    if (isRun) pace.ran(runMs, fresh);
    return isRun;
  });
}

describe('the pace of the turn model', () => {
  it('runs what can be answered in time, by the last run', () => {
    const pace = new TurnPace();
    expect(pace.isWorthRunning({ leftMs: 0, withinMs })).toBe(true);
    expect(pace.isWorthRunning({ leftMs: -1, withinMs })).toBe(false);
    pace.ran(50, fresh);
    expect(pace.isWorthRunning({ leftMs: 50, withinMs })).toBe(true);
    expect(pace.isWorthRunning({ leftMs: 49, withinMs })).toBe(false);
  });

  it('never tries what has waited too long, however many there are: the next one has time', () => {
    const pace = new TurnPace();
    pace.ran(100, fresh);
    for (let i = 0; i < 100; i += 1) expect(pace.isWorthRunning({ leftMs: 60, withinMs })).toBe(false);
    expect(pace.isWorthRunning(fresh)).toBe(true);
  });

  it.each([301, 500, 1_135, 2_000, 60_000])('leaves out nothing behind one run of %i ms', (slowMs) => {
    const pace = new TurnPace();
    pace.ran(45, fresh);
    pace.ran(slowMs, fresh);
    expect(asked(pace, 4, 45)).toEqual([true, true, true, true]);
  });

  it('leaves out one question behind two slow runs, and has forgotten them then', () => {
    const pace = new TurnPace();
    for (let stall = 0; stall < 5; stall += 1) {
      pace.ran(2_000, fresh);
      pace.ran(2_000, fresh);
      expect(asked(pace, 3, 45)).toEqual([false, true, true]);
    }
  });

  it('leaves out more and more on a machine that is too slow, and finds out when it is not any more', () => {
    const pace = new TurnPace();
    const tried = asked(pace, 1_000, 400);
    expect(tried.slice(0, 16).flatMap((isRun, index) => (isRun ? [index] : []))).toEqual([0, 1, 3, 7, 15]);
    expect(tried.filter(Boolean).length).toBeLessThan(1_000 / 15);
    const found = asked(pace, 100, 45).indexOf(true);
    expect(found).toBeLessThan(16);
    expect(asked(pace, 5, 45)).toEqual([true, true, true, true, true]);
  });
});
