/** The worker's side of VAD, over real mailboxes, with a consumer that judges on command. */
import { describe, expect, it } from 'vitest';
import { maxUnreadFrames, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { newMailboxes, newScriptedInference } from '../../support/audio/mailboxes.ts';

/** A frame that is recognised by its samples, quiet enough to be no voice for the energy gate. */
const frameOf = (name: number): Int16Array => new Int16Array(vadFrameSamples).fill(name);
const probabilityOf = (frame: Int16Array): number => frame[0]! / 128;

function newSetup(slot = 0) {
  const boxes = newMailboxes();
  const inference = newScriptedInference(boxes);
  const time = { nowMs: 5_000 };
  const judged: number[] = [];
  const fellBackAfterMs: number[] = [];
  const open = (into = judged): VadClient =>
    new VadClient({
      boxes,
      slot,
      machineMs: () => time.nowMs,
      fellBack: (afterMs) => fellBackAfterMs.push(afterMs),
      judged: (probability, frameMs) => {
        expect(frameMs).toBe(32);
        into.push(probability * 128);
      },
    });
  inference.beat(time.nowMs);
  const client = open();
  return { boxes, inference, time, judged, fellBackAfterMs, open, client, box: boxes.mailbox(slot) };
}

describe('the VAD client', () => {
  it('reports every judgement once and in order', () => {
    const { client, inference, judged } = newSetup();
    for (const name of [1, 2, 3]) client.write(frameOf(name));
    client.collect();
    expect(judged).toEqual([]);
    expect(inference.judge(0, probabilityOf)).toEqual([1, 2, 3]);
    client.collect();
    client.collect();
    client.write(frameOf(4));
    inference.judge(0, probabilityOf);
    client.collect();
    expect(judged).toEqual([1, 2, 3, 4]);
    expect(client.judgedByEnergy).toBe(0);
  });

  it('wakes the thread that sleeps when a frame is full, and not before', () => {
    const boxes = newMailboxes();
    const woken: Int32Array[] = [];
    const client = new VadClient({
      ...{ boxes, slot: 0, machineMs: () => 5_000, judged: () => undefined },
      wake: (word) => woken.push(word),
    });
    const half = new Int16Array(vadFrameSamples / 2);
    client.write(frameOf(1));
    boxes.setThreadAsleep(0, true);
    client.write(half);
    expect(woken).toHaveLength(0);
    client.write(half);
    expect(woken).toHaveLength(1);
    client.write(new Int16Array(3 * vadFrameSamples));
    expect(woken).toHaveLength(1);
    boxes.setThreadAsleep(0, true);
    client.write(new Int16Array(3 * vadFrameSamples));
    expect(woken).toHaveLength(2);
  });

  it('says how much waits behind the frame that it tells of, where that is more than usual', () => {
    const boxes = newMailboxes();
    const inference = newScriptedInference(boxes);
    const waiting: number[] = [];
    const client: VadClient = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => 0,
      judged: () => waiting.push(client.unjudgedMs),
    });
    inference.beat(0);
    for (let name = 1; name <= 6; name += 1) client.write(frameOf(name));
    expect([client.isBusy, waiting]).toEqual([true, []]);
    inference.judge(0, probabilityOf);
    client.collect();
    expect(waiting).toEqual([5, 4, 3, 0, 0, 0].map((frames) => frames * 32));
    expect(client.isBusy).toBe(false);
  });

  it('cuts audio of any length into frames, losing and repeating no sample', () => {
    const { client, inference, box } = newSetup();
    const audio = Int16Array.from({ length: vadFrameSamples * 6 }, (_, i) => i);
    const lengths = [1, 511, 160, 160, 700, 3, 1];
    let at = 0;
    const seen: number[] = [];
    for (let i = 0; at < audio.length; i += 1) {
      const end = Math.min(audio.length, at + lengths[i % lengths.length]!);
      client.write(audio.subarray(at, end));
      at = end;
      inference.judge(0, (frame) => {
        seen.push(...frame);
        return 0;
      });
    }
    expect(seen).toEqual([...audio]);
    expect(box.produced).toBe(6);
  });

  it('reports nothing for frames that inference left out, and goes on behind them', () => {
    const { client, inference, box, judged } = newSetup();
    for (let name = 1; name <= 12; name += 1) client.write(frameOf(name));
    box.skipTo(box.produced - maxUnreadFrames);
    inference.judge(0, probabilityOf);
    client.collect();
    expect(judged).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('reports the newest results that still exist when nobody looked for a long time', () => {
    const { client, inference, judged } = newSetup();
    for (let name = 1; name <= 40; name += 1) {
      client.write(frameOf(name));
      inference.judge(0, probabilityOf);
    }
    client.collect();
    expect(judged).toEqual(Array.from({ length: 16 }, (_, i) => 25 + i));
  });

  it('gets nothing of the former call in its slot, not even what is judged late', () => {
    const { client, inference, box, open } = newSetup();
    client.write(frameOf(1));
    client.write(frameOf(2));
    const before = box.generation;
    const judged: number[] = [];
    const second = open(judged);
    expect(box.generation).toBe(before + 1);
    box.deliver(box.consumed, 0.99);
    second.collect();
    second.write(frameOf(3));
    expect(inference.judge(0, probabilityOf)).toEqual([3]);
    second.collect();
    expect(judged).toEqual([3]);
  });

  it('keeps the calls of two slots apart', () => {
    const first = newSetup();
    const judged: number[] = [];
    const second = new VadClient({
      boxes: first.boxes,
      slot: 1,
      machineMs: () => first.time.nowMs,
      judged: (probability) => judged.push(probability * 128),
    });
    first.client.write(frameOf(1));
    second.write(frameOf(2));
    expect(first.inference.judge(0, probabilityOf)).toEqual([1]);
    expect(first.inference.judge(1, probabilityOf)).toEqual([2]);
    first.client.collect();
    second.collect();
    expect([first.judged, judged]).toEqual([[1], [2]]);
  });
});

describe("a frame that is the bot's own voice", () => {
  const voiced = (amplitude: number): Int16Array =>
    Int16Array.from({ length: vadFrameSamples }, (_, i) => Math.round(amplitude * Math.sin(i / 20)));

  it('is silence for inference and for whoever is told, and the next one is not', () => {
    const boxes = newMailboxes();
    const inference = newScriptedInference(boxes);
    inference.beat(5_000);
    const asked: boolean[] = [];
    const told: { power: number; periodicity: number }[] = [];
    const client = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => 5_000,
      isEcho: () => {
        asked.push(true);
        return asked.length === 2;
      },
      judged: (_probability, _ms, { power, periodicity }) => told.push({ power, periodicity }),
    });
    for (let i = 0; i < 3; i += 1) client.write(voiced(8_000));
    const seen: number[] = [];
    inference.judge(0, (frame) => {
      seen.push(Math.max(...frame));
      return 0.5;
    });
    client.collect();
    expect(seen).toEqual([8_000, 0, 8_000]);
    expect(told.map(({ power }) => power > 0)).toEqual([true, false, true]);
    expect(told[1]).toEqual({ power: 0, periodicity: 0 });
    expect(told[2]!.periodicity).toBeGreaterThan(0.65);
  });

  it('is not asked about when it is quiet', () => {
    const boxes = newMailboxes();
    let asked = 0;
    const isEcho = (): boolean => {
      asked += 1;
      return false;
    };
    const client = new VadClient({ boxes, slot: 0, machineMs: () => 5_000, isEcho, judged: () => undefined });
    client.write(voiced(30));
    client.write(new Int16Array(vadFrameSamples));
    expect(asked).toBe(0);
    client.write(voiced(100));
    expect(asked).toBe(1);
  });
});

