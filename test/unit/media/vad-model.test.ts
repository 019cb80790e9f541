/** The VAD thread with the real model in this process: probabilities, several calls, generations, and speech as it is reported. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sileroPath } from '../../../inference/models.ts';
import { Silero, type VadModel } from '../../../inference/silero/silero.ts';
import { VadThread } from '../../../inference/vad-thread.ts';
import { type Mailboxes } from '../../../shared/protocol/mailbox.ts';
import { vadFrameMs, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { SpeechDetector } from '../../../worker/media/vad/speech-detector.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

let model: Silero;

beforeAll(() => {
  model = Silero.open(sileroPath(undefined));
});

function newSetup(slotsPerWorker = 4) {
  const boxes = newMailboxes({ workers: 2, slotsPerWorker, ringFrames: 16, threads: 1 });
  boxes.setSlotsInUse(0, slotsPerWorker);
  const woken: number[] = [];
  const thread = new VadThread({ thread: 0, boxes, model, wake: (worker) => woken.push(worker) });
  return { boxes, thread, woken };
}

const frameAt = (pcm: Int16Array, index: number): Int16Array =>
  pcm.subarray(index * vadFrameSamples, (index + 1) * vadFrameSamples);

function put(boxes: Mailboxes, slot: number, frame: Int16Array): void {
  const box = boxes.mailbox(slot);
  box.frameToWrite().set(frame);
  box.publish();
}

const lastResult = (boxes: Mailboxes, slot: number): number => {
  const box = boxes.mailbox(slot);
  return box.result(box.consumed - 1);
};

/** Probabilities of all whole frames of a recording, in a call of its own. */
function judge(pcm: Int16Array): number[] {
  const { boxes, thread } = newSetup(1);
  boxes.mailbox(0).begin();
  const found: number[] = [];
  for (let i = 0; (i + 1) * vadFrameSamples <= pcm.length; i += 1) {
    put(boxes, 0, frameAt(pcm, i));
    expect(thread.judgeWaiting()).toBe(1);
    found.push(lastResult(boxes, 0));
  }
  return found;
}

const noise = (frames: number, seed: number): Int16Array => {
  const prng = newPrng(seed);
  return Int16Array.from({ length: frames * vadFrameSamples }, () => prng.below(2_000) - 1_000);
};

/** Milliseconds of audio at which speech was reported. */
function speechStarts(probabilities: readonly number[]): number[] {
  const starts: number[] = [];
  let ms = 0;
  const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };
  const detector = new SpeechDetector(settings, (fact) => {
    if (fact === 'speech.started') starts.push(ms);
  });
  for (const probability of probabilities) {
    ms += vadFrameMs;
    detector.take(probability, vadFrameMs);
  }
  return starts;
}

/** Milliseconds to the first sample that is certainly no silence. */
const firstLoudMs = (pcm: Int16Array): number => pcm.findIndex((sample) => Math.abs(sample) > 2_000) / 16;

