/** Opinions between two frames, over real mailboxes: with a consumer that answers on command, and with the real model. */
import { describe, expect, it } from 'vitest';
import { sileroPath } from '../../../inference/models.ts';
import { Silero, type VadModel } from '../../../inference/silero/silero.ts';
import { VadThread } from '../../../inference/vad-thread.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { newMailboxes, newScriptedInference } from '../../support/audio/mailboxes.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

const packetSamples = 320;

function newSetup() {
  const boxes = newMailboxes();
  boxes.setSlotsInUse(0, 1);
  const inference = newScriptedInference(boxes);
  inference.beat(5_000);
  const told: string[] = [];
  const wanted = { from: 0 };
  const woken: Int32Array[] = [];
  const open = (): VadClient =>
    new VadClient({
      boxes,
      slot: 0,
      machineMs: () => 5_000,
      wake: (word) => woken.push(word),
      judged: (probability) => told.push(`frame ${probability}`),
      peek: {
        isWanted: (sinceMs) => sinceMs >= wanted.from,
        judged: (probability, sinceMs, { power }) =>
          told.push(`peek ${probability} ${sinceMs} ms${power > 0 ? '' : ' silent'}`),
      },
    });
  const client = open();
  const box = boxes.mailbox(0);
  const answer = (probability: number): boolean => {
    const question = box.peek.question(box.consumed);
    if (question !== undefined) box.peek.deliver(question.code, probability);
    return question !== undefined;
  };
  const judge = (probability: number) => inference.judge(0, () => probability);
  const packets = (count: number): void => {
    for (let i = 0; i < count; i += 1) client.write(new Int16Array(packetSamples).fill(900));
  };
  return { boxes, box, client, open, told, wanted, woken, answer, judge, packets };
}

describe('a look between two frames', () => {
  it('wakes the thread that sleeps, also when it is wanted late', () => {
    const { boxes, client, wanted, woken, packets, judge } = newSetup();
    wanted.from = 100;
    packets(4);
    judge(0.25);
    boxes.setThreadAsleep(0, true);
    client.collect();
    expect(woken).toHaveLength(0);
    wanted.from = 0;
    client.collect();
    expect(woken).toHaveLength(1);
    wanted.from = 100;
    packets(1);
    judge(0.25);
    client.collect();
    wanted.from = 0;
    boxes.setThreadAsleep(0, true);
    // The sixth packet ends inside of the frame in which it began.
    packets(1);
    expect(woken).toHaveLength(2);
  });

  it('is told after the frame before, once, with how new it is', () => {
    const { client, told, answer, judge, packets } = newSetup();
    packets(4);
    judge(0.25);
    expect(answer(0.5)).toBe(true);
    client.collect();
    client.collect();
    expect(told).toEqual(['frame 0.25', 'frame 0.25', 'peek 0.5 16 ms']);
    packets(1);
    judge(0.5);
    expect([answer(0.75), answer(0.75)]).toEqual([true, false]);
    client.collect();
    expect(told.slice(3)).toEqual(['frame 0.5', 'peek 0.75 4 ms']);
  });

  it('is asked only where it is wanted, and of audio that has two frames before it', () => {
    const { wanted, answer, judge, packets } = newSetup();
    packets(2);
    judge(0.5);
    expect(answer(0.5)).toBe(false);
    wanted.from = 17;
    packets(2);
    judge(0.5);
    expect(answer(0.5)).toBe(false);
    wanted.from = 4;
    packets(1);
    judge(0.5);
    expect(answer(0.5)).toBe(true);
  });

  it('is asked of the same packet once the frame before is known, should it be wanted then', () => {
    const { client, told, wanted, answer, judge, packets } = newSetup();
    wanted.from = 17;
    packets(4);
    wanted.from = 0;
    expect(answer(0.5)).toBe(false);
    client.collect();
    expect(answer(0.5)).toBe(false);
    judge(0.25);
    client.collect();
    expect(answer(0.5)).toBe(true);
    client.collect();
    client.collect();
    expect(answer(0.75)).toBe(false);
    expect(told).toEqual(['frame 0.25', 'frame 0.25', 'peek 0.5 16 ms']);
  });

  it('waits for the answer about the packet before, in the same frame', () => {
    const { client, told, answer, judge, packets } = newSetup();
    packets(5);
    judge(0.25);
    client.collect();
    packets(1);
    expect(answer(0.5)).toBe(true);
    client.collect();
    expect(answer(0.75)).toBe(true);
    client.collect();
    expect(told.slice(-2)).toEqual(['peek 0.5 4 ms', 'peek 0.75 24 ms']);
    packets(1);
    judge(0.25);
    client.collect();
    expect(answer(0.5)).toBe(true);
    expect(told.at(-1)).toBe('frame 0.25');
  });

  it('is asked once of a packet', () => {
    const { client, told, answer, judge, packets } = newSetup();
    packets(4);
    judge(0.25);
    expect(answer(0.5)).toBe(true);
    client.collect();
    client.collect();
    expect(answer(0.75)).toBe(false);
    expect(told).toHaveLength(3);
  });

  it('waits for the frame before, should its answer be seen first', () => {
    const { box, client, told, judge, packets } = newSetup();
    packets(4);
    box.peek.deliver(box.peek.question(2)!.code, 0.5);
    client.collect();
    expect(told).toEqual([]);
    judge(0.25);
    client.collect();
    expect(told).toEqual(['frame 0.25', 'frame 0.25', 'peek 0.5 16 ms']);
  });

  it('is nothing any more once the frame itself has been told, or another call has the slot', () => {
    const { client, told, open, answer, judge, packets } = newSetup();
    packets(4);
    judge(0.25);
    expect(answer(0.5)).toBe(true);
    packets(1);
    judge(0.75);
    client.collect();
    expect(told).toEqual(['frame 0.25', 'frame 0.25', 'frame 0.75']);
    packets(1);
    const next = open();
    expect(answer(0.5)).toBe(true);
    next.collect();
    expect(told).toHaveLength(3);
  });
});

