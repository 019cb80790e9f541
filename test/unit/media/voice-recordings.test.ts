/** How soon recorded callers are surely speech, and that hums are not: the real model, on the time of the audio. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import { sileroPath } from '../../../inference/models.ts';
import { Silero } from '../../../inference/silero/silero.ts';
import { VadThread } from '../../../inference/vad-thread.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { vadFrameMs } from '../../../shared/protocol/mailbox-slot.ts';
import { SpeechDetector, type SpeechFact } from '../../../worker/media/vad/speech-detector.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { level } from '../../support/audio/echo-path.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };
const silenceSamples = 32_000;
const loud = 600;
const packetMs = 20;
const packetSamples = 16 * packetMs;

let model: Silero;

beforeAll(() => {
  model = Silero.open(sileroPath(undefined));
});

/** Milliseconds of audio from the beginning of a sound, behind silence, to its proof in packets of 20 ms; undefined without one. */
function provedAfter(
  sound: Int16Array,
  offset: number,
  { fact = 'speech.confirmed', looks = true }: { fact?: SpeechFact; looks?: boolean } = {},
): number | undefined {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 16, threads: 1 });
  boxes.setSlotsInUse(0, 1);
  const thread = new VadThread({ thread: 0, boxes, model, wake: () => undefined });
  let ms = 0;
  let provedMs: number | undefined;
  const note = (told: SpeechFact): void => {
    if (told === fact) provedMs ??= ms;
  };
  const detector = new SpeechDetector(settings, note, { isOverAgent: () => true });
  const vad = new VadClient({
    boxes,
    slot: 0,
    machineMs: () => boxes.threadHeartbeat(0),
    judged: (probability, frameMs, heard) => detector.take(probability, frameMs, heard),
    peek: {
      isWanted: (sinceMs) => looks && detector.wantsPeek(sinceMs),
      judged: (probability, sinceMs, heard) => detector.peek(probability, sinceMs, heard),
    },
  });
  const from = silenceSamples + offset;
  const pcm = new Int16Array(from + sound.length + 16_000);
  pcm.set(sound, from);
  for (let at = 0; at + packetSamples <= pcm.length && provedMs === undefined; at += packetSamples) {
    ms += packetMs;
    vad.write(pcm.subarray(at, at + packetSamples));
    while (thread.judgeWaiting() > 0);
    vad.collect();
  }
  return provedMs === undefined ? undefined : provedMs - from / 16;
}

/** As loud as a caller at a common distance from the microphone, if it is softer: -20 dBFS. */
function loudEnough(pcm: Int16Array): Int16Array {
  const gain = Math.max(1, 3_300 / Math.max(1, level(pcm)));
  return pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
}

describe('a voice in real time', () => {
  it('is no interruption when it hums', async () => {
    const flite = await loadFlite();
    for (const text of ['mm-hmm', 'mm', 'hmm']) {
      const hum = flite(text, { voice: 'slt', speed: 1 });
      for (const offset of [0, 170, 340]) expect(provedAfter(hum, offset)).toBeUndefined();
    }
  });

  it.skipIf(noRecordings !== undefined)(
    'does not even begin over the bot in clatter that VAD takes for one',
    () => {
      const coffeeShop = recordings('noise').find(({ name }) => name.startsWith('coffee'))?.pcm;
      const begun: number[] = [];
      for (const [from, length] of [
        [311_694, 4_800],
        [313_234, 3_200],
      ] as const) {
        const cut = coffeeShop!.subarray(from, from + length);
        const gain = 3_300 / Math.max(1, level(cut));
        const burst = cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
        for (let offset = 0; offset < 512; offset += 40) {
          const ms = provedAfter(burst, offset, { fact: 'speech.started' });
          if (ms !== undefined) begun.push(ms);
        }
      }
      // One of 26 comes close to a pitch.
      expect(begun.length).toBeLessThanOrEqual(1);
    },
  );

  it.skipIf(noRecordings !== undefined)('is none in short noises as loud as a voice', () => {
    const prng = newPrng(8);
    for (const { name, pcm } of recordings('noise')) {
      if (pcm.length < 2 * 16_000) continue;
      const clatters = name.startsWith('coffee') ? [311_694, 313_234] : [];
      for (const from of [...clatters, prng.below(pcm.length - 4_800), prng.below(pcm.length - 4_800)]) {
        const cut = pcm.subarray(from, from + 16 * (150 + prng.below(150)));
        const gain = 3_300 / Math.max(1, level(cut));
        const burst = cut.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))));
        expect([name, from, provedAfter(burst, prng.below(512))]).toEqual([name, from, undefined]);
      }
    }
  });

  it.skipIf(noRecordings !== undefined)('is proved within seven frames of its first loud one', () => {
    const found: number[] = [];
    for (const { name, pcm } of recordings('speech')) {
      const first = pcm.findIndex((sample) => Math.abs(sample) > loud);
      if (first < 0 || !/^(digit|dograh|lk_|goforward|libri|wy_|sb_)/.test(name)) continue;
      // A voice that is soft proves nothing by itself before it is known how loud the caller is (caller-level.test.ts).
      const sound = loudEnough(pcm.slice(first, first + 16_000));
      for (const offset of [0, 256]) found.push(provedAfter(sound, offset) ?? Infinity);
    }
    expect(found.length).toBeGreaterThan(50);
    const soon = found.filter((ms) => ms <= 7 * vadFrameMs);
    expect(soon.length / found.length).toBeGreaterThan(0.9);
  });

  it.skipIf(noRecordings !== undefined)('is proved sooner by looks between frames, and never later', () => {
    const gains: number[] = [];
    for (const { pcm } of recordings('speech')) {
      const first = pcm.findIndex((sample) => Math.abs(sample) > loud);
      const sound = pcm.slice(Math.max(0, first), first + 16_000);
      for (const offset of [40, 200]) {
        const without = provedAfter(sound, offset, { looks: false }) ?? Infinity;
        const looked = provedAfter(sound, offset) ?? Infinity;
        gains.push(looked === without ? 0 : without - looked);
      }
    }
    expect(Math.min(...gains)).toBe(0);
    expect(gains.filter((ms) => ms >= packetMs).length / gains.length).toBeGreaterThan(0.1);
  });
});
