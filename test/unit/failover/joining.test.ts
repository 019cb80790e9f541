/** Two voices that are joined within a phrase, in real synthesized speech, with the ends of words by the synthesizer's own account. */
import { beforeAll, describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import type { Voice } from '../../../examples/demo/voices.ts';
import { Joining } from '../../../worker/stages/failover/joining.ts';
import type { JoiningPlace, Look } from '../../../worker/stages/failover/joining.ts';
import type { AgainPlace } from '../../../worker/stages/failover/spoken-place.ts';
import { rehearseJoining } from '../../../worker/stages/failover/rehearsal.ts';
import { KeptSpeech } from '../../../worker/stages/failover/kept-speech.ts';

const sampleRate = 16_000;
const perMs = sampleRate / 1_000;

/** Where the words of the texts end, in milliseconds. */
const texts: Readonly<Record<string, Partial<Record<Voice, readonly number[]>>>> = {
  'We have a quiet table near the window for four people at seven thirty.': {
    slt: [330, 492, 540, 993, 1364, 1556, 1607, 2047, 2226, 2463, 2937, 3095, 3398, 3778],
    rms: [349, 584, 631, 1197, 1635, 1778, 1851, 2333, 2658, 2941, 3365, 3504, 3921, 4300],
    awb: [398, 569, 624, 1072, 1489, 1714, 1769, 2116, 2319, 2617, 2997, 3182, 3519, 4002],
  },
  'Your appointment has been moved to Thursday afternoon because the doctor is away on Wednesday.': {
    slt: [538, 1153, 1407, 1614, 1897, 2007, 2427, 3065, 3355, 3453, 3984, 4146, 4429, 4545, 4967],
    rms: [521, 1232, 1400, 1718, 2019, 2151, 2734, 3392, 3895, 3983, 4365, 4539, 4849, 4992, 5475],
    awb: [488, 1103, 1290, 1496, 1702, 1793, 2324, 2920, 3288, 3368, 3780, 3913, 4141, 4267, 4862],
  },
};

/** Words up to a moment, the one that is being said by its share. */
function wordsAt(ends: readonly number[], ms: number): number {
  const word = ends.findIndex((end) => ms < end);
  if (word < 0) return ends.length;
  const from = ends[word - 1] ?? 0;
  return word + (ms - from) / (ends[word]! - from);
}

function keep(pcm: Int16Array): KeptSpeech {
  const kept = new KeptSpeech(sampleRate);
  kept.push(pcm);
  return kept;
}

const whole = { chars: 0, fromMs: 0, toMs: 0, likelyMs: 0 };
const newJoining = (said: KeptSpeech, begin: AgainPlace = whole): Joining =>
  new Joining({
    context: 1,
    sampleRate,
    said,
    begin,
    guess: (heardMs) => ({ chars: 5, ms: heardMs - begin.likelyMs }),
  });

/** Does all of the work that there is. */
function lookAll(joining: Joining, heardMs: number): Look {
  for (;;) {
    const look = joining.look(heardMs);
    if (look !== 'working') return look;
  }
}

function placeIn(joining: Joining, heardMs: number): JoiningPlace {
  const look = lookAll(joining, heardMs);
  if (typeof look === 'string') throw new Error(look);
  return look;
}

const audio = (pcm: Int16Array): { type: 'audio'; context: number; pcm: Int16Array } => ({
  type: 'audio',
  context: 1,
  pcm,
});

describe('two voices', () => {
  let flite: Flite;
  beforeAll(async () => {
    flite = await loadFlite();
  });

  it.each([
    ['slt', 'rms'],
    ['rms', 'slt'],
    ['awb', 'slt'],
    ['slt', 'awb'],
  ] as const)('are joined at the same word, when %s dies and %s goes on', (first, second) => {
    const off: number[] = [];
    for (const [text, ends] of Object.entries(texts)) {
      const said = flite(text, { voice: first, speed: 1 });
      const again = flite(text, { voice: second, speed: 1 });
      for (let heardMs = 500; heardMs < 4_000; heardMs += 230) {
        const joining = newJoining(keep(said.subarray(0, (heardMs + 250) * perMs)));
        joining.add(audio(again));
        joining.add({ type: 'spoken', context: 1, chars: text.length });
        const { cutMs, skipMs } = placeIn(joining, heardMs);
        expect(cutMs).toBeGreaterThanOrEqual(heardMs);
        expect(cutMs).toBeLessThanOrEqual(heardMs + 250);
        off.push(wordsAt(ends[second]!, skipMs) - wordsAt(ends[first]!, cutMs));
      }
    }
    // Two thirds of a word missing, or heard twice.
    const wrong = off.filter((words) => Math.abs(words) > 0.65);
    expect(wrong.length / off.length, off.map((words) => words.toFixed(2)).join(' ')).toBeLessThan(0.07);
  });

  it('are joined when the second begins within the phrase, about where it is told', () => {
    const off: number[] = [];
    for (const [first, second] of [
      ['slt', 'rms'],
      ['rms', 'slt'],
      ['awb', 'slt'],
      ['slt', 'awb'],
    ] as const) {
      for (const [text, ends] of Object.entries(texts)) {
        const said = flite(text, { voice: first, speed: 1 });
        const again = flite(text, { voice: second, speed: 1 });
        for (let heardMs = 1_600; heardMs < 4_000; heardMs += 170) {
          const word = ends[first]!.findLastIndex((end) => end < heardMs - 900);
          const [beganMs, againMs] = [ends[first]![word]!, ends[second]![word]!];
          // Told 150 ms too late, and then too early.
          const likelyMs = beganMs + (heardMs % 2 === 0 ? 150 : -150);
          const begin = { chars: 0, fromMs: Math.max(0, likelyMs - 400), toMs: likelyMs + 400, likelyMs };
          const joining = newJoining(keep(said.subarray(0, (heardMs + 100) * perMs)), begin);
          let look: Look = 'listening';
          for (let at = againMs * perMs; look === 'listening'; at += 640) {
            if (at < again.length) joining.add(audio(again.subarray(at, at + 640)));
            else joining.add({ type: 'spoken', context: 1, chars: text.length });
            look = lookAll(joining, heardMs);
          }
          if (typeof look === 'string') throw new Error(look);
          off.push(wordsAt(ends[second]!, againMs + look.skipMs) - wordsAt(ends[first]!, look.cutMs));
        }
      }
    }
    const wrong = off.filter((words) => Math.abs(words) > 0.65);
    expect(wrong.length / off.length, off.map((words) => words.toFixed(2)).join(' ')).toBeLessThan(0.1);
  });

  it('are joined where both are quiet, if such a moment is near', () => {
    const text = 'Yes, of course. Could you tell me the number of people?';
    const said = flite(text, { voice: 'slt', speed: 1 });
    const joining = newJoining(keep(said.subarray(0, 2_200 * perMs)));
    joining.add(audio(flite(text, { voice: 'rms', speed: 1 })));
    const { cutMs } = placeIn(joining, 1_250);
    const around = said.subarray((cutMs - 8) * perMs, (cutMs + 8) * perMs);
    expect(around.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).toBeLessThan(500);
  });
});

describe('a voice that says a phrase again', () => {
  const tone = (ms: number): Int16Array =>
    Int16Array.from({ length: ms * perMs }, (_, at) => 6_000 * Math.sin(at / 7) + 5_000 * Math.sin(at / 3));

  it('is listened to until it is beyond the place, or at its end', () => {
    const joining = newJoining(keep(tone(1_000)));
    for (let ms = 0; ms < 1_200; ms += 100) {
      joining.add(audio(tone(100)));
      expect(lookAll(joining, 900), `${ms}`).toBe('listening');
    }
    joining.add({ type: 'word', context: 1, chars: 0, startMs: 0 });
    expect(lookAll(joining, 900)).toBe('listening');
    joining.add({ type: 'spoken', context: 1, chars: 5 });
    expect(lookAll(joining, 900)).toMatchObject({});
  });

  /** Each 200 ms another pair of tones. */
  const tones = (ms: number, from = 0): Int16Array =>
    Int16Array.from({ length: ms * perMs }, (_, at) => {
      const step = Math.floor((at + from * perMs) / (200 * perMs));
      return (
        6_000 * Math.sin(at * (0.1 + ((step * 5) % 7) / 20)) +
        5_000 * Math.sin(at * (0.5 + ((step * 3) % 8) / 12))
      );
    });
  const word = (chars: number, startMs: number) => ({ type: 'word' as const, context: 1, chars, startMs });

  it('begins with a whole word where it tells its words and one is near', () => {
    const skipMs = (words: readonly ReturnType<typeof word>[]): number => {
      const joining = newJoining(keep(tones(1_500)));
      joining.add(audio(tones(3_000)));
      for (const one of words) joining.add(one);
      joining.add({ type: 'spoken', context: 1, chars: 50 });
      return placeIn(joining, 1_300).skipMs;
    };
    const alone = skipMs([]);
    expect(Math.abs(alone - 1_300)).toBeLessThan(150);
    expect(skipMs([word(0, 0), word(9, alone + 70), word(15, alone + 110)])).toBe(alone + 70);
    expect(skipMs([word(0, 0), word(9, alone + 300)])).toBe(alone);
  });

  it('is heard from an estimated word when it sounds like something else, by its own times where it tells them', () => {
    const skipMs = (words: readonly ReturnType<typeof word>[]): number => {
      const joining = newJoining(keep(tones(1_500)));
      const prng = newPrng(3);
      joining.add(audio(Int16Array.from({ length: 3_000 * perMs }, () => 8_000 * (prng.next() - 0.5))));
      for (const one of words) joining.add(one);
      joining.add({ type: 'spoken', context: 1, chars: 50 });
      return placeIn(joining, 1_300).skipMs;
    };
    expect(skipMs([])).toBe(1_300);
    expect(skipMs([word(0, 0), word(5, 777), word(9, 1_000)])).toBe(777);
  });

  it('is heard from an estimated word when the place that was found is beyond belief', () => {
    // What the second says first is what the first said last.
    const joining = newJoining(keep(tones(2_500)));
    joining.add(audio(tones(200, 2_200)));
    joining.add(audio(new Int16Array(3_000 * perMs)));
    joining.add({ type: 'spoken', context: 1, chars: 50 });
    expect(placeIn(joining, 2_400).skipMs).toBe(2_400);
  });

  it('is heard from its start when nothing but silence was heard of the one before', () => {
    const said = keep(new Int16Array(300 * perMs));
    said.push(tone(200));
    const joining = newJoining(said);
    joining.add(audio(tone(2_000)));
    expect(lookAll(joining, 250)).toEqual({ cutMs: 250, skipMs: 0 });
  });

  it('is heard from the same place when somebody rehearses meanwhile', () => {
    const place = (between: () => void): Look => {
      const joining = newJoining(keep(tones(2_500)));
      joining.add(audio(tones(4_000)));
      for (;;) {
        between();
        const look = joining.look(2_000);
        if (look !== 'working') return look;
      }
    };
    expect(place(rehearseJoining)).toEqual(place(() => undefined));
    expect(place(rehearseJoining)).toMatchObject({ cutMs: expect.closeTo(2_200, -3) as number });
  });

  it('is heard from the place on: audio and words before it are left out, all else is told in order', () => {
    const joining = newJoining(keep(tone(100)));
    joining.add(word(0, 0));
    joining.add(audio(tone(100)));
    joining.add(word(150, 150));
    joining.add(audio(tone(100)));
    joining.add({ type: 'spoken', context: 1, chars: 9 });
    expect(joining.rest(120)).toEqual([
      word(150, 150),
      audio(tone(100).subarray(20 * perMs)),
      { type: 'spoken', context: 1, chars: 9 },
    ]);
  });
});
