/** Finding children whose event loop hangs. */
import { describe, expect, it } from 'vitest';
import { heartbeatOf, mailboxBytes, Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { HangWatch } from '../../../supervisor/hang-watch.ts';
import { childReady, dueForks, newProcessTable } from '../../../supervisor/process-table.ts';

function world(): { watch: HangWatch; boxes: Mailboxes; hung: string[] } {
  const layout = { workers: 1, slotsPerWorker: 1, ringFrames: 16, threads: 2 };
  const boxes = new Mailboxes(new ArrayBuffer(mailboxBytes(layout)), layout);
  const table = newProcessTable(1);
  dueForks(table, 0);
  for (const row of table.rows) childReady(row);
  const hung: string[] = [];
  const watch = new HangWatch({ table, boxes, hangMs: 5_000, onHang: (row) => hung.push(row.role) });
  return { watch, boxes, hung };
}

function beat(boxes: Mailboxes, now: number, who: { worker?: boolean; threads?: readonly number[] }): void {
  if (who.worker) boxes.beatWorker(0, { nowMs: heartbeatOf(now), calls: 0, worstLatenessUs: 0 });
  for (const thread of who.threads ?? []) boxes.beatThread(thread, heartbeatOf(now), 0);
}

describe('the watch over hanging children', () => {
  it('leaves those alone that beat', () => {
    const { watch, boxes, hung } = world();
    for (let now = 10_000; now < 30_000; now += 200) {
      beat(boxes, now, { worker: true, threads: [0, 1] });
      watch.look(now + 100);
    }
    expect(hung).toEqual([]);
  });

  it('finds a silent worker', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { worker: true });
    for (let now = 10_000; now <= 15_200; now += 200) {
      beat(boxes, now, { threads: [0, 1] });
      watch.look(now);
    }
    expect(hung).toEqual(['worker']);
  });

  it('finds inference when one of its threads is silent', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { threads: [1] });
    for (let now = 10_000; now <= 15_200; now += 200) {
      beat(boxes, now, { worker: true, threads: [0] });
      watch.look(now);
    }
    expect(hung).toEqual(['inference']);
  });

  it('does not judge others after it was held up itself', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { worker: true, threads: [0, 1] });
    watch.look(10_000);
    watch.look(60_000);
    expect(hung).toEqual([]);
    watch.look(60_200);
    expect(hung).toEqual(['inference', 'worker']);
  });
});
