/** The VAD thread and frames in which nothing happens: what becomes of them, and what the model hears afterwards. */
import { describe, expect, it } from 'vitest';
import { VadThread } from '../../../inference/vad-thread.ts';
import { maxUnreadFrames } from '../../../shared/protocol/mailbox-slot.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

const contextSamples = 64;
const quietLevel = { power: 1e-7, brightPower: 1e-8 };
const loudLevel = { power: 1e-3, brightPower: 1e-4 };

/** In the place of the model: it keeps what it is asked, and says what the test says. */
function newEar() {
  const heard: Float32Array[] = [];
  const ear = { probability: 0.004, heard };
  const judge = (input: Float32Array): number => {
    heard.push(input.slice());
    return ear.probability;
  };
  return { ear, model: { judge } };
}

function newSetup() {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 2, ringFrames: 16, threads: 1 });
  boxes.setSlotsInUse(0, 2);
  const woken: number[] = [];
  const { ear, model } = newEar();
  const thread = new VadThread({ thread: 0, boxes, model, wake: (worker) => woken.push(worker) });
  const box = boxes.mailbox(0);
  box.begin();
  let written = 0;
  /** Every frame has samples of its own. */
  const write = (level = quietLevel): void => {
    written += 1;
    box.frameToWrite().fill(written);
    box.publish(level);
  };
  /** Somebody speaks, and then nobody for a second, the second half of which sounds alike: 33 frames. */
  const settle = (): void => {
    for (let i = 0; i <= 32; i += 1) {
      ear.probability = i === 0 ? 0.9 : 0.004;
      write(i <= 16 ? loudLevel : quietLevel);
      thread.judgeWaiting();
    }
    expect(ear.heard.length).toBe(33);
  };
  return { boxes, box, thread, ear, woken, write, settle };
}

describe('a call in which nobody makes a sound', () => {
  it('gets its results without the model, all that wait at once', () => {
    const { box, boxes, thread, ear, write, settle } = newSetup();
    settle();
    ear.probability = 0.9;
    for (let i = 0; i < 3; i += 1) write();
    expect([thread.judgeWaiting(), ear.heard.length, box.consumed]).toEqual([0, 33, 36]);
    expect([33, 34, 35].map((index) => box.result(index))).toEqual(Array(3).fill(Math.fround(0.004)));
    expect(boxes.threadStatus(0)).toMatchObject({ frames: 33, runs: 33, quiet: 3, dropped: 0 });
  });

  it('rings no bell, neither for those nor for what the model has to judge', () => {
    const { boxes, thread, woken, write, settle } = newSetup();
    settle();
    boxes.setSleeping(0);
    write();
    thread.judgeWaiting();
    write(loudLevel);
    expect(thread.judgeWaiting()).toBe(1);
    expect(woken).toEqual([]);
  });

  it('rings as soon as the model is not sure any more, and for a second after', () => {
    const { boxes, thread, ear, woken, write, settle } = newSetup();
    settle();
    const rings = (probability: number): boolean => {
      ear.probability = probability;
      boxes.setSleeping(0);
      write(loudLevel);
      thread.judgeWaiting();
      return woken.splice(0).length > 0;
    };
    expect(rings(0.021)).toBe(true);
    const after: boolean[] = [];
    for (let i = 0; i < 33; i += 1) after.push(rings(0.004));
    expect(after.lastIndexOf(true)).toBe(30);
  });

  it('says in its heartbeat that frames waited, and leaves out those that waited too long', () => {
    const { box, boxes, thread, write, settle } = newSetup();
    settle();
    for (let i = 0; i < 5; i += 1) write();
    thread.judgeWaiting();
    expect(boxes.threadStatus(0)).toMatchObject({ oldestUnread: 5, quiet: 5 });
    for (let i = 0; i < maxUnreadFrames + 3; i += 1) write();
    thread.judgeWaiting();
    expect(boxes.threadStatus(0)).toMatchObject({ oldestUnread: maxUnreadFrames, quiet: 13, dropped: 3 });
    expect([38, 40, 41].map((index) => Number.isNaN(box.result(index)))).toEqual([true, true, false]);
  });
});

describe('the first sound after quiet', () => {
  it('is judged in the same look as the quiet before it, with the end of that as its context', () => {
    const { thread, box, ear, write, settle } = newSetup();
    settle();
    write();
    write();
    write(loudLevel);
    ear.probability = 0.7;
    expect([thread.judgeWaiting(), box.consumed, box.result(35)]).toEqual([1, 36, Math.fround(0.7)]);
    const input = ear.heard.at(-1)!;
    expect(input.subarray(0, contextSamples).every((sample) => sample === 35 / 32_768)).toBe(true);
    expect(input.subarray(contextSamples).every((sample) => sample === 36 / 32_768)).toBe(true);
  });

  it('has no context in a new call, which knows no quiet of the one before it', () => {
    const { thread, box, ear, write, settle } = newSetup();
    settle();
    box.begin();
    write();
    expect(thread.judgeWaiting()).toBe(1);
    expect(
      ear.heard
        .at(-1)!
        .subarray(0, contextSamples)
        .every((sample) => sample === 0),
    ).toBe(true);
  });
});
