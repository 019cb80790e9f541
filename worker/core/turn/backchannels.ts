/**
 * Words of listening: what callers say while they follow, and which asks for nothing. Sounds are told by their families, whatever the
 * language and however STT spells them; words by the agent's list, in any spelling that sounds the same. It compares words and knows
 * nothing of time, turns or audio. A word that calls for a stop is never part of listening.
 */
import { bare } from '../../../shared/languages/spelling.ts';
import { inventedPhrases, notedSounds } from '../../../shared/languages/invented.ts';
import { phrasesOf, type Phrase, type Vocabulary } from '../../../shared/languages/vocabulary.ts';

/** Sounds of assent: "mm-hmm", "uh-huh", "aha", "hı hı", "ajá". They answer a question, as a yes does. */
const assent = /^(?:m+h+[hmu]*|h+m+h+m+|u+h*h+u+[hm]*|a+h+a+[hm]*|a+j+a+[mj]*|m+j+m*|h*ı+h+ı+m*)$/u;
/** Sounds of hesitation and surprise. They say nothing. */
const hesitation =
  /^(?:[hm]*m[hm]*|h?u+h*m+|u+h+|a+h+|ahe+m|o+h+|e+h+m*|y{2,}m*|y+m+|e+r+m*|h+a+h*|(?:h+[aeiou]+){2,}h*|(?:j+[aei]+){2,}|k{3,}|[äö]+h*m*|h?e+u+h+|h?eu|h*ı+[hım]*|e{2,})$/u;
/** Laughter in one word, or the sound of it that is only laughter when it is said again and again. */
const laughter = /^(?:(?:h+[aeiou]+){2,}h*|h+a+h*|(?:j+[aei]+){3,}|(?:k){4,}|lo+l)$/u;
const partOfLaughter = /^(?:h+[aeiou]+h*|a+h+)$/u;
/** A sound of refusal: its two halves are alike, and the hyphen is how it is written. */
const refusal = /^(?:n?uh-uh|huh-uh|unh-unh)$/u;

/** The word is a sound, and no word. */
export const isSoundOfListening = (word: string): boolean => isSound(word, { assents: true });

/** The word is a sound that is drawn out while a speaker looks for words, and no spelled letter. */
export const isHesitation = (word: string): boolean => word.length > 1 && isSound(word, { assents: false });

