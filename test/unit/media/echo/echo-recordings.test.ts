/** Recorded callers and the demo's greeting: with an echo they are noticed, and without one they are never taken for it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../../examples/demo/flite.ts';
import { speechOf } from '../../../../scripts/measure/eval-turns/scenarios.ts';
import { newPrng } from '../../../../shared/base/prng.ts';
import { EchoDetector } from '../../../../worker/media/echo/detector.ts';
import { SoundLevels } from '../../../../worker/media/echo/levels.ts';
import { PlayedAudio } from '../../../../worker/media/echo/played.ts';
import { echoOf, level } from '../../../support/audio/echo-path.ts';
import { openEchoingCalls, type Hear } from '../../../support/audio/echoing-call.ts';
import { earOn } from '../../../support/audio/microphone-ear.ts';
import { noRecordings, recordings } from '../../../support/audio/recordings.ts';
import { everyNth } from '../../../support/sampled.ts';

const rate = 16_000;
const perMs = rate / 1000;
const vadFrame = 512;
const sentFrame = 320;
const greeting = 'Hello! You can ask me about the time, the weather, a table, or an order.';
const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };
/** A frame with less is no voice. */
const audible = 100;
const loud = 330;
const callerSamples = 1.5 * rate;

const callers = recordings('speech').map(({ name, pcm }) => ({ name, pcm: speechOf(pcm) }));
let bot: Int16Array;
let hear: Hear;

beforeAll(async () => {
  bot = (await loadFlite())(greeting, { voice: 'slt', speed: 1 });
  hear = openEchoingCalls();
});

/** Looks at every audible frame of a caller who begins `beginsMs` after the agent, into a microphone that hears nobody else. */
function echoesIn(caller: Int16Array, beginsMs: number, said = bot): number {
  const begins = beginsMs * perMs;
  const microphone = Int16Array.from(
    { length: begins + Math.min(callerSamples, caller.length) },
    (_, i) => ((i * 7) % 5) - 2 + (caller[i - begins] ?? 0),
  );
  return looksAt(microphone, said).filter(Boolean).length;
}

/** Whether each audible frame of `microphone` is the echo of `said`, from a time on. */
function looksAt(microphone: Int16Array, said: Int16Array, fromMs = 0): boolean[] {
  const played = new PlayedAudio(rate);
  const levels = new SoundLevels(rate);
  let [heard, sent] = [0, 0];
  const found: boolean[] = [];
  const ear = earOn(microphone, rate, () => heard);
  const echo = new EchoDetector({ played, heard: { ...ear, levels } });
  while (heard + vadFrame <= microphone.length) {
    const frame = microphone.subarray(heard, heard + vadFrame);
    levels.add(frame);
    heard += vadFrame;
    for (; sent + sentFrame <= Math.min(said.length, heard); sent += sentFrame)
      played.add(said.subarray(sent, sent + sentFrame), sent / perMs);
    if (heard / perMs >= fromMs && level(frame) >= audible) found.push(echo.isEcho(heard / perMs));
  }
  return found;
}

const beginnings = Array.from({ length: 16 }, (_, i) => 600 + 20 * i);

describe.skipIf(noRecordings !== undefined)('a recorded caller over a bot that does not come back', () => {
  // In a build at every second moment, other ones for the next caller.
  it.each(callers)('$name is never taken for its echo', ({ name, pcm }) => {
    const own = callers.findIndex((caller) => caller.name === name);
    const moments = everyNth(beginnings, 2, own);
    expect(moments.map((beginsMs) => echoesIn(pcm, beginsMs))).toEqual(moments.map(() => 0));
  });

  // Of 46 callers at 6 moments over 20 agents, those of whose first sounds most is explained by chance.
  it.each([
    ['digit_two_petewarden', 'libri_quilter', [401, 627]],
    ['sb_spk1_snt4', 'libri_quilter', [70, 485, 583]],
    ['sb_spk1_snt1', 'two_cities', [372, 386, 467, 523, 650]],
  ] as const)('%s is not while %s is played', (name, playedName, moments) => {
    const [caller, said] = [name, playedName].map((start) =>
      callers.find((one) => one.name.startsWith(start)),
    );
    expect(moments.map((ms) => echoesIn(caller!.pcm, ms, said!.pcm))).toEqual(moments.map(() => 0));
  });
});

describe.skipIf(noRecordings !== undefined)('a recorded bot in a hall', () => {
  // VAD may take a while to hear a voice in it: the first look comes when others have long been possible.
  it.each([
    ['austen_0880', 640],
    ['austen_0880', 800],
    ['coqui_home', 640],
    ['two_cities', 800],
  ] as const)('%s is known at the second look, the first at %i ms', (name, fromMs) => {
    const said = callers.find((one) => one.name.startsWith(name))!.pcm.slice(0, 1.5 * rate);
    const hall = echoOf(said, { db: -12, delayMs: 150, roomMs: 800, reverberantDb: 5 }, 3);
    expect(looksAt(hall, said, fromMs).slice(0, 3)).toEqual([false, true, true]);
  });
});

/** The first sample that is loud, in windows of 10 ms. */
function loudAt(pcm: Int16Array): number {
  const window = 10 * perMs;
  let at = 0;
  while (at < pcm.length && level(pcm.subarray(at, at + window)) < loud) at += window;
  return at;
}

describe.skipIf(noRecordings !== undefined)("a recorded caller into the bot's echo", () => {
  // In a build each caller over one of them.
  it.each([-12, -20])('is noticed, with the echo at %i dB', (db) => {
    const prng = newPrng(21);
    const gain = 10 ** (db / 20);
    const found: number[] = [];
    for (const { name, pcm } of everyNth(callers, 2, db === -12 ? 0 : 1)) {
      const caller = pcm.subarray(0, 2.5 * rate);
      const callerAt = 43 * sentFrame + prng.below(3 * sentFrame);
      const echo = { gain, delaySamples: 150 * perMs + prng.below(10 * perMs) };
      const { startedMs, confirmedMs } = hear({ settings, bot, echo, caller, callerAt });
      const saidMs = (callerAt + loudAt(caller)) / perMs;
      // STT hears from here on, and its words interrupt as well.
      expect([name, startedMs.length > 0]).toEqual([name, true]);
      expect([name, confirmedMs.filter((ms) => ms < saidMs)]).toEqual([name, []]);
      found.push((confirmedMs[0] ?? Infinity) - saidMs);
    }
    const sorted = found.toSorted((a, b) => a - b);
    expect(found.filter((ms) => ms === Infinity).length).toBeLessThanOrEqual(1);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(230);
    expect(sorted[Math.floor(sorted.length * 0.9)]).toBeLessThan(330);
  });
});
