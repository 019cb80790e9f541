/** The worker's side of the turn model, over real mailboxes, with a thread that answers on command. */
import { describe, expect, it } from 'vitest';
import { heartbeatOf } from '../../../shared/protocol/heartbeat.ts';
import { turnRingFrames } from '../../../shared/protocol/mailbox.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { TurnClient } from '../../../worker/media/vad/turn-client.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

function newSetup(turnThreads = 1) {
  const layout = { workers: 1, slotsPerWorker: 2, ringFrames: turnRingFrames, threads: 1, turnThreads };
  const boxes = newMailboxes(layout);
  const time = { nowMs: 5_000 };
  const box = boxes.mailbox(0);
  const judged: (number | undefined)[] = [];
  const woken: (number | undefined)[] = [];
  const open = (into = judged): TurnClient =>
    new TurnClient({
      boxes,
      slot: 0,
      machineMs: () => time.nowMs,
      judged: (probability) => into.push(probability),
      wake: (word) => woken.push(word[0]),
    });
  const write = (frames: number): void => {
    for (let i = 0; i < frames; i += 1) {
      box.frameToWrite().set(new Int16Array(vadFrameSamples));
      box.publish();
    }
  };
  const beat = (): void =>
    boxes.beatTurnThread(0, { nowMs: heartbeatOf(time.nowMs), waiting: 0, oldestAskedAtMs: undefined });
  box.begin();
  write(20);
  if (turnThreads > 0) beat();
  return { boxes, box, time, judged, woken, open, client: open(), write, beat };
}

describe('the turn client', () => {
  it('reports one answer to one question', () => {
    const { client, box, judged } = newSetup();
    client.ask();
    client.collect();
    expect(judged).toEqual([]);
    box.turn.reply(box.turn.take()!.sequence, 0.75);
    client.collect();
    client.collect();
    expect(judged).toEqual([0.75]);
  });

  it('wakes the turn threads once its question is counted', () => {
    const { client, boxes, woken } = newSetup();
    const before = boxes.turnQuestions;
    client.ask();
    expect(woken).toEqual([before + 1]);
  });

  it('asks about the whole call, or about so much of it as belongs to the turn', () => {
    const { client, box, write } = newSetup();
    client.ask();
    expect(box.turn.take()).toMatchObject({ start: 0, end: 20 });
    client.ask({ audioMs: 100 });
    expect(box.turn.take()).toMatchObject({ start: 16, end: 20 });
    box.begin();
    write(3);
    client.ask({ audioMs: 60_000 });
    expect(box.turn.take()).toMatchObject({ start: 20, end: 23 });
  });

  it('reports that nobody can tell at once when there is no turn thread, or none that lives', () => {
    const without = newSetup(0);
    without.client.ask();
    expect(without.judged).toEqual([undefined]);
    const { client, judged, time, box } = newSetup();
    time.nowMs += 1_001;
    client.ask();
    expect(judged).toEqual([undefined]);
    expect(box.turn.waitingSince()).toBeUndefined();
  });

  it('reports that nobody could tell when the thread says so, and when no answer came in 300 ms', () => {
    const { client, box, judged, time } = newSetup();
    client.ask();
    box.turn.reply(box.turn.take()!.sequence, Number.NaN);
    client.collect();
    expect(judged).toEqual([undefined]);
    client.ask();
    time.nowMs += 299;
    client.collect();
    expect(judged).toHaveLength(1);
    time.nowMs += 1;
    client.collect();
    expect(judged).toEqual([undefined, undefined]);
  });

  it('never takes the answer to an older question for that to a newer one, in whatever order they come', () => {
    const { client, box, judged } = newSetup();
    client.ask();
    const first = box.turn.take()!;
    client.ask();
    const second = box.turn.take()!;
    box.turn.reply(first.sequence, 0.1);
    client.collect();
    expect(judged).toEqual([]);
    box.turn.reply(second.sequence, 0.875);
    box.turn.reply(first.sequence, 0.2);
    client.collect();
    expect(judged).toEqual([0.875]);
  });

  it('gets nothing of the former call in its slot', () => {
    const { client, box, open, judged } = newSetup();
    client.ask();
    const former = box.turn.take()!;
    box.begin();
    const later: (number | undefined)[] = [];
    const next = open(later);
    box.turn.reply(former.sequence, 0.9);
    next.collect();
    expect(later).toEqual([]);
    next.ask();
    next.collect();
    expect(later).toEqual([]);
    box.turn.reply(box.turn.take()!.sequence, 0.25);
    next.collect();
    expect(later).toEqual([0.25]);
    expect(judged).toEqual([]);
  });

  it('reports nothing once the question was withdrawn', () => {
    const { client, box, judged, time } = newSetup();
    client.ask();
    client.cancel();
    box.turn.reply(box.turn.take()!.sequence, 0.9);
    time.nowMs += 1_000;
    client.collect();
    expect(judged).toEqual([]);
  });
});

describe('the wait for the turn model', () => {
  it('is as old as the oldest question that a thread saw, and nothing when none waits or the thread is gone', () => {
    const { boxes, beat, time } = newSetup();
    expect(boxes.oldestTurnAskMs(time.nowMs)).toBe(0);
    boxes.beatTurnThread(0, { nowMs: time.nowMs, waiting: 3, oldestAskedAtMs: time.nowMs - 70 });
    expect(boxes.oldestTurnAskMs(time.nowMs)).toBe(70);
    expect(boxes.oldestTurnAskMs(time.nowMs + 400)).toBe(470);
    expect(boxes.oldestTurnAskMs(time.nowMs + 5_000)).toBe(0);
    beat();
    expect(boxes.oldestTurnAskMs(time.nowMs)).toBe(0);
  });
});
