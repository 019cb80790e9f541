/** Who has answered a call, by cadence and beep: the pure judge, frame by frame, and the look for tones. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hearAnswer,
  longestGreetingMs,
  longestVerdictMs,
  newAnswer,
  type AnswerEvent,
  type AnswerFrame,
} from '../../../../worker/media/answer/answer.ts';
import { ToneMeter } from '../../../../worker/media/answer/tone.ts';
import { beep, heard, line } from '../../../support/audio/answers.ts';
import { newResampler } from '../../../../shared/audio/resampler.ts';

const ms = 32;
type Stretch = readonly ['voice' | 'quiet' | 'both' | number, number];

/** Stretches of a sound and their lengths; a number is a tone. */
function frames(stretches: readonly Stretch[]): AnswerFrame[] {
  return stretches.flatMap(([what, lengthMs]) =>
    Array.from({ length: Math.round(lengthMs / ms) }, () => ({
      ms,
      isVoice: what === 'voice' || what === 'both',
      toneHz: what === 'both' ? 1_000 : typeof what === 'number' ? what : undefined,
    })),
  );
}

/** What is told, with the time of the audio. */
function told(stretches: readonly Stretch[], given: { isMachine?: boolean } = {}): string[] {
  const answer = newAnswer(given);
  let at = 0;
  return frames(stretches).flatMap((frame) => {
    at += frame.ms;
    return hearAnswer(answer, frame).map((fact) => `${fact} ${(at / 1000).toFixed(1)}`);
  });
}

describe('who has answered', () => {
  it.each<[string, Stretch[], string[]]>([
    [
      'a word and silence',
      [
        ['quiet', 600],
        ['voice', 500],
        ['quiet', 3_000],
      ],
      ['human 1.9'],
    ],
    [
      'two words with a pause',
      [
        ['voice', 400],
        ['quiet', 600],
        ['voice', 400],
        ['quiet', 2_000],
      ],
      ['human 2.2'],
    ],
    [
      'a sentence that goes on',
      [
        ['quiet', 600],
        ['voice', 4_000],
      ],
      ['machine 2.5'],
    ],
    [
      'a sentence with short pauses',
      [
        ['voice', 800],
        ['quiet', 600],
        ['voice', 800],
        ['quiet', 500],
        ['voice', 900],
      ],
      ['machine 1.9'],
    ],
    ['nothing', [['quiet', 9_000]], ['unknown 2.5']],
    [
      'a click and nothing',
      [
        ['quiet', 900],
        ['voice', 64],
        ['quiet', 9_000],
      ],
      ['unknown 2.5'],
    ],
    [
      'a line that crackles',
      Array.from({ length: 40 }, (): Stretch[] => [
        ['voice', 64],
        ['quiet', 320],
      ]).flat(),
      ['unknown 2.0'],
    ],
    [
      'a beep at once',
      [
        ['quiet', 600],
        [1_000, 400],
        ['quiet', 2_000],
      ],
      ['machine 1.2', 'beep 1.2'],
    ],
    [
      'a beep that VAD takes for a voice',
      [
        ['quiet', 600],
        ['both', 500],
        ['quiet', 2_000],
      ],
      ['machine 1.3', 'beep 1.3'],
    ],
    [
      'a greeting, a beep and silence',
      [
        ['voice', 4_000],
        ['quiet', 900],
        [850, 300],
        ['quiet', 2_000],
      ],
      ['machine 1.9', 'beep 5.3'],
    ],
    [
      'a greeting with tones within, which rise',
      [
        ['voice', 4_000],
        [950, 320],
        [1_400, 320],
        ['voice', 2_000],
      ],
      ['machine 1.9'],
    ],
    [
      'a greeting and a click',
      [
        ['voice', 4_000],
        [850, 64],
        ['quiet', 2_000],
      ],
      ['machine 1.9'],
    ],
    [
      'a greeting and no beep',
      [
        ['voice', 4_000],
        ['quiet', 9_000],
      ],
      ['machine 1.9', 'silence 8.0'],
    ],
    [
      'a fax',
      [
        ['quiet', 600],
        [2_100, 2_600],
        ['quiet', 1_000],
      ],
      ['machine 1.1', 'deaf 1.1'],
    ],
    ['music without an end', [['voice', 90_000]], ['machine 1.9', 'deaf 60.0']],
  ])('is told by %s', (_, stretches, expected) => {
    expect(told(stretches)).toEqual(expected);
  });

  it('is known to be a machine by whoever heard it before: its beep alone is waited for', () => {
    expect(
      told(
        [
          ['voice', 300],
          ['quiet', 2_000],
          [1_000, 400],
          ['quiet', 500],
        ],
        { isMachine: true },
      ),
    ).toEqual(['beep 2.9']);
  });

  it('is told once and within bounds, whatever is heard', () => {
    const stretch = fc.tuple(
      fc.oneof(
        fc.constant('voice' as const),
        fc.constant('quiet' as const),
        fc.integer({ min: 400, max: 2_600 }),
      ),
      fc.integer({ min: 32, max: 3_000 }),
    );
    fc.assert(
      fc.property(fc.array(stretch, { maxLength: 30 }), (heardBefore) => {
        const answer = newAnswer();
        const facts: AnswerEvent[] = [];
        let verdictMs = 0;
        let at = 0;
        for (const frame of [...frames(heardBefore), ...frames([['voice', longestGreetingMs + 100]])]) {
          at += frame.ms;
          facts.push(...hearAnswer(answer, frame));
          if (facts.length > 0 && verdictMs === 0) verdictMs = at;
        }
        const [verdict, after, ...more] = facts;
        expect(['human', 'machine', 'unknown']).toContain(verdict);
        expect(verdictMs).toBeLessThanOrEqual(longestVerdictMs + ms);
        expect(more).toEqual([]);
        if (verdict === 'machine') expect(['beep', 'silence', 'deaf']).toContain(after);
        else expect(after).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a tone', () => {
  const tones = (pcm: Int16Array, noiseDb?: number): (number | undefined)[] => {
    const narrow = heard(line(pcm, noiseDb === undefined ? {} : { noiseDb }));
    const wide = newResampler({ from: 8_000, to: 16_000 }).process(narrow);
    const meter = new ToneMeter(16_000);
    const found: (number | undefined)[] = [];
    for (let at = 512; at + 512 <= wide.length; at += 512)
      found.push(meter.measure(wide.subarray(at, at + 512)));
    return found;
  };
  const sum = (one: Int16Array, other: Int16Array): Int16Array =>
    one.map((sample, i) => sample + (other[i] ?? 0));

  it.each([400, 440, 850, 1_000, 1_377, 2_000, 2_600])(
    'of %i Hz is found, over a line with noise as well',
    (hz) => {
      for (const noiseDb of [undefined, 30])
        for (const found of tones(beep(hz, 400), noiseDb))
          expect(Math.abs((found ?? 0) - hz)).toBeLessThan(8);
    },
  );

  it('is none where there are two, as of keys, or beyond the frequencies of beeps, or too soft', () => {
    const none = (pcm: Int16Array): void => expect(new Set(tones(pcm))).toEqual(new Set([undefined]));
    none(sum(beep(770, 400), beep(1_336, 400)));
    none(beep(300, 400));
    none(beep(3_000, 400));
    none(beep(1_000, 400, -50));
    none(new Int16Array(6_400));
  });
});
