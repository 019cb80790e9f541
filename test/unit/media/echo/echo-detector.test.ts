/** Whose voice it is: that of the agent through loudspeakers, rooms and lines, a caller's, or both at once. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../../shared/base/prng.ts';
import { EchoDetector } from '../../../../worker/media/echo/detector.ts';
import { SoundLevels } from '../../../../worker/media/echo/levels.ts';
import { PlayedAudio } from '../../../../worker/media/echo/played.ts';
import { readFlat } from '../../../../worker/media/echo/samples.ts';
import { echoOf, level, mixed, type EchoPath } from '../../../support/audio/echo-path.ts';
import { madeVoice } from '../../../support/audio/made-voice.ts';
import { earOn } from '../../../support/audio/microphone-ear.ts';
import { noRecordings, recordings } from '../../../support/audio/recordings.ts';
import { everyNth } from '../../../support/sampled.ts';

const rate = 16_000;
const vadFrame = 512;
const sentFrame = 320;
/** A frame with less is a pause between two words, in which VAD hears no voice. */
const loud = 100;
/** Looks at a voice before anything is known of the call. */
const firstLooks = 4;

const bot = madeVoice({ seed: 7, pitchHz: 190, ms: 3_500 });
const callers = Array.from({ length: 12 }, (_, at) =>
  madeVoice({ seed: 100 + at, pitchHz: 90 + 15 * at, ms: 400 + 90 * (at % 8) }),
);

interface Look {
  readonly atMs: number;
  readonly isEcho: boolean;
  /** The echo is well known by now. */
  readonly isClear: boolean;
}

/** Plays `said` in real time and asks at every frame of `microphone` that is loud; with `asksFirst` as before VAD judges it, too. */
function looks(
  microphone: Int16Array,
  said: Int16Array,
  { playedRate = rate, asksFirst = false }: { playedRate?: number; asksFirst?: boolean } = {},
): Look[] {
  const played = new PlayedAudio(playedRate);
  let heard = 0;
  const levels = new SoundLevels(rate);
  const ear = earOn(microphone, rate, () => heard);
  const echo = new EchoDetector({ played, heard: { ...ear, levels } });
  const found: Look[] = [];
  let sent = 0;
  while (heard + vadFrame <= microphone.length) {
    levels.add(microphone.subarray(heard, heard + vadFrame));
    heard += vadFrame;
    const nowMs = (heard * 1000) / rate;
    for (; sent + sentFrame <= Math.min(said.length, heard); sent += sentFrame) {
      const frame = said.subarray(sent, sent + sentFrame);
      // Only silence is repeated or left out by this.
      const step = rate / playedRate;
      played.add(
        playedRate === rate
          ? frame
          : Int16Array.from({ length: sentFrame / step }, (_, i) => frame[Math.floor(i * step)] ?? 0),
        (sent * 1000) / rate,
      );
    }
    if (level(microphone.subarray(heard - vadFrame, heard)) >= loud)
      found.push({
        atMs: nowMs,
        isEcho: (asksFirst && echo.isKnownEcho(nowMs)) || echo.isEcho(nowMs),
        isClear: echo.isClear,
      });
  }
  return found;
}

const share = (found: readonly Look[]): number =>
  found.filter(({ isEcho }) => isEcho).length / Math.max(1, found.length);

const paths: readonly (readonly [string, EchoPath, number])[] = [
  ['loud and at once', { db: -6, delayMs: 20 }, 0.95],
  ['150 ms late', { db: -12, delayMs: 150 }, 0.95],
  ['soft and 400 ms late', { db: -20, delayMs: 400 }, 0.95],
  ['very soft and 800 ms late', { db: -28, delayMs: 800 }, 0.9],
  ['dull', { db: -14, delayMs: 210, lowPassHz: 2_000 }, 0.95],
  ['from a telephone', { db: -12, delayMs: 310, telephone: true }, 0.95],
  ['from a telephone that loses packets', { db: -12, delayMs: 310, telephone: true, loss: 0.02 }, 0.8],
  ['in a small room', { db: -12, delayMs: 150, roomMs: 100 }, 0.9],
  ['in a living room', { db: -12, delayMs: 150, roomMs: 200 }, 0.75],
  ['in a hall', { db: -12, delayMs: 150, roomMs: 400, reverberantDb: 0 }, 0.9],
  ['in a hall, far from the loudspeaker', { db: -12, delayMs: 150, roomMs: 400, reverberantDb: 6 }, 0.95],
  ['in a church', { db: -12, delayMs: 150, roomMs: 1_000, reverberantDb: 8 }, 0.82],
  ['from a loudspeaker at its limits', { db: -10, delayMs: 150, clipAt: 2 }, 0.95],
  ['over a clock that drifts, with noise', { db: -15, delayMs: 250, driftPpm: 100, noiseDb: 20 }, 0.9],
  [
    'all at once',
    { db: -14, delayMs: 280, roomMs: 100, telephone: true, loss: 0.02, driftPpm: 100, noiseDb: 20 },
    0.7,
  ],
];

