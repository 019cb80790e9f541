/**
 * What recognised words amount to: hesitation, a sentence, or the agent's own voice that came back through the caller's
 * microphone (words of listening: backchannels.ts). It compares words and knows nothing of time, turns or audio.
 */
import { isHesitation } from './backchannels.ts';
import { bare, spokenWords } from '../../../shared/languages/spelling.ts';
import type { Endings, Phrase, Vocabulary } from '../../../shared/languages/vocabulary.ts';

/** Fewer words in a row prove nothing: callers repeat single words of the agent to answer it. */
const echoRun = 2;

/**
 * The words that are left when those that repeat what the agent just said, in the same order, are taken away. When the last one is
 * `unfinished`, a single word at the end may be the beginning of a repetition, and so may the beginning of a word.
 */
export function withoutEcho(
  words: readonly string[],
  played: readonly string[],
  { unfinished = false, urgent }: { unfinished?: boolean; urgent: ReadonlySet<string> },
): string[] {
  const left: string[] = [];
  for (let at = 0; at < words.length;) {
    const run = longestRun(words, at, { played, unfinished, urgent });
    if (run < echoRun && !(unfinished && run > 0 && at + run === words.length)) {
      left.push(words[at] ?? '');
      at += 1;
    } else {
      at += run;
    }
  }
  return left;
}

function longestRun(
  words: readonly string[],
  at: number,
  {
    played,
    unfinished,
    urgent,
  }: { played: readonly string[]; unfinished: boolean; urgent: ReadonlySet<string> },
): number {
  let longest = 0;
  for (let start = 0; start < played.length; start += 1) {
    let run = 0;
    while (at + run < words.length && words[at + run] === played[start + run]) run += 1;
    const next = words[at + run];
    const isLast = unfinished && next !== undefined && at + run === words.length - 1;
    // "no" is no half of "now": a pause for the rest of it makes the caller say it twice.
    if (isLast && !(run === 0 && urgent.has(bare(next))) && played[start + run]?.startsWith(next) === true)
      run += 1;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** A language of a call in which others are spoken as well is told from a turn in which it knows at least this share of the words. */
const knownShare = 1 / 3;

/** What the words' last ones tell in the language that knows most of them; in several, where they know as many. */
export function spokenIn(words: readonly string[], { endings }: Vocabulary): readonly Endings[] {
  if (endings.length === 1) return endings;
  const known = endings.map((one) => words.filter((word) => one.known.has(word)).length);
  const most = Math.max(...known);
  return most < words.length * knownShare ? [] : endings.filter((_, at) => known[at] === most);
}

/**
 * The words end where nobody ends a sentence: in a filling sound, a conjunction, an article (`surely`); or where one may as well go on
 * as have finished (`perhaps`).
 */
export function hesitationAt(text: string, vocabulary: Vocabulary): 'surely' | 'perhaps' | undefined {
  if (/[?!？！]["'”’)\]]*\s*$/u.test(text)) return undefined;
  if (/(,|\.\.\.|…|-)\s*$/u.test(text)) return 'surely';
  const words = spokenWords(text);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  const spoken = spokenIn(words, vocabulary);
  const isStopped = endsSentence(text);
  // STT puts a full stop behind anything, also behind a sound: only where that may be a word ("um" is "one"), the stop is one.
  const isSound = (word: string): boolean =>
    isHesitation(word) && !(isStopped && mayBeWord(word, spoken, vocabulary));
  if (
    isSound(last) ||
    (spoken.length > 0 && spoken.every(({ openings }) => isMadeOf(words, openings, isSound)))
  )
    return 'surely';
  if (isStopped) return undefined;
  const told = spoken.map((endings) => hesitationIn(words, endings));
  // A word of hesitation in one language that is none in another, which may be spoken as well, is taken for none.
  if (told.length === 0 || told.includes(undefined)) return undefined;
  return told.includes('surely') ? 'surely' : 'perhaps';
}

/** Sounds aside, the words are these phrases and nothing else. */
function isMadeOf(
  words: readonly string[],
  phrases: readonly Phrase[],
  isSound: (word: string) => boolean,
): boolean {
  const said = words.map(bare);
  for (let at = 0; at < words.length;) {
    const phrase = phrases.find((one) => beginsAt(said, at, one));
    if (phrase === undefined && !isSound(words[at] ?? '')) return false;
    at += phrase?.length ?? 1;
  }
  return true;
}

const mayBeWord = (word: string, spoken: readonly Endings[], { numbers }: Vocabulary): boolean =>
  numbers.values.has(word) ||
  spoken.some(({ known, hesitations }) => known.has(word) && !hesitations.has(word));

export const beginsAt = (words: readonly string[], at: number, phrase: Phrase): boolean =>
  phrase.every((word, index) => words[at + index] === word);

function hesitationIn(words: readonly string[], spoken: Endings): 'surely' | 'perhaps' | undefined {
  const last = words.at(-1) ?? '';
  const { hesitations, doubtful, begun, leadingEnd } = spoken;
  if (leadingEnd?.test(last) === true) return 'surely';
  if (hesitations.has(last) || begun.some((phrase) => endsIn(words, phrase))) return 'surely';
  return doubtful.has(last) ? 'perhaps' : undefined;
}

export const endsIn = (words: readonly string[], phrase: readonly string[]): boolean =>
  phrase.every((word, at) => words[words.length - phrase.length + at] === word);

/** The caller takes back what was said, and seldom changes one thing alone: "no sorry, five people ... on Friday". */
export function beginsCorrection(text: string, vocabulary: Vocabulary): boolean {
  const words = spokenWords(text);
  const said = words.map(bare);
  // "No hang on, on Tuesday": a refusal that asks for a moment goes on with what was meant.
  return spokenIn(words, vocabulary).some(({ corrections, refusals, thinking }) => {
    const refuses = refusals.has(said[0] ?? '') && thinking.some((phrase) => beginsAt(said, 1, phrase));
    return refuses || corrections.some((phrase) => beginsAt(said, 0, phrase));
  });
}

/** The words end in a question that has no verb: "from the third, and until when". */
export function endsInShortQuestion(text: string, vocabulary: Vocabulary): boolean {
  const words = spokenWords(text);
  const said = words.map(bare);
  return spokenIn(words, vocabulary).some(({ shortQuestions }) =>
    shortQuestions.some((phrase) => endsIn(said, phrase)),
  );
}

/** The words end as a sentence does. */
export const endsSentence = (text: string): boolean =>
  /[.?!。！？।]["'”’)\]]*\s*$/u.test(text) && !/\.\.\.\s*$/u.test(text);
