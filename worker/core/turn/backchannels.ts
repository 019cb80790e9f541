/**
 * Words of listening: what callers say while they follow, and which asks for nothing. Sounds are told by their families, whatever the
 * language and however STT spells them; words by the agent's list, in any spelling that sounds the same. It compares words and knows
 * nothing of time, turns or audio. A word that calls for a stop is never part of listening.
 */
import { spokenWords } from './phrases.ts';
import { bare, isUrgent } from './urgent.ts';

/** Sounds of assent: "mm-hmm", "uh-huh", "aha", "hı hı", "ajá". They answer a question, as a yes does. */
const assent = /^(?:m+h+[hmu]*|h+m+h+m+|u+h*h+u+[hm]*|a+h+a+[hm]*|a+j+a+[mj]*|m+j+m*|h*ı+h+ı+m*)$/u;
/** Sounds of hesitation and surprise. They say nothing. */
const hesitation =
  /^(?:[hm]*m[hm]*|h?u+h*m+|u+h+|a+h+|ahe+m|o+h+|e+h+m*|e+r+m*|(?:h+a+){2,}h*|[äö]+h*m*|h?e+u+h+|h?eu|h*ı+[hım]*|e{2,})$/u;
/** A sound of refusal: its two halves are alike, and the hyphen is how it is written. */
const refusal = /^(?:n?uh-uh|huh-uh|unh-unh)$/u;

/** The word is a sound and no word; with `assents`, also one that means yes. */
function isSound(word: string, { assents }: { assents: boolean }): boolean {
  if (refusal.test(word)) return false;
  const squashed = word.replaceAll(/['-]/g, '');
  if (hesitation.test(squashed) && !assent.test(squashed)) return true;
  return assents && assent.test(squashed.normalize('NFD').replaceAll(/\p{M}/gu, ''));
}

/** What callers return a farewell with, in any language: none of them means anything else in another. */
const goodbyes: readonly string[] = [
  'bye|bye bye|goodbye|good bye|thanks|thank you|thank you very much|thanks a lot|you too|see you|take care|cheers',
  'good night|have a nice day|have a good day|have a good one|ciao|tschüss|tschau|danke|danke schön|vielen dank|dankeschön',
  'auf wiedersehen|auf wiederhören|schönen tag noch|gleichfalls|ebenfalls|adiós|chao|gracias|muchas gracias|hasta luego',
  'igualmente|au revoir|merci|merci beaucoup|bonne journée|à bientôt|güle güle|hoşça kal|hoşça kalın|görüşürüz|iyi günler',
  'teşekkürler|teşekkür ederim|sağ ol|sağ olun',
].flatMap((line) => line.split('|'));

/** Words of listening where a farewell is spoken: its return is one. */
export const withGoodbyes = (backchannels: readonly string[]): readonly string[] => [
  ...backchannels,
  ...goodbyes,
];

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

/** What is left when words and sounds of listening are taken away. Phrases of several words count as a whole. */
export function withoutListening(
  words: readonly string[],
  backchannels: readonly string[],
  options: ListeningOptions = {},
): string[] {
  const phrases = phrasesOf(backchannels);
  const left: string[] = [];
  for (let at = 0; at < words.length;) {
    const length =
      phraseAt(words, at, { phrases, ...options }) ??
      soundAt(words, at, { assents: true }) ??
      hyphenedAt(words, at, phrases);
    if (length === undefined) left.push(words[at] ?? '');
    at += length ?? 1;
  }
  return left;
}

/** What is left when sounds that say nothing are taken away: those of assent stay. */
export function withoutSounds(words: readonly string[]): string[] {
  return words.filter((word) => !isSound(word, { assents: false }));
}

type Phrase = readonly string[];

function phrasesOf(backchannels: readonly string[]): readonly Phrase[] {
  const phrases = backchannels.map((entry) => spokenWords(entry).map(bare));
  return phrases.filter((phrase) => phrase.length > 0).sort((a, b) => b.length - a.length);
}

interface Looking extends ListeningOptions {
  readonly phrases: readonly Phrase[];
}

/** How many words from `at` on are a phrase of listening. */
function phraseAt(
  words: readonly string[],
  at: number,
  { phrases, unfinished = false, partial = false, patient = false }: Looking,
): number | undefined {
  const left = words.length - at;
  const matches = (phrase: Phrase): boolean => {
    const word = words[at] ?? '';
    const isBegun = left < phrase.length;
    if (isBegun && (!unfinished || (isUrgent(word) && !patient))) return false;
    return phrase.every((part, index) => {
      const said = words[at + index];
      if (said === undefined) return true;
      if (bare(said) === part) return true;
      const isCut = partial && index === left - 1 && said.length > 1 && !isUrgent(said);
      return isCut && part.startsWith(bare(said));
    });
  };
  const found = phrases.find(matches);
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
function hyphenedAt(words: readonly string[], at: number, phrases: readonly Phrase[]): number | undefined {
  const parts = (words[at] ?? '').split('-');
  if (parts.length < 2) return undefined;
  const isListening = (part: string): boolean =>
    phrases.some((phrase) => phrase.length === 1 && phrase[0] === bare(part)) ||
    isSound(part, { assents: true });
  return !refusal.test(words[at] ?? '') && parts.every(isListening) ? 1 : undefined;
}
