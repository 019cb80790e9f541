/** Mailboxes between a worker and inference, on memory that is really mapped twice. */
import { closeSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heartbeatAge, heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { asleepWord, mailboxBytes, Mailboxes, type MailboxLayout } from '../../../shared/protocol/mailbox.ts';
import { maxUnreadFrames, resultRing, type Mailbox } from '../../../shared/protocol/mailbox-slot.ts';
import { createSharedMemory, mapSharedMemory } from '../../../shared/runtime/shm.ts';

const layout: MailboxLayout = { workers: 2, slotsPerWorker: 3, ringFrames: 16, threads: 2 };

/** Two views of the same memory, as two processes have them. */
function twoViews(): [Mailboxes, Mailboxes] {
  const bytes = mailboxBytes(layout);
  const fd = createSharedMemory('test', bytes);
  const views = [0, 1].map(() => new Mailboxes(mapSharedMemory(fd, bytes), layout));
  closeSync(fd);
  return [views[0]!, views[1]!];
}

function write(mailbox: Mailbox, value: number): void {
  mailbox.frameToWrite().fill(value);
  mailbox.publish();
}

describe('a mailbox', () => {
  it('carries frames one way and their judgements the other, in order', () => {
    const [worker, inference] = twoViews();
    const [out, into] = [worker.mailbox(4), inference.mailbox(4)];
    out.begin();
    for (let frame = 0; frame < 40; frame += 1) {
      write(out, frame);
      expect([into.produced, into.frame(into.consumed)[511]]).toEqual([frame + 1, frame]);
      into.deliver(into.consumed, frame / 100);
      expect([out.consumed, out.result(frame)]).toEqual([frame + 1, Math.fround(frame / 100)]);
    }
  });

  it('shows nothing to its neighbours', () => {
    const [worker, inference] = twoViews();
    for (let slot = 0; slot < worker.slots; slot += 1)
      for (let i = 0; i <= slot; i += 1) write(worker.mailbox(slot), slot + 1);
    for (let slot = 0; slot < inference.slots; slot += 1) {
      const mailbox = inference.mailbox(slot);
      expect([mailbox.produced, ...new Set(mailbox.frame(0))]).toEqual([slot + 1, slot + 1]);
    }
  });

  it('marks what was left out as not judged', () => {
    const [worker, inference] = twoViews();
    const [out, into] = [worker.mailbox(0), inference.mailbox(0)];
    for (let frame = 0; frame < 12; frame += 1) write(out, frame);
    into.skipTo(into.produced - maxUnreadFrames);
    into.deliver(into.consumed, 0.5);
    expect([0, 1, 2, 3, 4].map((frame) => out.result(frame))).toEqual([NaN, NaN, NaN, NaN, 0.5]);
    expect(out.consumed).toBe(5);
  });

  it('marks no more than the ring holds, however much was left out', () => {
    const [worker, inference] = twoViews();
    const [out, into] = [worker.mailbox(0), inference.mailbox(0)];
    for (let frame = 0; frame < 100; frame += 1) write(out, frame);
    into.skipTo(90);
    expect(Array.from({ length: resultRing }, (_, i) => out.result(89 - i)).every(Number.isNaN)).toBe(true);
    expect(out.consumed).toBe(90);
  });

  it('keeps frames of a former call apart from the present one', () => {
    const [worker, inference] = twoViews();
    const [out, into] = [worker.mailbox(0), inference.mailbox(0)];
    out.begin();
    const generation = into.generation;
    for (let frame = 0; frame < 3; frame += 1) write(out, 7);
    out.begin();
    expect([into.generation === generation, into.base, into.consumed]).toEqual([false, 3, 0]);
  });
});

describe('the control page', () => {
  it('wakes a sleeping worker exactly once', () => {
    const [worker, inference] = twoViews();
    expect(inference.takeSleeping(1)).toBe(false);
    worker.setSleeping(1);
    expect([inference.takeSleeping(0), inference.takeSleeping(1), inference.takeSleeping(1)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('keeps lines of threads and workers apart', () => {
    const [worker, inference] = twoViews();
    inference.beatThread(1, 55, 4);
    inference.countFrames(1, { judged: 3, dropped: 2, quiet: 5 });
    inference.countFrames(1, { judged: 0, dropped: 1, quiet: 1 });
    inference.countNoise(1, 'cleaned');
    inference.countNoise(1, 'noisy');
    inference.countNoise(1, 'noisy');
    worker.beatWorker(0, { nowMs: 77, calls: 5, worstLatenessUs: 900 });
    worker.setSlotsInUse(0, 99);
    expect(worker.threadStatus(1)).toEqual({
      heartbeatMs: 55,
      oldestUnread: 4,
      frames: 3,
      dropped: 3,
      quiet: 6,
      runs: 1,
      cleaned: 1,
      noisy: 2,
    });
    expect(worker.threadStatus(0)).toEqual({
      heartbeatMs: 0,
      oldestUnread: 0,
      frames: 0,
      dropped: 0,
      quiet: 0,
      runs: 0,
      cleaned: 0,
      noisy: 0,
    });
    expect(inference.workerStatus(0)).toEqual({ heartbeatMs: 77, calls: 5, worstLatenessUs: 900 });
    expect([inference.slotsInUse(0), inference.slotsInUse(1)]).toEqual([layout.slotsPerWorker, 0]);
    expect([worker.stopping, (inference.setStopping(true), worker.stopping)]).toEqual([false, true]);
  });

  it('lets one of those that write wake a thread that sleeps, and no other thread', () => {
    const [worker, inference] = twoViews();
    expect(worker.takeThreadAsleep(1)).toBe(false);
    inference.setThreadAsleep(1, true);
    inference.beatThread(1, 55, 0);
    expect(worker.threadWord(1)[0]).toBe(asleepWord);
    expect([0, 1, 1].map((thread) => worker.takeThreadAsleep(thread))).toEqual([false, true, false]);
    inference.setThreadAsleep(1, true);
    inference.setThreadAsleep(1, false);
    expect(worker.takeThreadAsleep(1)).toBe(false);
  });

  it('takes a thread that sleeps for alive, and one that is gone for neither', () => {
    const [worker, inference] = twoViews();
    inference.setThreadAsleep(0, true);
    expect(worker.isThreadGone(0)).toBe(false);
    inference.threadsGone();
    expect([worker.isThreadGone(0), worker.takeThreadAsleep(0), worker.isThreadGone(0)]).toEqual([
      true,
      false,
      true,
    ]);
    inference.beatThread(0, 55, 0);
    expect(worker.isThreadGone(0)).toBe(false);
  });

  it('tells the age of a heartbeat also across its wrap', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (beatMs, ageMs) => {
          const beat = Math.floor(beatMs);
          expect(heartbeatAge(beat + ageMs, heartbeatOf(beat))).toBe(ageMs);
        },
      ),
    );
    expect(heartbeatAge(2 ** 31 + 5, heartbeatOf(2 ** 31 - 5))).toBe(10);
  });

  it('of a moment after the look at the clock has no age', () => {
    expect(heartbeatAge(1_000, heartbeatOf(1_001))).toBe(0);
    expect(heartbeatAge(2 ** 31 - 5, heartbeatOf(2 ** 31 + 5))).toBe(0);
  });

  it('is refused for a layout that does not fit', () => {
    expect(() => mailboxBytes({ ...layout, threads: 17 })).toThrow('a line for each process');
    expect(() => mailboxBytes({ ...layout, workers: 257 })).toThrow('a line for each process');
    expect(() => mailboxBytes({ ...layout, ringFrames: 8 })).toThrow('larger than what may be unread');
    expect(() => new Mailboxes(new ArrayBuffer(4096), layout)).toThrow('the size of its layout');
    expect(() => twoViews()[0].mailbox(6)).toThrow('the slot exists');
  });
});

describe('what a call wants to be done about its noise', () => {
  it('is read by inference with the call that wrote it, and is nothing without a word', () => {
    const [worker, inference] = twoViews();
    const [out, into] = [worker.mailbox(0), inference.mailbox(0)];
    const heard: string[] = [];
    for (const mode of ['on', 'auto', undefined, 'off'] as const) {
      out.begin(mode);
      heard.push(into.noise);
    }
    expect(heard).toEqual(['on', 'auto', 'off', 'off']);
    expect(inference.mailbox(1).noise).toBe('off');
  });
});
