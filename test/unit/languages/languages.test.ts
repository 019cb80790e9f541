/** What holds of every language's lists, and which words a call has. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Language } from '../../../shared/languages/language.ts';
import { languageOf, languages, spokenLanguages } from '../../../shared/languages/languages.ts';
import { answeredWords, spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { listeningOf, withoutListening } from '../../../worker/core/turn/backchannels.ts';
import { hesitationAt } from '../../../worker/core/turn/phrases.ts';
import { dialogues } from './dialogues.ts';

/** Every list of words of a language, by its name. */
function listsOf(language: Language): (readonly [string, readonly string[]])[] {
  const {
    numbers,
    sentences,
    answers: { undoing, ...answers },
    ...own
  } = language;
  return [own, numbers, sentences, answers, ...undoing].flatMap((part) =>
    Object.entries(part).filter((entry): entry is [string, readonly string[]] => Array.isArray(entry[1])),
  );
}

/** Lists that a language may have no words for. */
const mayBeEmpty = [
  'pairs',
  'inverting',
  'digits',
  'triple',
  'beforeOrdinal',
  'afterOrdinal',
  'lastAbbreviations',
];

describe.each(languages.map((language) => [language.name, language] as const))('%s', (name, language) => {
  it.each(listsOf(language))('has in %s words as they are compared, each of them once', (list, words) => {
    if (!mayBeEmpty.includes(list)) expect(words.length).toBeGreaterThan(0);
    expect(new Set(words).size, words.filter((word, at) => words.indexOf(word) < at).join()).toBe(
      words.length,
    );
    if (list === 'afterOrdinal') return;
    for (const word of words) {
      expect(word.trim()).not.toBe('');
      expect(word).toBe(word.normalize('NFC').toLocaleLowerCase(language.code));
      expect(spokenWords(word.replaceAll('/', ' ')).length, word).toBeGreaterThan(0);
    }
  });

  it('has numbers up to thirty', () => expect(language.numbers.values).toHaveLength(31));

  it('takes no word for two things that exclude one another', () => {
    const { hesitations, doubtful, urgent, backchannels, answers } = language;
    const shared = (some: readonly string[], others: readonly string[]): string[] =>
      some.filter((word) => others.includes(word));
    expect(shared(hesitations, doubtful)).toEqual([]);
    expect(shared(urgent, backchannels)).toEqual([]);
    expect(shared(hesitations, answers.yes)).toEqual([]);
    expect(shared(answers.yes, answers.no)).toEqual([]);
    expect(shared(answers.yes, answers.hedges)).toEqual([]);
    expect(shared(answers.firmYes, answers.yes)).toEqual(answers.firmYes);
    expect(shared(answers.no, answers.accepts)).toEqual([]);
  });

  it('compares answers by words that an answer can hold', () => {
    const { light, tellers, openers, hedges, details } = language.answers;
    for (const word of [light, tellers, openers, hedges, details].flat())
      expect(answeredWords(word, language.code)).toHaveLength(1);
  });

  it('says all its lines', () => {
    const { announcement: _, fillers, ...lines } = language.lines;
    for (const line of [...fillers, ...Object.values(lines)]) expect(line.trim()).toBe(line);
    expect(fillers.length).toBeGreaterThanOrEqual(4);
    expect(lines.keysNote).toContain('{digits}');
  });

  it('stands in the tests and in the documentation', () => {
    expect(dialogues[language.code]).toBeDefined();
    const page = readFileSync(new URL('../../../docs/languages.md', import.meta.url), 'utf8');
    const learned = language.isLearned ? 'learned' : '';
    const row = new RegExp(`^\\| ${name}[^|]*\\| \`${language.code}\` \\| ${learned}`, 'mu');
    expect(page).toMatch(row);
  });
});

describe('the languages of a call', () => {
  it('are those of its tags, the most likely first', () => {
    expect(spokenLanguages(['de-AT'])).toEqual(['de']);
    expect(spokenLanguages(['tr-TR', 'en', 'tr'])).toEqual(['tr', 'en']);
    expect(languageOf('PT-br')?.code).toBe('pt');
    expect(languageOf('')).toBeUndefined();
  });

  it('are all that are known where one is not, or where callers may change it', () => {
    const all = languages.map(({ code }) => code);
    expect(spokenLanguages(['ja'])).toEqual(all);
    expect(spokenLanguages(['it', 'multi'])).toEqual(['it', ...all.filter((code) => code !== 'it')]);
  });

  it('have their words made ready once', () => {
    const list = ['mm-hmm'];
    expect(vocabularyOf(['en', 'de'])).toBe(vocabularyOf(['en', 'de']));
    expect(vocabularyOf(['de', 'en'])).not.toBe(vocabularyOf(['en', 'de']));
    const [one, other] = [vocabularyOf(['en']), vocabularyOf(['de'])];
    expect(listeningOf(list, one)).toBe(listeningOf(list, one));
    expect(listeningOf(list, one)).not.toBe(listeningOf(list, other));
    expect(listeningOf([...list], one)).not.toBe(listeningOf(list, one));
  });

  it('do not borrow words: no German question word is one in English', () => {
    expect(vocabularyOf(['en']).urgent.has('was')).toBe(false);
    expect(vocabularyOf(['de']).urgent.has('was')).toBe(true);
    const { listening } = listeningOf(['was that so'], vocabularyOf(['en']));
    expect(withoutListening(['was'], listening, { unfinished: true })).toEqual([]);
  });
});

describe('where callers may change the language', () => {
  const all = vocabularyOf(spokenLanguages(['en', 'multi']));
  const own = (code: string, text: string): ReturnType<typeof hesitationAt> =>
    hesitationAt(text, vocabularyOf([code]));

  it.each(Object.entries(dialogues))(
    'the words of a turn tell the language of its end (%s)',
    (code, { begun, whole }) => {
      // A single word may be one of several languages.
      for (const text of begun.filter((words) => words.includes(' ')))
        expect([text, hesitationAt(text, all)]).toEqual([text, own(code, text)]);
      for (const text of whole) expect([text, hesitationAt(text, all)]).toEqual([text, undefined]);
    },
  );

  it('words of a language that is not known are no hesitation because they look like one', () => {
    for (const text of ['jag vill boka ett bord till', 'szeretnék asztalt foglalni ma', 'sizga rahmat men'])
      expect([text, hesitationAt(text, all)]).toEqual([text, undefined]);
  });
});