describe("the bot's own voice", () => {
  it.each(paths)('is known when it comes back %s', (_name, path, least) => {
    const found = looks(echoOf(bot, path), bot);
    expect(found.length).toBeGreaterThan(25);
    expect(share(found.slice(firstLooks))).toBeGreaterThanOrEqual(least);
  });

  it.each([
    { db: -12, delayMs: 150, roomMs: 600, reverberantDb: 10 },
    { db: -12, delayMs: 150, roomMs: 800, reverberantDb: 10 },
    { db: -12, delayMs: 400, roomMs: 800, reverberantDb: 5, telephone: true },
  ])('is known in the first second of a call from a hall: %o', (path) => {
    const found = [11, 12, 13, 14].flatMap((seed) => {
      const said = madeVoice({ seed, pitchHz: 80 + 10 * seed, ms: 1_400 });
      return looks(echoOf(said, path, seed), said).slice(firstLooks);
    });
    expect(share(found)).toBeGreaterThan(0.85);
  });

  it.each([8_000])('is known in calls of %i Hz', (playedRate) => {
    const found = looks(echoOf(bot, { db: -12, delayMs: 150, telephone: true }), bot, { playedRate });
    expect(share(found.slice(firstLooks))).toBeGreaterThan(0.9);
  });

  it('is known at the first look once its delay is, also after a pause', () => {
    const pause = new Int16Array(1.6 * rate);
    const twice = Int16Array.from([...bot, ...pause, ...bot]);
    const found = looks(echoOf(twice, { db: -12, delayMs: 150 }), twice);
    const again = found.filter(({ atMs }) => atMs > ((bot.length + pause.length) * 1000) / rate);
    // What has been heard of it must be longer than the path that is allowed for.
    expect(again.slice(0, 4).some(({ isEcho }) => isEcho)).toBe(true);
    expect(share(again)).toBeGreaterThan(0.95);
  });

  it('is found anew when its way gets longer', () => {
    const near = echoOf(bot, { db: -12, delayMs: 100 });
    const far = echoOf(Int16Array.from([...bot, ...bot]), { db: -12, delayMs: 420 }).subarray(bot.length);
    const found = looks(Int16Array.from([...near, ...far]), Int16Array.from([...bot, ...bot]));
    const later = found.filter(({ atMs }) => atMs > (bot.length * 1000) / rate + 700);
    expect(share(later)).toBeGreaterThan(0.9);
  });

  it('is known when the client runs dry and goes on later', () => {
    const [first, second, third] = [0.8, 1.6, 2.4].map((seconds) => seconds * rate);
    const dry = (ms: number): Int16Array => new Int16Array((ms * rate) / 1000);
    const late = Int16Array.from([
      ...bot.subarray(0, first),
      ...dry(60),
      ...bot.subarray(first, second),
      ...dry(120),
      ...bot.subarray(second, third),
      ...dry(40),
      ...bot.subarray(third),
    ]);
    const found = looks(echoOf(late, { db: -12, delayMs: 150 }), bot);
    expect(share(found.slice(firstLooks))).toBeGreaterThan(0.92);
    // Never for as long as a voice that interrupts.
    const misses = found.slice(firstLooks).map(({ isEcho }) => (isEcho ? ' ' : 'x'));
    expect(misses.join('')).not.toContain('xxxxx');
  });

  it('is well known after some looks at a plain path, and never in a hall', () => {
    const plain = looks(echoOf(bot, { db: -12, delayMs: 150 }), bot).map(({ isClear }) => isClear);
    expect(plain[0]).toBe(false);
    expect(plain.indexOf(true)).toBeGreaterThan(8);
    expect(plain.slice(20)).not.toContain(false);
    const hall = looks(echoOf(bot, { db: -12, delayMs: 150, roomMs: 600, reverberantDb: 5 }), bot);
    expect(hall.map(({ isClear }) => isClear)).not.toContain(true);
  });

  it('is known again soon after a noise over it, and hides no caller in its place', () => {
    const [fromMs, ms] = [1_500, 300];
    const untilMs = fromMs + ms;
    const prng = newPrng(11);
    const noise = Int16Array.from({ length: (ms * rate) / 1000 }, () => prng.below(8_000) - 4_000);
    const echo = echoOf(bot, { db: -12, delayMs: 150 });
    const found = looks(mixed(echo, noise, (fromMs * rate) / 1000), bot, { asksFirst: true });
    const during = found.filter(({ atMs }) => atMs > fromMs + 64 && atMs <= untilMs);
    expect(during.length).toBeGreaterThan(5);
    expect(share(during)).toBe(0);
    const soon = found.filter(({ atMs }) => atMs > untilMs + 160 && atMs <= untilMs + 256);
    expect(soon.length).toBeGreaterThan(1);
    expect(share(soon)).toBe(1);
    for (const caller of callers) {
      const over = looks(mixed(echo, caller, (fromMs * rate) / 1000), bot, { asksFirst: true });
      const own = mixed(new Int16Array(echo.length), caller, (fromMs * rate) / 1000);
      const speaking = over.filter(
        ({ atMs }) => flatLevel(own, 16 * atMs, 128) > flatLevel(echo, 16 * atMs, 128),
      );
      expect(share(speaking)).toBe(0);
    }
  });

  it('is known before VAD judges it as soon as its delay is, and not in what follows', () => {
    const andSilence = Int16Array.from([...bot, ...new Int16Array(2 * rate)]);
    const played = new PlayedAudio(rate);
    const levels = new SoundLevels(rate);
    const microphone = mixed(echoOf(andSilence, { db: -12, delayMs: 150 }), callers[3]!, 4.2 * rate);
    let heard = 0;
    const ear = earOn(microphone, rate, () => heard);
    const echo = new EchoDetector({ played, heard: { ...ear, levels } });
    const answers: { readonly atMs: number; readonly isKnown: boolean }[] = [];
    let isFound = false;
    while (heard + sentFrame <= microphone.length) {
      const frame = microphone.subarray(heard, heard + sentFrame);
      if (heard < bot.length) played.add(bot.subarray(heard, heard + sentFrame), heard / 16);
      levels.add(frame);
      heard += sentFrame;
      if (level(frame) < loud) continue;
      const isKnown = echo.isKnownEcho(heard / 16);
      if (!isFound) expect(isKnown).toBe(false);
      answers.push({ atMs: heard / 16, isKnown });
      if (heard < bot.length) isFound = echo.isEcho(heard / 16) || isFound;
    }
    const during = answers.filter(({ atMs }) => atMs > 600 && atMs < 3_500);
    expect(during.filter(({ isKnown }) => isKnown).length / during.length).toBeGreaterThan(0.9);
    const after = answers.filter(({ atMs }) => atMs > 4_000);
    expect(after.length).toBeGreaterThan(10);
    expect(after.filter(({ isKnown }) => isKnown)).toEqual([]);
  });

  it('is not looked for when nothing was sent a short time ago', () => {
    const played = new PlayedAudio(rate);
    let reads = 0;
    const echo = new EchoDetector({
      played,
      heard: { read: () => (reads += 1), readWide: () => undefined, levels: new SoundLevels(rate) },
    });
    expect(echo.isEcho(0)).toBe(false);
    played.add(bot.subarray(0, sentFrame), 1_000);
    expect(echo.isEcho(2_521)).toBe(false);
    expect(reads).toBe(0);
    echo.isEcho(2_500);
    expect(reads).toBe(1);
  });

  it('is not looked for after a long stretch of which nothing came back', () => {
    const played = new PlayedAudio(rate);
    let reads = 0;
    const echo = new EchoDetector({
      played,
      heard: { read: () => (reads += 1), readWide: () => undefined, levels: new SoundLevels(rate) },
    });
    for (let i = 0; i < 100; i += 1) played.add(bot.subarray(0, sentFrame), i * 20);
    echo.isEcho(2_160);
    expect(reads).toBe(0);
    echo.isEcho(2_159);
    expect(reads).toBe(1);
  });

  it('is known after the end of a long stretch of which something came back', () => {
    const andSilence = Int16Array.from([...bot, ...new Int16Array(rate)]);
    const found = looks(echoOf(andSilence, { db: -12, delayMs: 900 }), bot);
    const tail = found.filter(({ atMs }) => atMs > (bot.length * 1000) / rate + 200);
    expect(tail.length).toBeGreaterThan(8);
    expect(share(tail)).toBeGreaterThan(0.9);
  });
});

