/** Nods that are in no list, and short interruptions: how many of them are taken for what they are, in each language. */
import { describe, expect, it } from 'vitest';
import { languages } from '../../../shared/languages/languages.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { listeningOf, withoutListening } from '../../../worker/core/turn/backchannels.ts';
import { listensOn } from '../../../worker/core/turn/nods.ts';
import { overSpeech, type OverSpeech } from './nods/index.ts';
import { later } from './nods/later.ts';
import { rarer } from './nods/rarer.ts';

/** Of a hundred nods and interruptions that were kept aside, how many are told. Figures may grow and never fall. */
const told: Readonly<Record<string, { readonly nods: number; readonly interruptions: number }>> = {
  en: { nods: 95, interruptions: 100 },
  de: { nods: 97, interruptions: 100 },
  fr: { nods: 97, interruptions: 100 },
  es: { nods: 95, interruptions: 100 },
  tr: { nods: 96, interruptions: 100 },
  it: { nods: 98, interruptions: 100 },
  pt: { nods: 98, interruptions: 100 },
  nl: { nods: 95, interruptions: 100 },
  pl: { nods: 98, interruptions: 100 },
  hi: { nods: 100, interruptions: 100 },
};

/** Parts of a hundred of those that are taken for listening. */
function rateIn(
  code: string,
  some: readonly string[],
): { percent: number; missed: string[]; taken: string[] } {
  const vocabulary = vocabularyOf([code]);
  const { backchannels } = languages.find((language) => language.code === code) ?? { backchannels: [] };
  const { listening } = listeningOf(backchannels, vocabulary);
  const listens = (text: string): boolean => {
    const words = spokenWords(text);
    const evidence = { words, isQuestion: false, isAsked: false, unfinished: false, patient: false };
    return withoutListening(words, listening).length === 0 || listensOn(evidence, vocabulary, listening);
  };
  const [taken, missed] = [some.filter(listens), some.filter((text) => !listens(text))];
  return { percent: (100 * taken.length) / some.length, missed, taken };
}

const rateOf = (texts: readonly string[], { half, code }: { half: number; code: string }) =>
  rateIn(
    code,
    texts.filter((_, at) => at % 2 === half),
  );

if (process.env['SHOW_NODS'] !== undefined)
  for (const [code, { nods, interruptions }] of Object.entries(overSpeech)) {
    const [chosen, aside] = [0, 1].map((half) => [
      rateOf(nods, { half, code }),
      rateOf(interruptions, { half, code }),
    ]);
    const figures = [chosen, aside].flatMap((pair) => (pair ?? []).map(({ percent }) => percent.toFixed(0)));
    // Of the half that was kept aside nobody is to see which.
    console.log(code, ...figures, chosen?.[0]?.missed.join('|'), chosen?.[1]?.taken.join('|'));
  }

describe.each(languages.map(({ code }) => code))('in %s', (code) => {
  const { nods, interruptions } = overSpeech[code] as OverSpeech;

  it('there are about a hundred of each, and none twice', () => {
    for (const texts of [nods, interruptions]) {
      expect(texts.length).toBeGreaterThanOrEqual(90);
      expect(texts.filter((text, at) => texts.indexOf(text) < at)).toEqual([]);
    }
    expect(nods.filter((text) => interruptions.includes(text))).toEqual([]);
  });

  it('those the words were chosen on do not cut, and interruptions do', () => {
    const [listened, cut] = [rateOf(nods, { half: 0, code }), rateOf(interruptions, { half: 0, code })];
    expect([listened.missed, cut.taken]).toEqual([[], []]);
  });

  it('of those that were kept aside as many are told as ever', () => {
    const [listened, cut] = [rateOf(nods, { half: 1, code }), rateOf(interruptions, { half: 1, code })];
    // A whole number, so that the figure below is the one to write down when it has grown.
    expect(Math.floor(listened.percent)).toBeGreaterThanOrEqual(told[code]?.nods ?? 100);
    expect(100 - Math.ceil(cut.percent)).toBeGreaterThanOrEqual(told[code]?.interruptions ?? 100);
  });
});

