/** Which children should exist, and when they are started again. */
import { describe, expect, it } from 'vitest';
import {
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
} from '../../../supervisor/process-table.ts';

function row(table: ProcessTable, index = 0): ChildRow {
  const found = rowOf(table, 'worker', index);
  if (found === undefined) throw new Error('the row exists');
  return found;
}

/** The pause after each of `ends`, for a worker that becomes ready at once and dies at once. */
function pauses(table: ProcessTable, ends: readonly number[]): number[] {
  return ends.map((now) => {
    dueForks(table, Number.POSITIVE_INFINITY);
    childReady(row(table));
    childGone(row(table), now);
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
    childReady(row(table, 1));
    expect(readyWorkers(table)).toEqual([1]);
    childGone(row(table, 1), 5);
    expect(readyWorkers(table)).toEqual([]);
    expect(dueForks(table, 5)).toEqual([{ role: 'worker', index: 1 }]);
  });

  it('replaces at once the first time, then with pauses that double up to five seconds', () => {
    expect(pauses(newProcessTable(1), [0, 1, 2, 3, 4, 5, 6, 7])).toEqual([
      0, 200, 400, 800, 1600, 3200, 5000, 5000,
    ]);
  });

  it('forgets earlier ends of a child that lived for half a minute since', () => {
    expect(pauses(newProcessTable(1), [0, 1, 2, 30_002, 30_003])).toEqual([0, 200, 400, 0, 200]);
  });

  it('replaces one that was asked to leave at once, and gives it no new work meanwhile', () => {
    const table = newProcessTable(1);
    pauses(table, [0, 1]);
    dueForks(table, 1_000);
    childReady(row(table));
    childLeaving(row(table));
    expect(readyWorkers(table)).toEqual([]);
    childReady(row(table));
    expect(readyWorkers(table)).toEqual([]);
    childGone(row(table), 1_001);
    expect(dueForks(table, 1_001)).toEqual([{ role: 'worker', index: 0 }]);
  });

  it('replaces nobody once it is closing', () => {
    const table = newProcessTable(1);
    dueForks(table, 0);
    table.closing = true;
    childGone(row(table), 1);
    expect([dueForks(table, 1_000_000), nextFork(table)]).toEqual([[], undefined]);
  });
});
