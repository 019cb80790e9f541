/** Finding children whose event loop hangs. */
import { describe, expect, it } from 'vitest';
import { heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { mailboxBytes, Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { HangWatch } from '../../../supervisor/children/hang-watch.ts';
import {
  childGone,
  childReady,
  dueForks,
  newProcessTable,
  type ProcessTable,
} from '../../../supervisor/children/process-table.ts';

/** What the kernel says of the worker. */
interface Kernel {
  stopped: boolean;
  cpuMs: number;
}

function world(
  turnThreads = 0,
  workers = 1,
): { watch: HangWatch; boxes: Mailboxes; hung: string[]; table: ProcessTable; kernel: Kernel } {
  const layout = { workers, slotsPerWorker: 1, ringFrames: 16, threads: 2, turnThreads: 1 };
  const boxes = new Mailboxes(new ArrayBuffer(mailboxBytes(layout)), layout);
  const table = newProcessTable(1);
  dueForks(table, 0);
  for (const row of table.rows) childReady(table, row);
  const hung: string[] = [];
  const kernel: Kernel = { stopped: false, cpuMs: 0 };
  const watch = new HangWatch({
    table,
    boxes,
    turnThreads: () => turnThreads,
    hangMs: 5_000,
    log: { error: () => undefined },
    kill: (row) => hung.push(row.role),
    stateOf: (row) => (row.role === 'worker' ? { ended: false, ...kernel } : undefined),
  });
  return { watch, boxes, hung, table, kernel };
}

/** The clock of heartbeats began long before that of the process. */
const machineTime = (now: number): number => now + 7_000_000;

function beat(boxes: Mailboxes, now: number, who: { worker?: boolean; threads?: readonly number[] }): void {
  if (who.worker) boxes.beatWorker(0, { nowMs: heartbeatOf(machineTime(now)), calls: 0, worstLatenessUs: 0 });
  for (const thread of who.threads ?? []) boxes.beatThread(thread, heartbeatOf(machineTime(now)), 0);
}

describe('the watch over hanging children', () => {
  it('leaves those alone that beat', () => {
    const { watch, boxes, hung } = world();
    for (let now = 10_000; now < 30_000; now += 200) {
      beat(boxes, now, { worker: true, threads: [0, 1] });
      watch.look(now + 100, machineTime(now + 100));
    }
    expect(hung).toEqual([]);
  });

  it('leaves those alone that beat between its look at the clock and its look at them', () => {
    const { watch, boxes, hung } = world();
    for (let now = 10_000; now < 11_000; now += 200) {
      beat(boxes, now + 7, { worker: true, threads: [0, 1] });
      watch.look(now, machineTime(now));
    }
    expect(hung).toEqual([]);
  });

  it('finds a silent worker', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { worker: true });
    for (let now = 10_000; now <= 15_200; now += 200) {
      beat(boxes, now, { threads: [0, 1] });
      watch.look(now, machineTime(now));
    }
    expect(hung).toEqual(['worker']);
  });

  it('finds a worker that a signal has stopped within a second', () => {
    const { watch, boxes, hung, kernel } = world();
    beat(boxes, 10_000, { worker: true });
    kernel.stopped = true;
    for (let now = 10_000; now <= 11_000; now += 200) {
      beat(boxes, now, { threads: [0, 1] });
      watch.look(now, machineTime(now));
    }
    expect(hung).toEqual([]);
    beat(boxes, 11_001, { threads: [0, 1] });
    watch.look(11_001, machineTime(11_001));
    expect(hung).toEqual(['worker']);
  });

  it('finds a worker in a circle within two seconds, and waits for one that gets no processor', () => {
    for (const [share, found] of [
      [0.9, 12_200],
      [0.4, 15_200],
    ] as const) {
      const { watch, boxes, hung, kernel } = world();
      beat(boxes, 10_000, { worker: true });
      let foundAt: number | undefined;
      for (let now = 10_000; now <= 15_200; now += 200) {
        kernel.cpuMs += 200 * share;
        beat(boxes, now, { threads: [0, 1] });
        watch.look(now, machineTime(now));
        if (hung.length > 0) foundAt ??= now;
      }
      expect(foundAt).toBe(found);
    }
  });

  it('says when a child could first be found', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { worker: true });
    const look = (now: number): number => {
      beat(boxes, now, { threads: [0, 1] });
      return watch.look(now, machineTime(now));
    };
    for (let now = 10_000; now < 14_900; now += 200) look(now);
    expect(look(14_900)).toBe(101);
    expect(hung).toEqual([]);
    // It stands in the table until the kernel says that it is gone, and is not looked for in a circle.
    expect(look(15_001)).toBe(20);
    expect(look(15_021)).toBe(20);
    expect(hung).toEqual(['worker']);
  });

  it('finds the next one in the same row as well', () => {
    const { watch, boxes, hung, table } = world();
    beat(boxes, 10_000, { worker: true });
    for (let now = 10_000; now <= 20_400; now += 200) {
      beat(boxes, now, { threads: [0, 1] });
      watch.look(now, machineTime(now));
      const worker = table.rows.find(({ role }) => role === 'worker');
      if (worker === undefined || now !== 15_200) continue;
      childGone(table, worker, now);
      dueForks(table, now);
      childReady(table, worker);
      beat(boxes, now, { worker: true });
    }
    expect(hung).toEqual(['worker', 'worker']);
  });

  it('knows which workers showed a sign of life lately', () => {
    const { watch, boxes } = world(0, 3);
    for (const [worker, beatAt] of [9_001, 10_000, 9_000].entries())
      boxes.beatWorker(worker, { nowMs: heartbeatOf(machineTime(beatAt)), calls: 0, worstLatenessUs: 0 });
    expect(watch.awake([0, 1, 2], machineTime(10_000))).toEqual([0, 1]);
    expect(watch.awake([0, 2], machineTime(10_000))).toEqual([0]);
    expect(watch.awake([2], machineTime(10_000))).toEqual([2]);
    expect(watch.awake([], machineTime(10_000))).toEqual([]);
    // Where all are held up the machine is slow, and one is as good as another.
    expect(watch.awake([0, 1, 2], machineTime(20_000))).toEqual([0, 1, 2]);
  });

  it.each([
    [1, ['inference']],
    [0, []],
  ])('finds inference when its turn thread is silent, where there is one: %i', (turnThreads, expected) => {
    const { watch, boxes, hung } = world(turnThreads);
    const beatTurn = (now: number): void =>
      boxes.beatTurnThread(0, {
        nowMs: heartbeatOf(machineTime(now)),
        waiting: 0,
        oldestAskedAtMs: undefined,
      });
    beatTurn(10_000);
    for (let now = 10_000; now <= 15_200; now += 200) {
      beat(boxes, now, { worker: true, threads: [0, 1] });
      watch.look(now, machineTime(now));
    }
    expect(hung).toEqual(expected);
  });

  it('finds inference when one of its threads is silent', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { threads: [1] });
    for (let now = 10_000; now <= 15_200; now += 200) {
      beat(boxes, now, { worker: true, threads: [0] });
      watch.look(now, machineTime(now));
    }
    expect(hung).toEqual(['inference']);
  });

  it('does not judge others after it was held up itself', () => {
    const { watch, boxes, hung } = world();
    beat(boxes, 10_000, { worker: true, threads: [0, 1] });
    watch.look(10_000, machineTime(10_000));
    watch.look(60_000, machineTime(60_000));
    expect(hung).toEqual([]);
    watch.look(60_200, machineTime(60_200));
    expect(hung).toEqual(['inference', 'worker']);
  });

  it('gives a child half a minute to start, whatever heartbeat its predecessor left', () => {
    const { watch, boxes, hung, table } = world();
    for (const row of table.rows) childGone(table, row, 10_000);
    dueForks(table, 10_000);
    for (let now = 10_000; now <= 40_200; now += 200) watch.look(now, machineTime(now));
    expect(boxes.workerStatus(0).heartbeatMs).toBe(0);
    expect(hung).toEqual(['inference', 'worker']);
  });

  it('knows inference to be silent from the time of its most silent thread', () => {
    const { watch, boxes } = world();
    beat(boxes, 10_000, { threads: [0, 1] });
    beat(boxes, 11_000, { threads: [1] });
    expect(watch.isInferenceSilent(machineTime(11_999))).toBe(false);
    expect(watch.isInferenceSilent(machineTime(12_000))).toBe(true);
    beat(boxes, 12_000, { threads: [0] });
    expect(watch.isInferenceSilent(machineTime(12_000))).toBe(false);
  });
});
