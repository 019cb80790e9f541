/** The VAD thread and noise: a voice has to be heard with the noise and without it, and nothing that goes wrong there costs a call anything. */
import { beforeAll, describe, expect, it } from 'vitest';
import { noiseModelPath, sileroPath } from '../../../inference/models.ts';
import { NoiseModel } from '../../../inference/noise/suppressor.ts';
import { Silero } from '../../../inference/silero/silero.ts';
import { VadThread, type NoiseOptions } from '../../../inference/vad-thread.ts';
import { newPrng } from '../../../shared/base/prng.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import type { NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { MeasuredSound, SoundMeter } from '../../../worker/media/vad/frame-sound.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { noRecordings, recordings } from '../../support/audio/recordings.ts';

let model: Silero;

beforeAll(() => {
  model = Silero.open(sileroPath(undefined));
});

const shipped = (): NoiseModel => NoiseModel.open(noiseModelPath());

interface Heard {
  readonly probabilities: readonly number[];
  readonly cleaned: number;
  readonly noisy: number;
  readonly failures: readonly string[];
}

/** What VAD says of each frame of calls that go on at once. */
function hear(
  calls: readonly { readonly pcm: Int16Array; readonly noise: NoiseMode }[],
  open: NoiseOptions['open'] = shipped,
): Heard & { readonly all: readonly (readonly number[])[] } {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: calls.length, ringFrames: 16, threads: 1 });
  boxes.setSlotsInUse(0, calls.length);
  const failures: string[] = [];
  const noise: NoiseOptions = { open, failed: (error) => failures.push(String(error)) };
  const thread = new VadThread({ thread: 0, boxes, model, wake: () => undefined, noise });
  const all = calls.map((): number[] => []);
  const meters = calls.map(() => new SoundMeter());
  for (const [slot, call] of calls.entries()) boxes.mailbox(slot).begin(call.noise);
  const frames = Math.floor(Math.min(...calls.map(({ pcm }) => pcm.length)) / vadFrameSamples);
  for (let at = 0; at < frames; at += 1) {
    for (const [slot, { pcm }] of calls.entries()) {
      const box = boxes.mailbox(slot);
      const frame = pcm.subarray(at * vadFrameSamples, (at + 1) * vadFrameSamples);
      const sound = new MeasuredSound();
      meters[slot]?.measure(frame, sound);
      box.frameToWrite().set(frame);
      box.publish(sound);
    }
    thread.judgeWaiting();
    for (const slot of calls.keys()) all[slot]?.push(boxes.mailbox(slot).result(at));
  }
  const { cleaned, noisy } = boxes.threadStatus(0);
  return { all, probabilities: all[0] ?? [], cleaned, noisy, failures };
}

/** Two seconds of a hiss, and what comes with it. */
function inHiss(voice: Int16Array, peak: number): Int16Array {
  const prng = newPrng(7);
  const hiss = Int16Array.from({ length: 32_000 + voice.length }, () => prng.below(2 * peak + 1) - peak);
  return hiss.map((sample, at) => Math.max(-32_768, Math.min(32_767, sample + (voice[at - 32_000] ?? 0))));
}

const frameCount = (pcm: Int16Array): number => Math.floor(pcm.length / vadFrameSamples);
const silence = new Int16Array(16_000);

