/** Which children should exist, and when they are started again. */
import { describe, expect, it } from 'vitest';
import {
  anyFailing,
  hangs,
  usedUp,
  childGone,
  childLeaving,
  childReady,
  dueForks,
  inferenceReady,
  newProcessTable,
  nextFork,
  readyWorkers,
  rowOf,
  type ChildRow,
  type ProcessTable,
} from '../../../supervisor/children/process-table.ts';

function row(table: ProcessTable, index = 0): ChildRow {
  const found = rowOf(table, 'worker', index);
  if (found === undefined) throw new Error('the row exists');
  return found;
}

/** The pause after each of `ends`, for a worker that dies at once, before it is ready or behind that. */
function pauses(table: ProcessTable, ends: readonly number[], { ready = false } = {}): number[] {
  return ends.map((now) => {
    dueForks(table, Number.POSITIVE_INFINITY);
    if (ready) childReady(table, row(table));
    childGone(table, row(table), now);
    return (nextFork(table) ?? Number.NaN) - now;
  });
}

describe('the process table', () => {
  it('starts inference and every worker at once, each of them once', () => {
    const table = newProcessTable(2);
    expect(dueForks(table, 0)).toEqual([
      { role: 'inference', index: 0 },
      { role: 'worker', index: 0 },
      { role: 'worker', index: 1 },
    ]);
    expect(dueForks(table, 1_000_000)).toEqual([]);
    expect(nextFork(table)).toBeUndefined();
  });

  it('counts a child as ready from its word until its end', () => {
    const table = newProcessTable(2);
    dueForks(table, 0);
    expect([readyWorkers(table), inferenceReady(table)]).toEqual([[], false]);
    childReady(table, row(table, 1));
    expect(readyWorkers(table)).toEqual([1]);
    childGone(table, row(table, 1), 5);
    expect(readyWorkers(table)).toEqual([]);
    expect(dueForks(table, 5)).toEqual([{ role: 'worker', index: 1 }]);
  });

  it('start for the first time as many at once as are allowed, and again at once whenever they died', () => {
    const table = newProcessTable(2, { startsAtOnce: 1 });
    const order = [
      { role: 'inference', index: 0 },
      { role: 'worker', index: 0 },
      { role: 'worker', index: 1 },
    ] as const;
    for (const { role, index } of order) {
      expect(dueForks(table, 0)).toEqual([{ role, index }]);
      expect([dueForks(table, 1_000_000), nextFork(table)]).toEqual([[], undefined]);
      childReady(table, rowOf(table, role, index)!);
    }
    for (const { role, index } of order) childGone(table, rowOf(table, role, index)!, 60_000);
    expect(dueForks(table, 60_000)).toHaveLength(3);
  });

  it('replaces at once the first time, then with pauses that double up to five seconds', () => {
    expect(pauses(newProcessTable(1), [0, 1, 2, 3, 4, 5, 6, 7])).toEqual([
      0, 200, 400, 800, 1600, 3200, 5000, 5000,
    ]);
  });

  it('lets calls wait for half a second at most where the child could start before', () => {
    expect(pauses(newProcessTable(1), [0, 1, 2, 3, 4, 5], { ready: true })).toEqual([
      0, 200, 400, 500, 500, 500,
    ]);
  });

  it('waits with the successor of a worker whose place a spare has taken, so that its start slows no call that moves', () => {
    const table = newProcessTable(1, { spare: true });
    dueForks(table, 0);
    childReady(table, rowOf(table, 'inference', 0)!);
    childReady(table, row(table));
    dueForks(table, 0);
    childReady(table, row(table, 1));
    expect(readyWorkers(table)).toEqual([0]);
    childGone(table, row(table), 100);
    expect([readyWorkers(table), nextFork(table), dueForks(table, 3_099)]).toEqual([[1], 3_100, []]);
    // Now it is missed.
    childGone(table, row(table, 1), 200);
    expect([nextFork(table), dueForks(table, 200)]).toEqual([100, [{ role: 'worker', index: 0 }]]);
  });

  it('forgets earlier ends of a child that lived for half a minute since', () => {
    expect(pauses(newProcessTable(1), [0, 1, 2, 30_002, 30_003])).toEqual([0, 200, 400, 0, 200]);
  });

  it('replaces one that was asked to leave at once, and gives it no new work meanwhile', () => {
    const table = newProcessTable(1);
    pauses(table, [0, 1]);
    dueForks(table, 1_000);
    childReady(table, row(table));
    childLeaving(table, row(table));
    expect(readyWorkers(table)).toEqual([]);
    childReady(table, row(table));
    expect(readyWorkers(table)).toEqual([]);
    childGone(table, row(table), 1_001);
    expect(dueForks(table, 1_001)).toEqual([{ role: 'worker', index: 0 }]);
  });

  it('replaces nobody once it is closed', () => {
    const table = newProcessTable(1);
    dueForks(table, 0);
    table.course = 'closed';
    childGone(table, row(table), 1);
    expect([dueForks(table, 1_000_000), nextFork(table)]).toEqual([[], undefined]);
  });

  it('replaces only a last worker while it drains', () => {
    const table = newProcessTable(2, { spare: true });
    dueForks(table, 0);
    for (const child of table.rows) childReady(table, child);
    dueForks(table, 1);
    for (const child of table.rows) childReady(table, child);
    table.course = 'draining';
    const [inference, first, second, third] = table.rows;
    for (const child of [inference, first, second]) childGone(table, child!, 2);
    expect([dueForks(table, 10_000), nextFork(table)]).toEqual([[], undefined]);
    childGone(table, third!, 10_000);
    expect(dueForks(table, 10_000)).toEqual([{ role: 'worker', index: 0 }]);
    expect([dueForks(table, 20_000), nextFork(table)]).toEqual([[], undefined]);
  });
});

describe('a child that hangs', () => {
  const row = (state: ChildRow['state']): ChildRow => ({
    role: 'worker',
    index: 0,
    state,
    failures: 0,
    lastEndAt: undefined,
  });

  it.each([
    ['is ready and silent for longer than allowed', { phase: 'ready' } as const, 5_001, true],
    ['is ready and silent just as long as allowed', { phase: 'ready' } as const, 5_000, false],
    ['finishes its calls and is silent', { phase: 'leaving' } as const, 5_001, true],
    ['has been starting for half a minute', { phase: 'starting', since: 69_999 } as const, 0, true],
    [
      'is starting, with the heartbeat of its predecessor',
      { phase: 'starting', since: 90_000 } as const,
      60_000,
      false,
    ],
    ['is not there', { phase: 'waiting', until: 0 } as const, 60_000, false],
  ])('%s', (_, state, silentMs, verdict) => {
    expect(hangs(row(state), { now: 100_000, silentMs, hangMs: 5_000 })).toBe(verdict);
  });

  it('takes readiness away after six ends in a row, and gives it back with a start that lasts', () => {
    const table = newProcessTable(1);
    const worker = rowOf(table, 'worker', 0)!;
    let now = 0;
    for (let end = 1; end <= 6; end += 1) {
      now += 6_000;
      dueForks(table, now);
      expect(anyFailing(table)).toBe(false);
      childGone(table, worker, now);
      expect(usedUp(worker)).toBe(end === 6);
    }
    expect(anyFailing(table)).toBe(true);
    dueForks(table, now + 6_000);
    expect(anyFailing(table)).toBe(true);
    childReady(table, worker);
    expect(anyFailing(table)).toBe(false);
  });
});