/** The word is a sound and no word; with `assents`, also one that means yes. */
function isSound(word: string, { assents }: { assents: boolean }): boolean {
  if (refusal.test(word)) return false;
  const squashed = word.replaceAll(/['-]/g, '');
  if (hesitation.test(squashed) && !assent.test(squashed)) return true;
  return assents && assent.test(squashed.normalize('NFD').replaceAll(/\p{M}/gu, ''));
}

/** All that was said is laughter: nobody wants an answer to it. */
export function isLaughter(words: readonly string[]): boolean {
  const isAgain = words.length > 1 && words.every((word) => partOfLaughter.test(word));
  return words.length > 0 && (isAgain || words.every((word) => laughter.test(word)));
}

/** What recognisers write of a sound that is no word: "[laughter]", "(coughs)", "*sighs*", "♪ music ♪". Signs that stand in for a number stay. */
export const withoutNotes = (text: string): string =>
  /[[(*♪]/.test(text)
    ? text
        .replaceAll(/♪[^♪]{0,80}♪?/gu, ' ')
        .replaceAll(/[[(*]([^[\]()*]{1,40})[\])*]/gu, (whole, inner: string) =>
          notedSounds.some((sound) => `${inner.toLowerCase()} `.includes(sound)) ? ' ' : whole,
        )
        .replaceAll(/\s{2,}/g, ' ')
        .trim()
    : text;

/** Phrases of listening, ready for comparison, and the words that none of them begins with, because they call for a stop. */
export interface Listening {
  /** From the longest to the shortest. */
  readonly phrases: readonly Phrase[];
  readonly byFirst: ReadonlyMap<string, readonly Phrase[]>;
  readonly urgent: ReadonlySet<string>;
}

function newListening(backchannels: readonly string[], urgent: ReadonlySet<string>): Listening {
  const phrases = phrasesOf(backchannels);
  const byFirst = new Map<string, Phrase[]>();
  for (const phrase of phrases) {
    const [first = ''] = phrase;
    byFirst.set(first, [...(byFirst.get(first) ?? []), phrase]);
  }
  return { phrases, byFirst, urgent };
}

interface OfCall {
  readonly listening: Listening;
  readonly parting: Listening;
  readonly invented: Listening;
}

const made = new WeakMap<Vocabulary, WeakMap<readonly string[], OfCall>>();

/** What is listening in a call, and what is where a farewell is spoken, whose return is listening. The calls of an agent share it. */
export function listeningOf(backchannels: readonly string[], vocabulary: Vocabulary): OfCall {
  const ofVocabulary = made.get(vocabulary) ?? new WeakMap<readonly string[], OfCall>();
  made.set(vocabulary, ofVocabulary);
  const { urgent, goodbyes } = vocabulary;
  const known = ofVocabulary.get(backchannels) ?? {
    listening: newListening(backchannels, urgent),
    parting: newListening([...backchannels, ...goodbyes], urgent),
    invented: newListening([...goodbyes, ...inventedPhrases], urgent),
  };
  ofVocabulary.set(backchannels, known);
  return known;
}

/** Words in a row that one sound may be written as: "uh huh", "m hm". */
const longestSound = 2;

export interface ListeningOptions {
  /** More words may follow: a phrase that has only begun counts, if nothing stands behind it. */
  readonly unfinished?: boolean;
  /** The last word may be cut short: the beginning of a word of listening counts as one. */
  readonly partial?: boolean;
  /** Also a word that calls for a stop may begin such a phrase: "no problem". */
  readonly patient?: boolean;
}

/** How many words from `at` on are a whole phrase of the list; 0 where they are none. */
export const listeningAt = (words: readonly string[], at: number, { byFirst }: Listening): number => {
  const said = words.slice(at).map(bare);
  const phrases = byFirst.get(said[0] ?? '') ?? [];
  return phrases.find((phrase) => phrase.every((word, index) => said[index] === word))?.length ?? 0;
};

/** What is left when words and sounds of listening are taken away. Phrases of several words count as a whole. */
export function withoutListening(
  words: readonly string[],
  listening: Listening,
  options: ListeningOptions = {},
): string[] {
  const said = words.map(bare);
  const left: string[] = [];
  for (let at = 0; at < words.length;) {
    const length =
      phraseAt(said, at, { listening, ...options }) ??
      soundAt(words, at, { assents: true }) ??
      hyphenedAt(words, at, listening);
    if (length === undefined) left.push(words[at] ?? '');
    at += length ?? 1;
  }
  return left;
}

const soundsAlone = newListening([], new Set());

/** Whether the words, beside sounds, are all of the kind that recognisers make of a noise. */
export function mayBeInvented(words: readonly string[], invented: Listening): boolean {
  const said = withoutListening(words, soundsAlone);
  return said.length > 0 && withoutListening(said, invented).length === 0;
}

/** What is left when sounds that say nothing are taken away: those of assent stay. */
export function withoutSounds(words: readonly string[]): string[] {
  return words.filter((word) => !isSound(word, { assents: false }));
}

interface Looking extends ListeningOptions {
  readonly listening: Listening;
}

/** How many words from `at` on are a phrase of listening. They are compared as they sound. */
function phraseAt(
  words: readonly string[],
  at: number,
  { listening, unfinished = false, partial = false, patient = false }: Looking,
): number | undefined {
  const { phrases, byFirst, urgent } = listening;
  const first = words[at] ?? '';
  const left = words.length - at;
  const matches = (phrase: Phrase): boolean => {
    const isBegun = left < phrase.length;
    if (isBegun && (!unfinished || (urgent.has(first) && !patient))) return false;
    return phrase.every((part, index) => {
      const said = words[at + index];
      if (said === undefined || said === part) return true;
      const isCut = partial && index === left - 1 && said.length > 1 && !urgent.has(said);
      return isCut && part.startsWith(said);
    });
  };
  // Only a word that may be cut short is another than a phrase's first.
  const found = (partial && left === 1 ? phrases : (byFirst.get(first) ?? [])).find(matches);
  return found && Math.min(found.length, left);
}

function soundAt(words: readonly string[], at: number, options: { assents: boolean }): number | undefined {
  for (let count = Math.min(longestSound, words.length - at); count > 0; count -= 1) {
    const parts = words.slice(at, at + count);
    if (count > 1 && parts.some((part) => part.length > 4)) continue;
    if (isSound(parts.join(''), options) && !refusal.test(parts.join('-'))) return count;
  }
  return isSound(words[at] ?? '', options) ? 1 : undefined;
}

/** A word that repeats itself with hyphens: "yeah-yeah", "ok-ok". */
function hyphenedAt(words: readonly string[], at: number, { byFirst }: Listening): number | undefined {
  const parts = (words[at] ?? '').split('-');
  if (parts.length < 2) return undefined;
  const isListening = (part: string): boolean =>
    (byFirst.get(bare(part)) ?? []).some(({ length }) => length === 1) || isSound(part, { assents: true });
  return !refusal.test(words[at] ?? '') && parts.every(isListening) ? 1 : undefined;
}