describe.each(Object.entries(later))(
  'in %s, of those that were written down later',
  (code, { usual, rare, interruptions }) => {
    it('usual nods do not cut, four of five rare ones do not, and interruptions do', () => {
      expect(rateIn(code, usual).percent).toBeGreaterThanOrEqual(95);
      expect(rateIn(code, rare).percent).toBeGreaterThanOrEqual(80);
      expect(rateIn(code, interruptions).percent).toBeLessThanOrEqual(3);
    });
  },
);

/** Of thirty rarer nods that were kept aside, how many are told. Figures may grow and never fall. */
const rarerTold: Readonly<Record<string, number>> = {
  en: 29,
  de: 24,
  fr: 26,
  es: 30,
  tr: 27,
  it: 27,
  pt: 27,
  nl: 23,
  pl: 25,
  hi: 27,
};

describe.each(Object.entries(rarer))('in %s, of rarer ones', (code, { nods, interruptions }) => {
  it('those the shapes were chosen on do not cut, and interruptions do', () => {
    const [listened, cut] = [rateOf(nods, { half: 1, code }), rateOf(interruptions, { half: 1, code })];
    expect([listened.missed, cut.taken]).toEqual([[], []]);
  });

  it('of those that were kept aside as many are told as ever, and interruptions cut', () => {
    expect(rateOf(nods, { half: 0, code }).taken.length).toBeGreaterThanOrEqual(rarerTold[code] ?? 30);
    expect(rateOf(interruptions, { half: 0, code }).taken).toEqual([]);
  });
});

/** Those who speak are still within a nod that has only begun; `patient` where the agent stands still. */
const isBegun = (code: string, text: string, { patient }: { patient: boolean }): boolean => {
  const vocabulary = vocabularyOf([code]);
  const { listening } = listeningOf([], vocabulary);
  const words = spokenWords(text);
  return listensOn(
    { words, isQuestion: false, isAsked: false, unfinished: true, patient },
    vocabulary,
    listening,
  );
};

it('a shape that has begun is waited for while the agent stands still, and none with a number or a request', () => {
  const begun = ['what', 'what a', 'what a sha', 'wow that'];
  expect(begun.filter((text) => !isBegun('en', text, { patient: true }))).toEqual([]);
  expect(
    ['what time', 'what does', 'what a five'].filter((text) => isBegun('en', text, { patient: true })),
  ).toEqual([]);
  expect(isBegun('en', 'what a', { patient: false })).toBe(false);
});

it('a question, a measure and a complaint fill no open place of a shape', () => {
  const asking: readonly (readonly [string, string])[] = [
    ['en', 'how much|how long is it|how bad is it|that is wrong|wow two'],
    ['de', 'wie lange|wie bitte|was für ein vertrag|das ist ja falsch'],
    ['fr', "quel jour|quelle adresse|c'est important"],
    ['es', 'qué día|qué precio|es muy caro'],
    ['it', 'che ora|che giorno'],
    ['pt', 'que horas|que dia'],
    ['nl', 'wat kost|wat langzamer|dat is ook fout'],
    ['pl', 'jak długo|jaki adres|co teraz'],
    ['tr', 'ne zaman|ne istiyorsunuz|çok pahalı'],
    ['hi', 'कितना समय|ये तो गलत है'],
  ];
  for (const [code, texts] of asking) expect(rateIn(code, texts.split('|')).taken).toEqual([]);
});

it('where callers may speak any language there are no shapes: "ne" refuses in most', () => {
  const words = ['ne', 'chci'];
  const vocabulary = vocabularyOf(languages.map(({ code }) => code));
  const { listening } = listeningOf([], vocabulary);
  const evidence = { words, isQuestion: false, isAsked: false, unfinished: false, patient: false };
  expect(listensOn(evidence, vocabulary, listening)).toBe(false);
});
