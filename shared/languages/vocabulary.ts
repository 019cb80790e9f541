/**
 * The words of the languages that a call's callers may speak, made ready for comparison: sets, patterns, phrases from the longest to the
 * shortest. They are made once for each set of languages, and never look at a call.
 */
import type { AnswerWords, Language, NumberWords, SentenceWords, WaitingWords } from './language.ts';
import { languageOf } from './languages.ts';
import { answeredWords, bare, spokenWords } from './spelling.ts';

export type Phrase = readonly string[];

/** What a turn's words tell of its end, in one language. */
export interface Endings {
  /** All single words that the language's lists hold: by them it is told from others. */
  readonly known: ReadonlySet<string>;
  readonly hesitations: ReadonlySet<string>;
  readonly doubtful: ReadonlySet<string>;
  readonly begun: readonly Phrase[];
  readonly leadingEnd: RegExp | undefined;
  /** As they sound, like what follows. */
  readonly openings: readonly Phrase[];
  readonly shortQuestions: readonly Phrase[];
  /** What asks for time, and what may stand beside it. */
  readonly thinking: readonly Phrase[];
  readonly besideThinking: readonly Phrase[];
  readonly waiting: Waiting;
  readonly corrections: readonly Phrase[];
  /** Single words that refuse, as they sound. */
  readonly refusals: ReadonlySet<string>;
}

/** The words of requests for time, as they sound. */
export interface Waiting {
  readonly moments: ReadonlySet<string>;
  readonly granting: ReadonlySet<string>;
  /** These phrases may stand beside the others. */
  readonly courtesies: readonly Phrase[];
  readonly own: readonly Phrase[];
  readonly looks: ReadonlySet<string>;
  readonly takes: ReadonlySet<string>;
  readonly things: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
}

export interface Numbers {
  readonly asked: RegExp;
  readonly spelled: RegExp;
  /** Finds the number of digits that is asked for, in words or figures, as its first group. */
  readonly length: RegExp;
  /** By words without blanks and hyphens. */
  readonly values: ReadonlyMap<string, number>;
  readonly digits: ReadonlySet<string>;
  readonly tens: ReadonlySet<string>;
  readonly pairs: ReadonlySet<string>;
  readonly repeats: ReadonlyMap<string, number>;
  readonly between: ReadonlySet<string>;
  readonly mailAsked: RegExp;
  readonly joints: ReadonlySet<string>;
  readonly ats: ReadonlySet<string>;
}

export interface Sentences {
  readonly abbreviation: RegExp;
  readonly lastAbbreviation: RegExp;
  readonly opener: RegExp;
  readonly leadsOn: ReadonlySet<string>;
  readonly beforeOrdinal: RegExp;
  readonly afterOrdinal: RegExp;
}

export interface Answers {
  /** By whose rules letters become lower case. */
  readonly language: string;
  readonly firm: readonly { readonly words: readonly Phrase[]; readonly order: RegExp }[];
  readonly told: readonly RegExp[];
  readonly accepts: readonly Phrase[];
  readonly wishes: readonly Phrase[];
  readonly courtesies: readonly Phrase[];
  readonly noRefusal: readonly Phrase[];
  readonly light: ReadonlySet<string>;
  readonly tellers: ReadonlySet<string>;
  readonly openers: ReadonlySet<string>;
  /** Hedges and details. */
  readonly doubting: ReadonlySet<string>;
  readonly undoing: readonly {
    readonly tool: RegExp;
    readonly said: readonly Phrase[];
    readonly clear: readonly Phrase[];
  }[];
}

export interface Nods {
  readonly core: ReadonlySet<string>;
  /** The words of the core without their endings, where the language has some. */
  readonly stems: ReadonlySet<string>;
  readonly inflection: RegExp | undefined;
  readonly light: ReadonlySet<string>;
  readonly exclaiming: ReadonlySet<string>;
  readonly inverting: ReadonlySet<string>;
  readonly wondering: readonly Phrase[];
  readonly phrases: readonly Phrase[];
  /** From the longest to the shortest. */
  readonly shapes: readonly Shape[];
  readonly telling: RegExp;
}

