/**
 * The turn thread with a model in this process. The stand-in of the test assets has the shape of Smart Turn v3 and random
 * weights: it shows that the right audio reaches the model, not that its answers are good.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { sileroPath } from '../../../inference/models.ts';
import { TurnFeatures, turnWindowSamples } from '../../../inference/features.ts';
import { openTurnModel, TurnThread } from '../../../inference/smart-turn.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { turnRingFrames, type Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { TurnClient } from '../../../worker/media/vad/turn-client.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';

const assets = process.env['SVC_TEST_ASSETS'];
const standIn =
  assets === undefined ? undefined : join(assets, 'models', 'smart-turn', 'stand-in-random-weights.onnx');
const noModel =
  standIn === undefined || !existsSync(standIn) ? 'SVC_TEST_ASSETS holds no stand-in of the turn model' : '';

it('refuses a model that is no turn model', async () => {
  await expect(openTurnModel(sileroPath(undefined))).rejects.toThrow('holds no Smart Turn v3 model');
});

describe.skipIf(noModel !== '')(`the turn thread${noModel === '' ? '' : `: ${noModel}`}`, () => {
  let session: InferenceSession;

  beforeAll(async () => {
    session = await openTurnModel(standIn!);
  });

  function newSetup() {
    const layout = { workers: 2, slotsPerWorker: 3, ringFrames: turnRingFrames, threads: 1, turnThreads: 1 };
    const boxes = newMailboxes(layout);
    boxes.setSlotsInUse(0, 3);
    boxes.setSlotsInUse(1, 3);
    const time = { nowMs: 9_000, runMs: 0 };
    const woken: number[] = [];
    const heard: Float32Array[] = [];
    const thread = new TurnThread({
      thread: 0,
      boxes,
      // The weights of the stand-in hear little difference, so that what it is given is compared.
      session: {
        run: (feeds: Parameters<InferenceSession['run']>[0]) => {
          time.nowMs += time.runMs;
          heard.push((feeds['input_features']!.data as Float32Array).slice());
          return session.run(feeds);
        },
      },
      wake: (worker) => woken.push(worker),
      machineMs: () => time.nowMs,
    });
    return { boxes, thread, time, woken, heard };
  }

  const frames = (count: number, seed: number): Int16Array => {
    const prng = newPrng(seed);
    return Int16Array.from({ length: count * vadFrameSamples }, () => prng.below(8_000) - 4_000);
  };

  function write(boxes: Mailboxes, slot: number, pcm: Int16Array): void {
    const box = boxes.mailbox(slot);
    for (let at = 0; at < pcm.length; at += vadFrameSamples) {
      box.frameToWrite().set(pcm.subarray(at, at + vadFrameSamples));
      box.publish();
    }
  }

  function ask(setup: ReturnType<typeof newSetup>, slot: number, audioMs?: number) {
    const { boxes, time } = setup;
    const judged: (number | undefined)[] = [];
    const client = new TurnClient({
      boxes,
      slot,
      machineMs: () => time.nowMs,
      judged: (probability) => judged.push(probability),
    });
    client.ask(audioMs === undefined ? {} : { audioMs });
    return { client, judged };
  }

  /** The features of this audio. */
  function featuresOf(pcm: Int16Array): Float32Array {
    const extractor = new TurnFeatures();
    const last = pcm.subarray(Math.max(0, pcm.length - turnWindowSamples));
    const at = turnWindowSamples - last.length;
    last.forEach((sample, i) => (extractor.window[at + i] = sample / 32_768));
    return extractor.compute(at);
  }

  const same = (a: Float32Array | undefined, b: Float32Array): boolean =>
    a !== undefined && a.every((value, i) => value === b[i]);

  it('gives the last 8 s of the call to the model and answers with its probability', async () => {
    const setup = newSetup();
    const pcm = frames(300, 1);
    setup.boxes.mailbox(1).begin();
    write(setup.boxes, 1, pcm);
    await setup.thread.judgeNext();
    const { client, judged } = ask(setup, 1);
    expect(await setup.thread.judgeNext()).toBe(true);
    client.collect();
    expect(setup.heard.length).toBe(1);
    expect(same(setup.heard[0], featuresOf(pcm))).toBe(true);
    expect(judged).toEqual([expect.any(Number)]);
    expect(judged[0]).toBeGreaterThan(0);
    expect(judged[0]).toBeLessThan(1);
    expect(await setup.thread.judgeNext()).toBe(false);
    expect(setup.boxes.turnThreadStatus(0)).toMatchObject({ judged: 1, leftOut: 0, waiting: 0 });
  });

  it('hears nothing of the former call, and no more than the turn when that is asked', async () => {
    const setup = newSetup();
    write(setup.boxes, 4, frames(60, 2));
    setup.boxes.mailbox(4).begin();
    const pcm = frames(40, 3);
    write(setup.boxes, 4, pcm);
    await setup.thread.judgeNext();
    const whole = ask(setup, 4);
    await setup.thread.judgeNext();
    whole.client.collect();
    const part = ask(setup, 4, 320);
    await setup.thread.judgeNext();
    part.client.collect();
    expect(setup.heard.length).toBe(2);
    expect(same(setup.heard[0], featuresOf(pcm))).toBe(true);
    expect(same(setup.heard[1], featuresOf(pcm.subarray(-10 * vadFrameSamples)))).toBe(true);
  });

  it('takes the oldest question first and wakes workers that sleep', async () => {
    const setup = newSetup();
    for (const slot of [0, 3, 5]) write(setup.boxes, slot, frames(4, slot + 10));
    await setup.thread.judgeNext();
    setup.boxes.setSleeping(1);
    const asked = [5, 0, 3].map((slot) => {
      setup.time.nowMs += 10;
      return ask(setup, slot);
    });
    const order: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      await setup.thread.judgeNext();
      asked.forEach(({ client, judged }, index) => {
        client.collect();
        if (judged.length > 0 && !order.includes(index)) order.push(index);
      });
    }
    expect(order).toEqual([0, 1, 2]);
    expect(setup.woken).toEqual([1]);
  });

  it('answers without a run when the question is too old, or there is no audio', async () => {
    const setup = newSetup();
    write(setup.boxes, 0, frames(4, 20));
    await setup.thread.judgeNext();
    ask(setup, 0);
    setup.time.nowMs += 301;
    expect(await setup.thread.judgeNext()).toBe(true);
    setup.boxes.mailbox(2).begin();
    const silent = ask(setup, 2);
    await setup.thread.judgeNext();
    silent.client.collect();
    expect(silent.judged).toEqual([undefined]);
    expect(setup.boxes.turnThreadStatus(0)).toMatchObject({ judged: 0, leftOut: 2 });
  });

  it('leaves out a question that has less time left than an answer takes, and answers the next one', async () => {
    const setup = newSetup();
    setup.time.runMs = 100;
    write(setup.boxes, 0, frames(4, 25));
    const answer = async (waitedMs: number): Promise<unknown> => {
      await setup.thread.judgeNext();
      ask(setup, 0);
      setup.time.nowMs += waitedMs;
      await setup.thread.judgeNext();
      const { judged, leftOut } = setup.boxes.turnThreadStatus(0);
      return { judged, leftOut };
    };
    expect(await answer(0)).toEqual({ judged: 1, leftOut: 0 });
    expect(await answer(250)).toEqual({ judged: 1, leftOut: 1 });
    expect(await answer(200)).toEqual({ judged: 2, leftOut: 1 });
    setup.time.runMs = 2_000;
    expect(await answer(0)).toEqual({ judged: 3, leftOut: 1 });
    setup.time.runMs = 45;
    expect(await answer(0)).toEqual({ judged: 4, leftOut: 1 });
    expect(await answer(0)).toEqual({ judged: 5, leftOut: 1 });
  });

  it('takes the slow first run before it shows that it is there, and learns no time from it', async () => {
    const setup = newSetup();
    setup.time.runMs = 5_000;
    await setup.thread.warmUp();
    expect(setup.heard).toHaveLength(1);
    expect(setup.boxes.turnThreadStatus(0)).toMatchObject({ heartbeatMs: 0, judged: 0 });
    setup.time.runMs = 45;
    write(setup.boxes, 0, frames(4, 26));
    await setup.thread.judgeNext();
    ask(setup, 0);
    await setup.thread.judgeNext();
    expect(setup.boxes.turnThreadStatus(0)).toMatchObject({ judged: 1, leftOut: 0 });
  });

  it('leaves out what was overwritten while the question waited', async () => {
    const setup = newSetup();
    const pcm = frames(250, 30);
    write(setup.boxes, 0, pcm);
    await setup.thread.judgeNext();
    const { client, judged } = ask(setup, 0);
    write(setup.boxes, 0, frames(20, 31));
    await setup.thread.judgeNext();
    client.collect();
    expect(judged).toHaveLength(1);
    expect(same(setup.heard[0], featuresOf(pcm.subarray(15 * vadFrameSamples)))).toBe(true);
  });
});
