/**
 * Numbers, spelled words and addresses that are said piece by piece: "four two ... seven nine". A caller who reads them out pauses where nobody
 * else does, and each group sounds finished. The agent's question and the words so far tell whether more is to come. It compares words
 * and knows nothing of time, turns or audio.
 */
import { bare, spokenWords } from '../../../shared/languages/spelling.ts';
import type { Numbers } from '../../../shared/languages/vocabulary.ts';

/** How many digits or letters the agent asks for, where it says so. */
function askedLength(asked: string, { length, values }: Numbers): number | undefined {
  const found = [...asked.matchAll(length)].at(-1)?.[1] ?? '';
  const words = spokenWords(found).flatMap((word) => word.split('-'));
  // Of "your twenty-two" the longest end that is a number, and of "the four last" that of what stands before the last word.
  const ends = [words, words.slice(0, -1)].flatMap((some) => some.map((_, at) => some.slice(at).join('')));
  const [value] = ends.flatMap((end) => (/^\d+$/.test(end) ? Number(end) : (values.get(end) ?? [])));
  return value !== undefined && value > 1 ? value : undefined;
}

/** Digits and single letters at the end of what was said. */
function saidLength(text: string, numbers: Numbers): number {
  const words = spokenWords(text);
  const isOfNumber = (word: string): boolean =>
    unitsIn(word, numbers) !== undefined || numbers.between.has(word);
  const said = words.slice(words.findLastIndex((word) => !isOfNumber(word)) + 1);
  // "Forty" is two digits, with the "two" behind it or without; as the last word so far it waits for one.
  let [count, isOpen] = [0, false];
  for (const word of said.filter((one) => !numbers.between.has(one))) {
    const joins = isOpen && numbers.digits.has(word) && numbers.values.get(word) !== 0;
    count += joins ? 1 : (isOpen ? 1 : 0) + (unitsIn(word, numbers) ?? 0);
    isOpen = numbers.tens.has(word);
  }
  return count;
}

/** Digits and letters that a word says for sure. */
function unitsIn(word: string, numbers: Numbers): number | undefined {
  const { digits, tens, pairs, repeats } = numbers;
  if (/^\p{N}+$/u.test(word)) return word.length;
  if (digits.has(word) || /^\p{L}$/u.test(word) || tens.has(word)) return 1;
  if (pairs.has(word.replaceAll('-', ''))) return 2;
  if (!word.includes('-')) return repeats.get(word);
  const parts = word.split('-');
  const units = parts.map((part) => unitsIn(part, numbers) ?? (numbers.between.has(part) ? 0 : undefined));
  if (units.includes(undefined)) return undefined;
  // "Soixante-dix-huit" is one number of two digits, and "five-five-five" three of one.
  const isOne = parts.some((part) => tens.has(part));
  return isOne ? 2 : units.reduce<number>((sum, unit) => sum + (unit ?? 0), 0);
}

/** An address for mail that is told part by part: "john dot ... smith at gmail ... dot com". Undefined where it is none, or may be whole. */
function mailSaid(text: string, { joints, ats }: Numbers): 'begun' | 'open' | undefined {
  if (/\S@\S+\.\p{L}{2,}\W*$/u.test(text)) return undefined;
  const words = spokenWords(text.replaceAll('@', ' at '));
  const last = words.at(-1) ?? '';
  const host = words.findLastIndex((word) => ats.has(word));
  const isJoined = words.slice(host + 1).some((word) => joints.has(word));
  if (host === -1 && !isJoined) return undefined;
  if (joints.has(last) || ats.has(last)) return 'begun';
  return host !== -1 && isJoined ? undefined : 'open';
}

/** Fewer letters are no word that somebody spells. */
const fewestSpelled = 3;

/** A letter as it is told: "Ibáñez" is spelled "I B A Ñ E Z", and "Yıldız" with the capital that "i" has elsewhere. */
const plain = (word: string): string => bare(word).replaceAll('ı', 'i');

/**
 * A word that is said and then spelled: "it is Kowalczyk ... K, O, W". Undefined where the letters are no beginning of a word before
 * them.
 */
function spellingSaid(text: string, { repeats }: Numbers): 'whole' | 'begun' | undefined {
  const words = spokenWords(text).flatMap((word) => (repeats.has(word) ? word : word.split('-')));
  const from = words.findLastIndex((word) => !/^\p{L}$/u.test(word) && !repeats.has(word)) + 1;
  const told = words.slice(from);
  // "Double T" is two letters.
  const letters = told.map((word, at) =>
    repeats.has(word) ? (told[at + 1] ?? '').repeat(repeats.get(word) ?? 0) : plain(word),
  );
  const spelling = plain(letters.join(''));
  // A single letter may as well be a word.
  if (spelling.length < 2) return undefined;
  const spelled = words
    .slice(0, from)
    .map(plain)
    .findLast((word) => word.length >= fewestSpelled && word.startsWith(spelling));
  if (spelled === undefined) return undefined;
  return spelled === spelling ? 'whole' : 'begun';
}

/** So many digits in a row are a number of that kind although nobody asked for one. */
const unaskedDigits = 3;

const isToSpell = (asked: string, text: string, { spelled }: Numbers): boolean =>
  spelled.test(asked) && !text.includes('?') && spokenWords(text).length > 0;

export type NumberSaid = 'whole' | 'begun' | 'open';

/**
 * The words are a number that the agent asked for: all of it (`whole`), a part of it (`begun`), or how long it is to be is not known
 * (`open`). Undefined where it is none.
 */
export function numberSaid(asked: string, text: string, numbers: Numbers): NumberSaid | undefined {
  const mail = numbers.mailAsked.test(asked) ? mailSaid(text, numbers) : undefined;
  if (mail !== undefined) return mail;
  const said = saidLength(text, numbers);
  // A name that is to be spelled is said as a word first: "it is Kowalczyk ... K, O, W".
  if (said === 0) return isToSpell(asked, text, numbers) ? 'open' : undefined;
  const length = askedLength(asked, numbers);
  if (length !== undefined) return said >= length ? 'whole' : 'begun';
  const spelling = spellingSaid(text, numbers);
  if (spelling !== undefined) return spelling;
  return numbers.asked.test(asked) || said >= unaskedDigits ? 'open' : undefined;
}