describe('the VAD thread', () => {
  it('finds no speech in silence and in white noise', () => {
    expect(Math.max(...judge(new Int16Array(vadFrameSamples * 60)))).toBeLessThan(0.2);
    const judged = judge(noise(100, 1));
    expect(judged.filter((probability) => probability > 0.5)).toEqual([]);
  });

  it('judges calls side by side exactly as it judges each alone', () => {
    const calls = [1, 2, 3, 4].map((seed) => noise(12, seed));
    const alone = calls.map((pcm) => judge(pcm));
    const { boxes, thread } = newSetup();
    const together: number[][] = calls.map(() => []);
    for (let i = 0; i < 12; i += 1) {
      calls.forEach((pcm, slot) => put(boxes, slot, frameAt(pcm, i)));
      expect(thread.judgeWaiting()).toBe(4);
      together.forEach((found, slot) => found.push(lastResult(boxes, slot)));
    }
    expect(together).toEqual(alone);
    expect(new Set(together.map((found) => found.at(-1))).size).toBe(4);
  });

  it('takes one frame of each call per look, oldest first, until none waits', () => {
    const { boxes, thread } = newSetup();
    for (let i = 0; i < 3; i += 1) put(boxes, 1, frameAt(noise(3, 5), i));
    put(boxes, 3, noise(1, 6));
    expect([thread.judgeWaiting(), thread.judgeWaiting()]).toEqual([2, 1]);
    expect([thread.judgeWaiting(), thread.judgeWaiting()]).toEqual([1, 0]);
    expect([0, 1, 2, 3].map((slot) => boxes.mailbox(slot).consumed)).toEqual([0, 3, 0, 1]);
  });

  it('starts a new call without memory of the one before it, and without its frames', () => {
    const pcm = noise(6, 9);
    const expected = judge(pcm);
    const { boxes, thread } = newSetup();
    for (let i = 0; i < 5; i += 1) {
      put(boxes, 2, noise(1, 50 + i));
      thread.judgeWaiting();
    }
    put(boxes, 2, noise(1, 60));
    boxes.mailbox(2).begin();
    const found: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      put(boxes, 2, frameAt(pcm, i));
      thread.judgeWaiting();
      found.push(lastResult(boxes, 2));
    }
    expect(found).toEqual(expected);
  });

  it('gives a call that began during a run nothing of that run', () => {
    const { boxes } = newSetup();
    const box = boxes.mailbox(0);
    let runs = 0;
    // A call begins in its worker, which waits for nobody.
    const overtaken: VadModel = {
      judge: () => {
        runs += 1;
        if (runs === 1) box.begin();
        return 0.9;
      },
    };
    const thread = new VadThread({ thread: 0, boxes, model: overtaken, wake: () => undefined });
    put(boxes, 0, noise(1, 1));
    thread.judgeWaiting();
    expect([runs, box.consumed]).toEqual([1, 0]);
    thread.judgeWaiting();
    expect(box.consumed).toBe(box.base);
  });

  it('shows in the middle of a look at many calls that it lives', () => {
    const { boxes } = newSetup(40);
    const told: number[] = [];
    const watched: VadModel = {
      judge: () => {
        told.push(boxes.threadStatus(0).oldestUnread);
        return 0;
      },
    };
    const thread = new VadThread({ thread: 0, boxes, model: watched, wake: () => undefined });
    for (let slot = 0; slot < 40; slot += 1) put(boxes, slot, noise(1, slot));
    put(boxes, 0, noise(1, 40));
    thread.judgeWaiting();
    expect(told).toEqual([...Array<number>(32).fill(0), ...Array<number>(8).fill(2)]);
  });

  it('leaves out the oldest frames of a call that fell behind, and counts them', () => {
    const { boxes, thread } = newSetup();
    for (let i = 0; i < 12; i += 1) put(boxes, 0, noise(1, i));
    while (thread.judgeWaiting() > 0);
    const box = boxes.mailbox(0);
    expect([0, 1, 2, 3].map((i) => box.result(i))).toEqual([NaN, NaN, NaN, NaN]);
    expect([4, 11].every((i) => box.result(i) >= 0)).toBe(true);
    const { frames, dropped, runs } = boxes.threadStatus(0);
    expect({ frames, dropped, runs }).toEqual({ frames: 8, dropped: 4, runs: 8 });
  });

  it('wakes only a worker that sleeps, once', () => {
    const { boxes, thread, woken } = newSetup();
    put(boxes, 0, noise(1, 1));
    thread.judgeWaiting();
    expect(woken).toEqual([]);
    boxes.setSleeping(0);
    for (const slot of [0, 1, 2]) put(boxes, slot, noise(1, slot));
    thread.judgeWaiting();
    put(boxes, 0, noise(1, 1));
    thread.judgeWaiting();
    expect(woken).toEqual([0]);
  });
});

describe('the VAD thread on recordings', () => {
  it('reports speech within 400 ms of the first loud sample in nearly every recording', ({ skip }) => {
    skip(noRecordings !== undefined, noRecordings);
    const delays: { name: string; delayMs: number }[] = [];
    for (const { name, pcm } of recordings('speech')) {
      const [start] = speechStarts(judge(pcm));
      delays.push({ name, delayMs: start === undefined ? Infinity : start - firstLoudMs(pcm) });
    }
    const late = delays.filter(({ delayMs }) => delayMs > 400);
    if (process.env['SVC_TEST_FIGURES'] !== undefined) process.stdout.write(figures(delays));
    expect(delays.filter(({ delayMs }) => delayMs === Infinity)).toEqual([]);
    expect(late.length / delays.length).toBeLessThanOrEqual(0.1);
  });

  it('reports no speech in recordings of noise', ({ skip }) => {
    skip(noRecordings !== undefined, noRecordings);
    const found: Record<string, number> = {};
    for (const { name, pcm } of recordings('noise')) {
      found[name] = speechStarts(judge(pcm)).length;
    }
    if (process.env['SVC_TEST_FIGURES'] !== undefined) process.stdout.write(`${JSON.stringify(found)}\n`);
    expect(Object.keys(found).length).toBeGreaterThan(4);
    expect(Object.values(found).filter((starts) => starts > 0)).toEqual([]);
  });
});

function figures(delays: readonly { name: string; delayMs: number }[]): string {
  const sorted = delays.map(({ delayMs }) => delayMs).sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const late = delays.filter(({ delayMs }) => delayMs > 400);
  return `${sorted.length} files, median ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)}; late ${JSON.stringify(late)}\n`;
}