const silence = (length: number): Int16Array => echoOf(new Int16Array(length), { db: 0, delayMs: 0 });

/** How loud the quarter of a second before a sample is in the band that a look compares. */
function flatLevel(pcm: Int16Array, end: number, ms = 256): number {
  const into = new Float32Array(4 * ms);
  readFlat({ ring: pcm, rate, count: end }, Math.floor(end / 4), into);
  return level(into);
}

describe("a caller's voice", () => {
  it('is never taken for an echo, over the bot or right after it', () => {
    for (const [at, caller] of callers.entries()) {
      const begins = [1, 1.7, 2.6, bot.length / rate + 0.2][at % 4]! * rate;
      const found = looks(mixed(silence(bot.length + 2 * rate), caller, begins), bot);
      expect(found.length).toBeGreaterThan(6);
      expect(found.filter(({ isEcho }) => isEcho)).toEqual([]);
    }
  });

  it.skipIf(noRecordings !== undefined)('nor in recordings of many people', () => {
    for (const { name, pcm } of recordings('speech')) {
      const caller = pcm.subarray(0, 4 * rate);
      const found = looks(mixed(silence(bot.length + rate), caller, rate), bot);
      expect([name, found.filter(({ isEcho }) => isEcho)]).toEqual([name, []]);
    }
  });

  it('is not looked at under a bot that the microphone does not bring back', () => {
    let reads = 0;
    const played = new PlayedAudio(rate);
    const counted = {
      within: (ms: number, now: number) => played.within(ms, now),
      placeOf: (now: number) => played.placeOf(now),
      read: () => {
        reads += 1;
      },
      readWide: () => {
        reads += 1;
      },
      levels: played.levels,
      stretchMs: 0,
    };
    const microphone = mixed(silence(bot.length), callers[0]!, 2 * rate);
    const levels = new SoundLevels(rate);
    const end = 2.2 * rate;
    levels.add(microphone.subarray(0, end));
    const ear = earOn(microphone, rate, () => end);
    for (let at = 0; at < end; at += sentFrame) played.add(bot.subarray(at, at + sentFrame), at / 16);
    expect(new EchoDetector({ played: counted, heard: { ...ear, levels } }).isEcho(2_200)).toBe(false);
    expect(reads).toBe(0);
  });

  it.each([false, true])(
    'counts as the caller when it is hardly as loud as a plain echo (asked first: %s)',
    (asksFirst) => {
      const begins = 1.5 * rate;
      let counted = 0;
      const echo = echoOf(bot, { db: 1, delayMs: 150 });
      for (const caller of everyNth(callers, 2, asksFirst ? 1 : 0)) {
        const own = mixed(silence(bot.length), caller, begins);
        const found = looks(mixed(echo, caller, begins), bot, { asksFirst });
        const during = found.filter(({ atMs }) => {
          const end = (atMs * rate) / 1000;
          const ratio = flatLevel(own, end) / flatLevel(echo, end);
          // Where the caller has just fallen silent, there is nothing but the echo.
          const isSpeaking = flatLevel(own, end, 128) > 0.9 * flatLevel(echo, end, 128);
          return isSpeaking && ratio > 0.9 && ratio < 1.4;
        });
        counted += during.length;
        expect(share(during)).toBe(0);
      }
      expect(counted).toBeGreaterThan(10);
    },
  );

  // In a build each caller over one of them.
  it.each([-6, -12, -20])('counts as the caller with an echo at %i dB of it, as soon as it is loud', (db) => {
    const echo = echoOf(bot, { db, delayMs: 150 });
    const begins = 1.5 * rate;
    let counted = 0;
    for (const caller of everyNth(callers, 3, db === -6 ? 0 : db === -12 ? 1 : 2)) {
      const found = looks(mixed(echo, caller, begins), bot);
      const before = found.filter(({ atMs }) => atMs < 1_500);
      expect(share(before.slice(firstLooks))).toBeGreaterThan(0.9);
      // In a pause between two of the caller's words there is nothing but the echo.
      const own = mixed(silence(bot.length), caller, begins);
      const during = found.filter(({ atMs }) => {
        const end = (atMs * rate) / 1000;
        return (
          flatLevel(own, end) > 2 * flatLevel(echo, end) &&
          flatLevel(own, end, 128) > flatLevel(echo, end, 128)
        );
      });
      counted += during.length;
      expect(share(during)).toBe(0);
    }
    expect(counted).toBeGreaterThan(20);
  });
});
