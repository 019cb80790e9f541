/**
 * What recognised words amount to: hesitation, a sentence, or the agent's own voice that came back through the caller's
 * microphone (words of listening: backchannels.ts). It compares words and knows nothing of time, turns or audio.
 */
import { isUrgent } from './urgent.ts';

/** Words as they are compared: lower case, without punctuation; apostrophes and hyphens inside words stay. */
export function spokenWords(text: string): string[] {
  const plain = text.normalize('NFKC').replaceAll('İ', 'i').toLowerCase().replaceAll('’', "'");
  return plain.match(/[\p{L}\p{N}\p{M}]+(?:['-][\p{L}\p{N}\p{M}]+)*/gu) ?? [];
}

/** Fewer words in a row prove nothing: callers repeat single words of the agent to answer it. */
const echoRun = 2;

/**
 * The words that are left when those that repeat what the agent just said, in the same order, are taken away. When the last one is
 * `unfinished`, a single word at the end may be the beginning of a repetition, and so may the beginning of a word.
 */
export function withoutEcho(
  words: readonly string[],
  played: readonly string[],
  { unfinished = false }: { unfinished?: boolean } = {},
): string[] {
  const left: string[] = [];
  for (let at = 0; at < words.length;) {
    const run = longestRun(words, at, { played, unfinished });
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
  { played, unfinished }: { played: readonly string[]; unfinished: boolean },
): number {
  let longest = 0;
  for (let start = 0; start < played.length; start += 1) {
    let run = 0;
    while (at + run < words.length && words[at + run] === played[start + run]) run += 1;
    const next = words[at + run];
    const isLast = unfinished && next !== undefined && at + run === words.length - 1;
    // "no" is no half of "now": a pause for the rest of it makes the caller say it twice.
    if (isLast && !(run === 0 && isUrgent(next)) && played[start + run]?.startsWith(next) === true) run += 1;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** Last words after which a speaker goes on; English and Turkish, which share none that would mislead the other. */
const hesitations = new Set(
  [
    'um uh uhm er erm hmm and but or because cause if when the a an to of for with from my your is are was i we into than as',
    'before after until without between',
    'ıı ııı ee eee şey yani ve ama veya ya çünkü ile için gibi eğer fakat ayrıca hani mesela bir',
  ].flatMap((line) => line.split(' ')),
);

/** Words that end a sentence as often as they lead on: "book that", "I think that". */
const doubtful = new Set(
  'like so then that in on at well about this these those very just maybe plus actually basically'.split(' '),
);
/** Two last words after which a speaker goes on. */
const begun =
  /^(?:(?:can|could|would|will|do|did|should) (?:you|i|we)|(?:i|we) (?:need|want|have|think|mean)|would like|i'd like)$/u;

/**
 * The words end where nobody ends a sentence: in a filling sound, a conjunction, an article (`surely`); or where one may as well go on
 * as have finished (`perhaps`).
 */
export function hesitationAt(text: string): 'surely' | 'perhaps' | undefined {
  if (/[.?!…。！？]["'”’)\]]*\s*$/u.test(text) && !/(\.\.\.|…)\s*$/u.test(text)) return undefined;
  if (/(,|\.\.\.|…|-)\s*$/u.test(text)) return 'surely';
  const words = spokenWords(text);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  if (hesitations.has(last) || begun.test(words.slice(-2).join(' '))) return 'surely';
  return doubtful.has(last) ? 'perhaps' : undefined;
}

/** More words are to be expected. */
export const endsHesitant = (text: string): boolean => hesitationAt(text) !== undefined;

/** The words end as a sentence does. */
export const endsSentence = (text: string): boolean =>
  /[.?!。！？]["'”’)\]]*\s*$/u.test(text) && !/\.\.\.\s*$/u.test(text);