/** One word each: what it is, or what it looks like where it is open. */
export type Shape = readonly (string | RegExp)[];

export interface Vocabulary {
  readonly goodbyes: readonly string[];
  /** As they sound. */
  readonly urgent: ReadonlySet<string>;
  /** One for each language, as the next. */
  readonly nods: readonly Nods[];
  readonly endings: readonly Endings[];
  /** The model of whole sentences has learned one of the languages. */
  readonly isLearned: boolean;
  readonly numbers: Numbers;
  readonly sentences: Sentences;
  readonly answers: Answers;
}

const made = new Map<string, Vocabulary>();

/** By the codes of the languages, the most likely first. */
export function vocabularyOf(codes: readonly string[]): Vocabulary {
  const name = codes.join();
  const vocabulary = made.get(name) ?? newVocabulary(codes.flatMap((code) => languageOf(code) ?? []));
  made.set(name, vocabulary);
  return vocabulary;
}

const newVocabulary = (spoken: readonly Language[]): Vocabulary => ({
  goodbyes: spoken.flatMap(({ goodbyes }) => goodbyes),
  urgent: new Set(spoken.flatMap(({ urgent }) => urgent.flatMap(spokenWords).map(bare))),
  nods: spoken.map((one) => nodsOf(one, spoken.length)),
  endings: spoken.map(endingsOf),
  isLearned: spoken.some(({ isLearned }) => isLearned),
  numbers: numbersOf(spoken.map(({ numbers }) => numbers)),
  sentences: sentencesOf(spoken.map(({ sentences }) => sentences)),
  answers: answersOf(
    spoken[0]?.code ?? '',
    spoken.map(({ answers }) => answers),
  ),
});

/** Phrases from the longest to the shortest, in any spelling that sounds the same. */
export const phrasesOf = (texts: readonly string[]): readonly Phrase[] =>
  sorted(texts.map((text) => spokenWords(text).map(bare)));

const sorted = (phrases: readonly Phrase[]): readonly Phrase[] =>
  phrases.filter(({ length }) => length > 0).sort((a, b) => b.length - a.length);

const wordSet = (words: readonly string[]): ReadonlySet<string> => new Set(words.flatMap(spokenWords));

/** A word that begins a shape in one language begins anything in another ("ne", "ale"), so none is a shape where callers may speak more languages than these. */
const mostShaped = 3;

const nodsOf = ({ nods }: Language, spoken: number): Nods => ({
  core: wordSet(nods.core),
  stems: new Set([...wordSet(nods.core)].flatMap((word) => stemOf(word, nods.inflection) ?? [])),
  inflection: nods.inflection,
  light: wordSet(nods.light),
  exclaiming: wordSet(nods.exclaiming),
  inverting: wordSet(nods.inverting),
  wondering: sorted(nods.wondering.map(spokenWords)),
  phrases: sorted(nods.phrases.map(spokenWords)),
  shapes: (spoken > mostShaped ? [] : nods.shapes).flatMap(shapesOf).sort((a, b) => b.length - a.length),
  telling: wordLike(nods.telling),
});

/** Shorter stems belong to too many words. */
const shortestStem = 4;

/** A word without the ending by which its language inflects adjectives. */
export function stemOf(word: string, inflection: RegExp | undefined): string | undefined {
  if (inflection === undefined) return undefined;
  const stem = word.replace(inflection, '');
  return stem.length >= shortestStem ? stem : undefined;
}

/** Words with a "*" for any letters. */
const wordLike = (words: readonly string[]): RegExp =>
  new RegExp(`^(?:${words.map(wordPattern).join('|')})$`, 'u');
const wordPattern = (word: string): string =>
  word
    .split('*')
    .map((part) => spokenWords(part).join(''))
    .join('.*');

/** Words that "…" stands for at most. */
const longestOpen = 3;

/** Any word: behind an exclamation a complaint exclaims as well. */
export const anyWord = /./u;

function shapesOf(text: string): Shape[] {
  const lengths = text.includes('…') ? Array.from({ length: longestOpen }, (_, at) => at + 1) : [1];
  return lengths.map((length) => {
    const words = text
      .split(' ')
      .flatMap((word) => (word === '…' ? Array.from({ length }, () => word) : word));
    return words.flatMap((word): Shape => {
      if (word === '…') return [anyWord];
      return word.includes('*') ? [wordLike([word])] : spokenWords(word);
    });
  });
}

