/**
 * Whether words ask for time: to think, or to get or look up something. A list knows the usual phrases, and two rules the rest: a short time
 * with nothing but a request around it ("just two seconds"), and a caller who says what they are about to do ("hang on, I need to find my
 * card"). It compares words as they sound and knows nothing of time, turns or audio.
 */
import { bare, spokenWords } from '../../../shared/languages/spelling.ts';
import type { Endings, Phrase, Vocabulary } from '../../../shared/languages/vocabulary.ts';
import { isHesitation } from './backchannels.ts';
import { beginsAt, endsIn, hesitationAt, spokenIn } from './phrases.ts';

/** More words than this have something to say. */
const longestRequest = 12;

/**
 * The words ask for time: alone, or beside others in a phrase of several words at the end. Where they end a sentence, that is no end of the
 * turn.
 */
export function asksForTime(text: string, vocabulary: Vocabulary): boolean {
  if (/[?？]\s*$/u.test(text)) return false;
  const words = spokenWords(text);
  const said = words.map(bare);
  const last = spokenWords(text.split(/[.!;。！।]\s+/u).at(-1) ?? '').map(bare);
  return spokenIn(words, vocabulary).some(
    (endings) =>
      endings.thinking.some((phrase) => phrase.length > 1 && endsIn(said, phrase)) ||
      isRequest(said, endings) ||
      tellsOfLooking(said, last, endings),
  );
}

/** A phrase of the list, or a short time, and nothing else but what may stand beside it. "The second" is none, and no article may. */
function isRequest(words: readonly string[], { thinking, besideThinking, waiting }: Endings): boolean {
  const { moments, granting, courtesies } = waiting;
  const isNamed = words.some((word) => moments.has(word));
  let isAsked = isNamed;
  for (let at = 0; at < words.length;) {
    const word = words[at] ?? '';
    const asking = phraseAt(words, at, thinking);
    const length =
      asking ??
      phraseAt(words, at, isNamed ? courtesies : besideThinking) ??
      (isNamed && isHesitation(word) ? 1 : undefined) ??
      (isNamed && (moments.has(word) || granting.has(word)) ? 1 : undefined);
    if (length === undefined) return false;
    isAsked ||= asking !== undefined;
    at += length;
  }
  return isAsked;
}

/** The caller says what they are about to do, in the last sentence or behind a phrase that asks for time. */
function tellsOfLooking(said: readonly string[], last: readonly string[], endings: Endings): boolean {
  const behind = said.flatMap((_, at) =>
    endings.thinking.flatMap((phrase) =>
      beginsAt(said, at, phrase) ? [said.slice(at + phrase.length)] : [],
    ),
  );
  return (
    behind.some((words) => isLooking(words, endings, { asked: true })) ||
    isLooking(last, endings, { asked: false })
  );
}

/** Where nobody has `asked` for time, the words must name a thing that people have at home, or nothing at all. */
function isLooking(words: readonly string[], endings: Endings, { asked }: { asked: boolean }): boolean {
  const { own, looks, takes, things, after, moments } = endings.waiting;
  const begins = ownAt(words, endings);
  if (begins === undefined) return false;
  const rest = words.slice(begins);
  if (rest.length > longestRequest) return false;
  const isVerb = (word: string): boolean => looks.has(word) || takes.has(word);
  if (!rest.some(isVerb)) return false;
  if (asked) return true;
  const [length = 0] = [phraseAt(rest, 0, own)];
  const isNothingElse = (word: string): boolean => looks.has(word) || after.has(word);
  if (rest.some((word) => looks.has(word)) && rest.slice(length).every(isNothingElse)) return true;
  const isLast = (word: string): boolean => isVerb(word) || things.has(word);
  const isBeside = (word: string): boolean => after.has(word) || moments.has(word);
  const end = rest.findLast((word) => isLast(word) || !isBeside(word)) ?? '';
  return rest.some((word) => things.has(word)) && isLast(end);
}

/** Where the caller begins to say what they do, behind words that say nothing. */
function ownAt(words: readonly string[], { waiting, besideThinking }: Endings): number | undefined {
  if (waiting.own.length === 0) return 0;
  for (let at = 0; at < words.length;) {
    if (phraseAt(words, at, waiting.own) !== undefined) return at;
    const beside = phraseAt(words, at, besideThinking);
    if (beside === undefined) return undefined;
    at += beside;
  }
  return undefined;
}

const phraseAt = (words: readonly string[], at: number, phrases: readonly Phrase[]): number | undefined =>
  phrases.find((one) => beginsAt(words, at, one))?.length;

/** More words are to be expected. */
export const endsHesitant = (text: string, vocabulary: Vocabulary): boolean =>
  hesitationAt(text, vocabulary) !== undefined || asksForTime(text, vocabulary);
