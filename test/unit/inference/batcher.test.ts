/** Which slots go into the next run of the model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beatMsOf, mayBatch, newBatchPlan, planBatch, type BatchPlan } from '../../../inference/batcher.ts';

const chosen = (plan: BatchPlan): number[] => [...plan.slots.subarray(0, plan.rows)];

describe('a batch', () => {
  it('holds every slot with waiting frames once, and tells the fullest', () => {
    const plan = newBatchPlan(8);
    const waiting = new Map([
      [3, 1],
      [5, 0],
      [9, 4],
    ]);
    planBatch(plan, [3, 5, 9], (slot) => waiting.get(slot) ?? 0);
    expect([chosen(plan), plan.oldestUnread]).toEqual([[3, 9], 4]);
  });

  it('is empty without slots, and forgets the former one', () => {
    const plan = newBatchPlan(2);
    planBatch(plan, [1, 2], () => 3);
    planBatch(plan, [], () => 3);
    expect([plan.rows, plan.oldestUnread]).toEqual([0, 0]);
  });

  it('goes on where the last one was full, so that every slot has its turn', () => {
    const plan = newBatchPlan(2);
    const turns = [1, 2, 3].map(() => {
      planBatch(plan, [10, 11, 12], () => 1);
      return chosen(plan);
    });
    expect(turns).toEqual([
      [10, 11],
      [12, 10],
      [11, 12],
    ]);
  });

  it('sees the backlog of slots that do not fit any more', () => {
    const plan = newBatchPlan(1);
    planBatch(plan, [0, 1, 2], (slot) => slot + 1);
    expect([plan.rows, plan.oldestUnread]).toEqual([1, 3]);
  });

  it('serves every slot within as many runs as it takes to go round, however many slots come and go', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 99 }),
        (count, rows, cursor) => {
          const plan = newBatchPlan(rows);
          plan.cursor = cursor;
          const slots = Array.from({ length: count }, (_, slot) => slot);
          const served = new Set<number>();
          for (let run = 0; run < Math.ceil(count / rows); run += 1) {
            planBatch(plan, slots, () => 1);
            for (const slot of chosen(plan)) served.add(slot);
          }
          expect(served.size).toBe(count);
        },
      ),
    );
  });
});

describe('a thread between two looks', () => {
  it('looks again by itself only where many calls have frames', () => {
    const looks = [
      { found: true, calls: 40 },
      { found: true, calls: 5 },
      { found: true, calls: 4 },
      { found: true, calls: 1 },
      { found: false, calls: 40 },
      { found: false, calls: 0 },
    ];
    expect(looks.map(mayBatch)).toEqual([true, true, false, false, false, false]);
  });

  it('shows that it lives before anybody takes it for gone', () => {
    const [idleMs, busyMs] = [beatMsOf(0), beatMsOf(1)];
    expect(busyMs).toBeLessThan(100);
    expect(idleMs).toBeGreaterThan(busyMs);
    expect(idleMs).toBeLessThan(600);
  });
});