describe('the VAD thread', () => {
  /** In the place of the model: it keeps what it is asked, and its memory is the number of frames that it has heard. */
  const modelFor = (into: { samples: number[]; memory: number }[]): VadModel => ({
    judge: (input, memory) => {
      into.push({ samples: Array.from(input, (sample) => sample * 32_768), memory: memory[0] ?? Number.NaN });
      memory.fill((memory[0] ?? 0) + 1);
      return 0.01;
    },
  });

  it('shows the model the newest samples, with the memory before the frame that they overlap with, and rings', () => {
    const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 16, threads: 1 });
    boxes.setSlotsInUse(0, 1);
    const asked: { samples: number[]; memory: number }[] = [];
    const woken: number[] = [];
    const thread = new VadThread({
      thread: 0,
      boxes,
      model: modelFor(asked),
      wake: (worker) => woken.push(worker),
    });
    let peeks = 0;
    const client = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => boxes.threadHeartbeat(0),
      judged: () => undefined,
      peek: { isWanted: () => true, judged: () => (peeks += 1) },
    });
    const pcm = Int16Array.from({ length: 60 * packetSamples }, (_, i) => i);
    for (let at = packetSamples; at <= pcm.length; at += packetSamples) {
      client.write(pcm.subarray(at - packetSamples, at));
      while (boxes.mailbox(0).produced > boxes.mailbox(0).consumed) thread.judgeWaiting();
      const frames = Math.floor(at / vadFrameSamples);
      boxes.setSleeping(0);
      woken.length = 0;
      const before = asked.length;
      thread.judgeWaiting();
      const isPeek = frames >= 2 && at % vadFrameSamples !== 0;
      expect(asked.length - before).toBe(isPeek ? 1 : 0);
      expect(woken).toEqual(isPeek ? [0] : []);
      if (isPeek) {
        expect(asked.at(-1)?.samples).toEqual([...pcm.subarray(at - vadFrameSamples - 64, at)]);
        expect(asked.at(-1)?.memory).toBe(frames - 1);
      }
      client.collect();
    }
    expect(peeks).toBe(50);
  });
});

describe('a look by the real model', () => {
  function judgedIn(pcm: Int16Array, looks: boolean) {
    const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 16, threads: 1 });
    boxes.setSlotsInUse(0, 1);
    const thread = new VadThread({
      thread: 0,
      boxes,
      model: Silero.open(sileroPath(undefined)),
      wake: () => undefined,
    });
    const frames: number[] = [];
    const peeks: [at: number, probability: number][] = [];
    let at = 0;
    const client = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => boxes.threadHeartbeat(0),
      judged: (probability) => frames.push(probability),
      peek: { isWanted: () => looks, judged: (probability) => peeks.push([at, probability]) },
    });
    for (; at + packetSamples <= pcm.length;) {
      client.write(pcm.subarray(at, at + packetSamples));
      at += packetSamples;
      while (thread.judgeWaiting() > 0);
      client.collect();
    }
    return { frames, peeks, counted: boxes.threadStatus(0).frames };
  }

  it('changes nothing in what the model says of frames, and counts as none', () => {
    const prng = newPrng(5);
    const pcm = Int16Array.from({ length: 40 * packetSamples }, () => prng.below(2_000) - 1_000);
    const [plain, looked] = [judgedIn(pcm, false), judgedIn(pcm, true)];
    expect(plain.peeks).toEqual([]);
    expect(looked.peeks.length).toBeGreaterThan(20);
    expect(looked.frames).toEqual(plain.frames);
    expect(looked.counted).toBe(looked.frames.length);
  });

  it.skipIf(noRecordings !== undefined)('says of speech what the frame says that ends where it ends', () => {
    const speech = recordings('speech')
      .find(({ name }) => name.startsWith('jfk'))!
      .pcm.subarray(0, 48_000);
    const { peeks } = judgedIn(speech, true);
    const differences: number[] = [];
    for (const shift of [64, 128, 192, 256, 320, 384, 448]) {
      const shifted = judgedIn(speech.subarray(shift), false);
      for (const [at, probability] of peeks) {
        const frame = (at - shift) / vadFrameSamples - 1;
        if (Number.isInteger(frame) && frame > 20)
          differences.push(Math.abs(probability - (shifted.frames[frame] ?? Number.NaN)));
      }
    }
    expect(differences.length).toBeGreaterThan(80);
    const close = differences.filter((difference) => difference < 0.2);
    expect(close.length / differences.length).toBeGreaterThan(0.8);
  });
});
