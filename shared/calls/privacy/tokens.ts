/** A text as words and numbers with their places, for detectors: numbers as digits, whether they are written or spoken. Pure. */
import { spokenWords } from '../../languages/spelling.ts';
import type { Numbers } from '../../languages/vocabulary.ts';

export interface Token {
  readonly from: number;
  readonly to: number;
  /** The word as it is compared. */
  readonly word: string;
  /** What it says in digits, `?` for one whose value the language does not tell; empty for no number. */
  readonly digits: string;
  /** Means nothing between digits. */
  readonly isBetween: boolean;
}

const tokenPattern = /\p{Nd}+|[@＠]|[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*/gu;
/** Where the digits of other scripts begin; each has ten in a row. */
const zeros = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xff10];

/** Of a number that is written with hyphens. */
const mostPieces = 5;

const asciiDigits = (text: string): string =>
  Array.from(text, (char) => {
    const code = char.codePointAt(0) ?? 0;
    const zero = zeros.find((one) => code >= one && code < one + 10);
    return zero === undefined ? '?' : String(code - zero);
  }).join('');

export function tokensOf(text: string, numbers: Numbers): Token[] {
  const tokens = [...text.matchAll(tokenPattern)].flatMap(({ 0: found, index: from }): Token[] => {
    if (/^\p{Nd}/u.test(found))
      return [{ from, to: from + found.length, word: found, digits: asciiDigits(found), isBetween: false }];
    if (found === '@' || found === '＠')
      return [{ from, to: from + 1, word: found, digits: '', isBetween: false }];
    return knownParts(found, numbers).map(({ at, part }) => {
      const word = compared(part);
      const digits = spokenDigits(word, numbers);
      const place = { from: from + at, to: from + at + part.length };
      return { ...place, word: word.replaceAll('-', ''), digits, isBetween: numbers.between.has(word) };
    });
  });
  return withTensAndRepeats(tokens, numbers);
}

/** "Forty-one" is two words, and "quatre-vingt-dix" one: as much as is known as a number, from the front. */
function knownParts(found: string, numbers: Numbers): { readonly at: number; readonly part: string }[] {
  const pieces = found.split('-');
  const parts: { readonly at: number; readonly part: string }[] = [];
  let at = 0;
  for (let first = 0; first < pieces.length;) {
    let length = Math.min(mostPieces, pieces.length - first);
    const joined = (): string => pieces.slice(first, first + length).join('-');
    while (length > 1 && spokenDigits(compared(joined()), numbers) === '') length -= 1;
    const part = joined();
    parts.push({ at, part });
    first += length;
    at += part.length + 1;
  }
  return parts;
}

/** Most words are plain, and texts may be long. */
const compared = (word: string): string =>
  /^[A-Za-z]+$/.test(word) ? word.toLowerCase() : (spokenWords(word)[0] ?? '');

function spokenDigits(word: string, { values, digits, tens, pairs }: Numbers): string {
  const value = values.get(word.replaceAll('-', ''));
  if (value !== undefined) return String(value);
  if (digits.has(word)) return '?';
  if (tens.has(word)) return '?0';
  return pairs.has(word) ? '??' : '';
}

const isSpokenOne = (token: Token | undefined): token is Token =>
  token !== undefined && token.digits.length === 1 && !/^\p{Nd}/u.test(token.word);

const oneOf = (token: Token | undefined): Token | undefined => (isSpokenOne(token) ? token : undefined);

/** "Twenty one" is 21, and "double seven" 77: the first token then says what both do, and the second nothing of its own. */
function withTensAndRepeats(tokens: readonly Token[], { repeats }: Numbers): Token[] {
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    const next = tokens[at + 1];
    const isOne = isSpokenOne(next);
    // "Quarante et un".
    const ones = next?.isBetween === true ? oneOf(tokens[at + 2]) : oneOf(next);
    const more = repeats.get(token.word);
    const isTens = /^[23?]0$/.test(token.digits) && !/^\p{Nd}/u.test(token.word);
    if (isOne && more !== undefined) {
      joined.push({ ...token, to: next.to, digits: next.digits.repeat(1 + more) });
      at += 1;
    } else if (isTens && ones !== undefined && ones.digits !== '0') {
      joined.push({ ...token, to: ones.to, digits: `${token.digits.charAt(0)}${ones.digits}` });
      at += ones === next ? 1 : 2;
    } else joined.push(token);
  }
  return joined;
}