describe('how periodic a frame is', () => {
  it('is measured when somebody asks, with what came before it, also when judged late', () => {
    const { boxes, inference, time } = newSetup();
    const told: number[] = [];
    const client = new VadClient({
      boxes,
      slot: 0,
      machineMs: () => time.nowMs,
      judged: (_probability, _ms, sound) => told.push(sound.periodicity),
    });
    const vowel = Int16Array.from({ length: 14 * vadFrameSamples }, (_, i) => {
      const since = i % 128;
      return Math.round(9_000 * Math.exp(-since / 30) * Math.cos(since / 4));
    });
    for (let at = 0; at < vowel.length; at += vadFrameSamples)
      client.write(vowel.subarray(at, at + vadFrameSamples));
    boxes.mailbox(0).skipTo(boxes.mailbox(0).produced - maxUnreadFrames);
    inference.judge(0, () => 0.9);
    client.collect();
    expect(told.length).toBe(maxUnreadFrames);
    for (const periodicity of told) expect(periodicity).toBeGreaterThan(0.9);
  });
});

describe('the VAD client without inference', () => {
  const loud = Int16Array.from({ length: vadFrameSamples }, (_, i) => 8_000 * Math.sin(i / 5));

  it('judges by energy once heartbeat and frame are older than 100 ms, and then at once', () => {
    const { client, time, judged } = newSetup();
    client.write(loud);
    time.nowMs += 100;
    client.collect();
    expect(judged).toEqual([]);
    time.nowMs += 1;
    client.collect();
    expect(judged).toEqual([128]);
    client.write(new Int16Array(vadFrameSamples));
    client.collect();
    expect(judged).toEqual([128, 0]);
    expect(client.judgedByEnergy).toBe(2);
  });

  it('judges by energy at once when the process of inference is known to have ended', () => {
    const { boxes, client, time, judged, inference } = newSetup();
    client.write(loud);
    time.nowMs += 10;
    client.collect();
    expect(judged).toEqual([]);
    boxes.threadsGone();
    client.collect();
    expect(judged).toEqual([128]);
    inference.beat(time.nowMs);
    inference.judge(0, () => 0.25);
    client.write(loud);
    client.collect();
    expect(judged).toEqual([128]);
  });

  it('tells once how long nothing was judged, and does not count the time in which the caller sent nothing', () => {
    const { boxes, client, time, fellBackAfterMs, inference } = newSetup();
    client.write(loud.subarray(0, 300));
    time.nowMs += 5;
    inference.beat(time.nowMs);
    time.nowMs += 20;
    boxes.threadsGone();
    client.write(loud.subarray(300));
    client.write(loud);
    client.collect();
    client.write(loud);
    client.collect();
    expect(fellBackAfterMs).toEqual([20]);
    inference.beat(time.nowMs);
    client.write(loud);
    client.collect();
    boxes.threadsGone();
    inference.judge(0, () => 0.25);
    client.collect();
    time.nowMs += 5_000;
    client.write(loud.subarray(0, 400));
    time.nowMs += 15;
    client.write(loud);
    client.collect();
    expect(fellBackAfterMs).toEqual([20, 15]);
  });

  it('does not take its own stall for an outage', () => {
    const { client, time, judged, inference } = newSetup();
    time.nowMs += 2_000;
    client.write(loud);
    client.collect();
    expect(judged).toEqual([]);
    inference.beat(time.nowMs);
    inference.judge(0, () => 0.25);
    client.collect();
    expect(judged).toEqual([32]);
  });

  it('is as careful in the second outage as in the first', () => {
    const { client, time, judged, inference } = newSetup();
    client.write(loud);
    time.nowMs += 150;
    client.collect();
    inference.beat(time.nowMs);
    inference.judge(0, () => 0.25);
    client.write(loud);
    client.collect();
    inference.judge(0, () => 0.25);
    client.collect();
    expect(judged).toEqual([128, 32]);
    time.nowMs += 150;
    client.write(loud);
    client.collect();
    expect(judged).toHaveLength(2);
  });

  it('goes back to inference and judges no frame twice', () => {
    const { client, time, judged, inference } = newSetup();
    client.write(frameOf(1));
    client.write(frameOf(2));
    time.nowMs += 200;
    client.collect();
    expect(judged).toEqual([0, 0]);
    inference.beat(time.nowMs);
    expect(inference.judge(0, probabilityOf)).toEqual([1, 2]);
    client.collect();
    client.write(frameOf(3));
    client.collect();
    expect(judged).toEqual([0, 0]);
    inference.judge(0, probabilityOf);
    client.collect();
    expect(judged).toEqual([0, 0, 3]);
  });
});
