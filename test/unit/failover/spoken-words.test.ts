/** Where words lie in audio without times: pauses are found and matched with punctuation, also in real synthesized speech. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../examples/demo/flite.ts';
import { SpeechPauses } from '../../../worker/stages/failover/speech-pauses.ts';
import { anchorsOf, placeWords, weightOf } from '../../../worker/stages/failover/spoken-words.ts';

const rate = 16_000;
const voiced = (ms: number): Int16Array =>
  Int16Array.from({ length: ms * 16 }, (_, at) => (at % 40 < 20 ? 4_000 : -4_000));
const silent = (ms: number): Int16Array => new Int16Array(ms * 16);

describe('pauses of a voice', () => {
  const audio = [silent(150), voiced(500), silent(60), voiced(400), silent(200), voiced(300), silent(100)];

  it('are stretches without voice that no closed mouth explains', () => {
    const pauses = new SpeechPauses(rate);
    for (const part of audio) pauses.push(part);
    expect(pauses.all).toEqual([
      { fromMs: 0, toMs: 150 },
      { fromMs: 1_110, toMs: 1_310 },
      { fromMs: 1_610, toMs: undefined },
    ]);
  });

  it('are the same however the audio is cut', () => {
    const whole = new SpeechPauses(rate);
    const cut = new SpeechPauses(rate);
    for (const part of audio) {
      whole.push(part);
      for (let at = 0; at < part.length; at += 37) cut.push(part.subarray(at, at + 37));
    }
    expect(cut.all).toEqual(whole.all);
  });
});

describe('words in audio without times', () => {
  const place = (text: string, pauses: [number, number][], deliveredMs: number) =>
    placeWords(text, 0, {
      pauses: pauses.map(([fromMs, toMs]) => ({ fromMs, toMs })),
      deliveredMs,
      msPerChar: 60,
    }).map(({ chars, fromMs }) => [text.slice(chars).split(' ')[0], Math.round(fromMs)]);

  it('are laid out between pauses, whatever the pace was thought to be', () => {
    expect(
      place(
        'One two three, four five.',
        [
          [0, 100],
          [1_240, 1_500],
        ],
        3_000,
      ),
    ).toEqual([
      ['One', 100],
      ['two', 426],
      ['three,', 751],
      ['four', 1_500],
      ['five.', 1_844],
    ]);
  });

  it('stay before the end of a sentence behind which no pause was heard', () => {
    const [, second] = place('Hello. Bye.', [], 900);
    expect(second).toEqual(['Bye.', 900]);
  });

  it('weigh more when they are read out', () => {
    expect(weightOf('12 ')).toBeGreaterThan(weightOf('to '));
    expect(weightOf('BBC ')).toBeGreaterThan(weightOf('but '));
  });

  describe('that a synthesizer has spoken', () => {
    let flite: Flite;
    beforeAll(async () => {
      flite = await loadFlite();
    });

    /** Where the words before the punctuation end, by the synthesizer's own account, in milliseconds. */
    it.each([
      [
        'I am sorry, but the kitchen closes at ten, so the last order would be at half past nine. ',
        [1_172, 3_133],
      ],
      ['Thank you for calling the clinic, my name is Anna, how can I help you today? ', [1_760, 2_886]],
      [
        'Yes, of course. Could you tell me the number of people, the date, and a telephone number? ',
        [593, 1_365, 3_258, 3_966],
      ],
      [
        'The train leaves from platform twelve, but it is running about fifteen minutes late this morning. ',
        [2_147],
      ],
    ])('have their pauses where %s pauses', (text, ends) => {
      const pcm = flite(text, { voice: 'slt', speed: 1 });
      const pauses = new SpeechPauses(rate);
      pauses.push(pcm);
      const deliveredMs = pcm.length / 16;
      const found = anchorsOf(text, 0, { pauses: pauses.all, deliveredMs, msPerChar: 62 });
      const inside = found.slice(1).filter(({ chars }) => chars < text.length);
      const marks = [...text.matchAll(/\S+[,.?]\s/g)].map(({ index, 0: word }) => index + word.length);
      for (const { chars, endMs } of inside) {
        const end = ends[marks.indexOf(chars)]!;
        expect(Math.abs(endMs - end), text.slice(0, chars)).toBeLessThan(110);
      }
      expect(inside.length).toBeGreaterThanOrEqual(Math.ceil(ends.length / 2));
    });
  });
});