/** "laissez-moi", which STT writes "laissez moi" as well. */
const joinedOrParted = (text: string): string[] => [...new Set([text, text.replaceAll(/['-]/g, ' ')])];

const wordsIn = (lists: readonly (readonly string[])[]): string[] => lists.flat().flatMap(spokenWords);

function endingsOf(language: Language): Endings {
  const { hesitations, doubtful, begun, openings, thinking, corrections } = language;
  const { urgent, backchannels, goodbyes, numbers, sentences } = language;
  const { tellers, light, openers, hedges, details, courtesies, yes, no } = language.answers;
  const values = numbers.values.flatMap((value) => value.split('/'));
  const ofTurns = [hesitations, doubtful, begun, openings, thinking, urgent, backchannels, goodbyes, values];
  const ofAnswers = [tellers, light, openers, hedges, details, courtesies, yes, no];
  return {
    known: new Set(wordsIn([...ofTurns, ...ofAnswers, sentences.leadsOn, sentences.openers])),
    hesitations: wordSet(hesitations),
    doubtful: wordSet(doubtful),
    begun: sorted(begun.map(spokenWords)),
    leadingEnd: language.leadingEnd,
    openings: phrasesOf(openings.flatMap(joinedOrParted)),
    shortQuestions: phrasesOf(language.shortQuestions),
    thinking: phrasesOf(thinking.flatMap(joinedOrParted)),
    besideThinking: phrasesOf([...hesitations, ...openings, ...backchannels, ...courtesies]),
    waiting: waitingOf(language.askingForTime, [
      // An article before it makes "the second" of a second.
      ...openings.filter((phrase) => !sentences.leadsOn.includes(phrase)),
      ...backchannels,
      ...courtesies,
    ]),
    corrections: phrasesOf(corrections),
    refusals: soundSet(no.filter((words) => !words.includes(' '))),
  };
}

const soundSet = (words: readonly string[]): ReadonlySet<string> =>
  new Set(words.flatMap(spokenWords).map(bare));

const waitingOf = (words: WaitingWords, courtesies: readonly string[]): Waiting => ({
  moments: soundSet(words.moments),
  granting: soundSet(words.granting),
  courtesies: phrasesOf(courtesies),
  own: phrasesOf(words.own.flatMap(joinedOrParted)),
  looks: soundSet(words.looks),
  takes: soundSet(words.takes),
  things: soundSet(words.things),
  after: soundSet(words.after),
});

const anyOf = (patterns: readonly string[], flags: string): RegExp => new RegExp(patterns.join('|'), flags);

/** How many numbers have words: the first of them are single digits. */
const singleDigits = 10;
/** Words of one number, such as "vinte e dois". */
const longestNumber = String.raw`[\p{L}\p{M}]+(?:[-\s][\p{L}\p{M}]+){0,2}?`;

function numbersOf(all: readonly NumberWords[]): Numbers {
  const spellings = all.flatMap(({ values }) =>
    values.map((value, at) => ({ at, words: value.split('/').flatMap((one) => spokenWords(one)) })),
  );
  const wordsOf = (which: (value: number) => boolean): string[] =>
    spellings.filter(({ at }) => which(at)).flatMap(({ words }) => words);
  const ones = wordsOf((value) => value < singleDigits);
  const round = wordsOf((value) => value > singleDigits && value % singleDigits === 0);
  const others = wordsOf(
    (value) => value === singleDigits || (value % singleDigits > 0 && value > singleDigits),
  );
  const counted = all.map((one) => one.counted).join('|');
  return {
    asked: anyOf(
      all.map((one) => one.asked),
      'iu',
    ),
    spelled: anyOf(
      all.map((one) => one.spelled),
      'iu',
    ),
    length: new RegExp(String.raw`(\d{1,2}|${longestNumber})[-\s]?(?:${counted})(?![\p{L}\p{M}])`, 'giu'),
    values: new Map(
      spellings.flatMap(({ at, words }) => words.map((word) => [word.replaceAll('-', ''), at] as const)),
    ),
    digits: wordSet([...ones, ...all.flatMap(({ digits }) => digits)]),
    tens: wordSet([...round, ...all.flatMap(({ tens }) => tens)]),
    pairs: new Set([...others, ...all.flatMap(({ pairs }) => pairs)].map((word) => word.replaceAll('-', ''))),
    repeats: new Map([
      ...all.flatMap(({ double }) => spokenWords(double.join(' ')).map((word) => [word, 1] as const)),
      ...all.flatMap(({ triple }) => spokenWords(triple.join(' ')).map((word) => [word, 2] as const)),
    ]),
    between: wordSet(all.flatMap(({ between }) => between)),
    mailAsked: anyOf(
      all.map((one) => one.mailAsked),
      'iu',
    ),
    joints: wordSet(all.flatMap(({ joints }) => joints)),
    ats: wordSet(all.flatMap(({ ats }) => ats)),
  };
}

/** What may stand before a word of a sentence. */
const opening = String.raw`(?:^|[\s("'“‘«])`;
/** Nothing at all where a language has no such words. */
const oneOf = (words: readonly string[]): string => (words.length === 0 ? '(?!)' : words.join('|'));
const escaped = (words: readonly string[]): string[] => words.map((word) => word.replaceAll('.', '[.]'));

function sentencesOf(all: readonly SentenceWords[]): Sentences {
  const abbreviations = oneOf(escaped(all.flatMap((one) => one.abbreviations)));
  const last = oneOf(escaped(all.flatMap((one) => one.lastAbbreviations)));
  const initials = String.raw`\p{L}|(?:\p{L}{1,2}\.-?)+\p{L}{1,2}`;
  const ofList = String.raw`(?:^|\n)[ \t]*\d{1,3}\.$`;
  const lastInitials = String.raw`\p{Lu}|(?:\p{Lu}\p{Ll}?\.)+\p{Lu}\p{Ll}?|[ap]\.m`;
  const before = oneOf(all.flatMap((one) => one.beforeOrdinal));
  const after = oneOf(all.flatMap((one) => one.afterOrdinal));
  return {
    abbreviation: new RegExp(String.raw`${opening}(?:${abbreviations}|${initials})\.$|${ofList}`, 'iu'),
    lastAbbreviation: new RegExp(String.raw`${opening}(?:${last}|${lastInitials})\.$`, 'u'),
    opener: new RegExp(`^(?:${oneOf(all.flatMap((one) => one.openers))})(?=[\\s,’'])`, 'iu'),
    leadsOn: new Set(all.flatMap((one) => one.leadsOn)),
    beforeOrdinal: new RegExp(String.raw`(?:^|\s)(?:${before})\s+\d{1,2}\.$`, 'iu'),
    afterOrdinal: new RegExp(String.raw`^(?:\p{Ll}|${after})`, 'u'),
  };
}

function answersOf(language: string, all: readonly AnswerWords[]): Answers {
  const phrases = (which: (words: AnswerWords) => readonly string[]): readonly Phrase[] =>
    all.flatMap(which).map((text) => answeredWords(text, language));
  const words = (which: (words: AnswerWords) => readonly string[]): ReadonlySet<string> =>
    new Set(phrases(which).flat());
  return {
    language,
    firm: all.map(({ firmYes, order }) => ({
      words: firmYes.map((text) => answeredWords(text, language)),
      order,
    })),
    told: all.flatMap(({ told }) => told ?? []),
    accepts: phrases(({ accepts }) => accepts),
    wishes: phrases(({ wishes }) => wishes),
    courtesies: phrases(({ courtesies }) => courtesies),
    noRefusal: phrases(({ noRefusal }) => noRefusal),
    light: words(({ light }) => light),
    tellers: words(({ tellers }) => tellers),
    openers: words(({ openers }) => openers),
    doubting: words(({ hedges, details }) => [...hedges, ...details]),
    undoing: all.flatMap(({ undoing }) =>
      undoing.map(({ tool, said, clear }) => ({
        tool,
        said: said.map((text) => answeredWords(text, language)),
        clear: clear.map((text) => answeredWords(text, language)),
      })),
    ),
  };
}