describe('without recordings', () => {
  const pcm = inHiss(silence, 900);

  it('leaves a call alone whose agent does not want its noise out', () => {
    const opened: string[] = [];
    const open = (): NoiseModel => {
      opened.push('once');
      return shipped();
    };
    const { cleaned, noisy } = hear(
      [
        { pcm, noise: 'off' },
        { pcm, noise: 'auto' },
      ],
      open,
    );
    expect([cleaned, noisy, opened.length]).toEqual([0, 0, 0]);
  });

  it('takes the noise out of every frame where that is on', () => {
    const { cleaned, noisy } = hear([{ pcm, noise: 'on' }]);
    expect([cleaned, noisy]).toEqual([frameCount(pcm), 0]);
  });

  it('hears a call as it is where there is no model, and says so once', () => {
    const open = (): NoiseModel => NoiseModel.open('/nowhere/rnnoise.wasm');
    const raw = hear([{ pcm, noise: 'off' }]);
    const heard = hear([{ pcm, noise: 'on' }], open);
    expect(heard.probabilities).toEqual(raw.probabilities);
    expect([heard.cleaned, heard.noisy]).toEqual([0, frameCount(pcm)]);
    expect(heard.failures).toHaveLength(1);
  });

  it('hears a call as it is when the model has no memory left for it', () => {
    const exhausted = NoiseModel.open(noiseModelPath(), 1);
    expect(() => {
      for (let calls = 0; calls < 10_000; calls += 1) exhausted.begin();
    }).toThrow(/memory/);
    const raw = hear([{ pcm, noise: 'off' }]);
    const heard = hear([{ pcm, noise: 'on' }], () => exhausted);
    expect(heard.probabilities).toEqual(raw.probabilities);
    expect([heard.cleaned, heard.noisy]).toEqual([0, frameCount(pcm)]);
    expect(heard.failures).toEqual([expect.stringContaining('memory')]);
  });
});

describe.skipIf(noRecordings !== undefined)('with recorded callers', () => {
  const voice = (): Int16Array =>
    recordings('speech')
      .find(({ name }) => name.includes('jfk'))
      ?.pcm.subarray(0, 128_000) ?? silence;

  it('never makes a voice out of noise: VAD is at most as sure as it was', () => {
    const pcm = inHiss(voice(), 3_000);
    const [raw, on] = [hear([{ pcm, noise: 'off' }]), hear([{ pcm, noise: 'on' }])];
    const surer = on.probabilities.filter((one, at) => one > (raw.probabilities[at] ?? 0) + 1e-6);
    expect(surer).toEqual([]);
    // What it doubted with the noise, it may rule out without.
    expect(on.probabilities.some((one, at) => one < (raw.probabilities[at] ?? 0) - 0.1)).toBe(true);
    expect(on.probabilities.filter((one) => one >= 0.5).length).toBeGreaterThan(60);
  });

  it('neither runs nor loads the model for any caller in a quiet room, where that is left to it', () => {
    let loaded = 0;
    const open = (): NoiseModel => {
      loaded += 1;
      return shipped();
    };
    const callers = recordings('speech').map(({ pcm }) => ({ pcm: inHiss(pcm, 20), noise: 'auto' }) as const);
    expect(callers.length).toBeGreaterThan(20);
    const runs = callers.map((caller) => hear([caller], open));
    expect(runs.map(({ cleaned, noisy }) => cleaned + noisy)).toEqual(callers.map(() => 0));
    expect(loaded).toBe(0);
  });

  it('takes the noise out of a noisy call by itself, and leaves a clean one alone', () => {
    const [clean, loud] = [hear([{ pcm: inHiss(voice(), 20), noise: 'auto' }]), inHiss(voice(), 5_000)];
    expect(clean.cleaned).toBe(0);
    const noisy = hear([{ pcm: loud, noise: 'auto' }]);
    expect(noisy.cleaned).toBeGreaterThan(60);
    expect(noisy.noisy).toBe(0);
  });

  it('keeps calls of one look apart', () => {
    const [one, other] = [inHiss(voice(), 2_000), inHiss(voice().subarray(32_000), 4_000)];
    const alone = hear([{ pcm: one, noise: 'on' }]);
    const together = hear([
      { pcm: one, noise: 'on' },
      { pcm: other, noise: 'on' },
      { pcm: other, noise: 'off' },
    ]);
    const count = together.probabilities.length;
    expect(together.probabilities).toEqual(alone.probabilities.slice(0, count));
  });
});
