/** Finds what says who somebody is, or what they pay with: in written texts and in speech as it is recognised. Pure. */
import type { Numbers } from '../../languages/vocabulary.ts';
import { tokensOf, type Token } from './tokens.ts';

export const detectorNames = ['card', 'iban', 'email', 'phone', 'digits'] as const;
export type DetectorName = (typeof detectorNames)[number];

export interface Span {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

interface Site {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly numbers: Numbers;
}

/** What may stand between digits that belong together. */
const digitGap = /^[\s.,()/_·\u2010-\u2015-]{0,3}$/;

/** Numbers that follow one another. */
type Run = readonly Token[];

export function detect(text: string, kinds: ReadonlySet<string>, numbers: Numbers): Span[] {
  const site = { text, tokens: tokensOf(text, numbers), numbers };
  const runs = runsOf(site);
  return [
    ...(kinds.has('card') ? runs.flatMap(cardsIn) : []),
    ...(kinds.has('iban') ? ibansIn(site) : []),
    ...(kinds.has('email') ? [...writtenMails(text), ...spokenMails(site)] : []),
    ...(kinds.has('phone') ? runs.flatMap((run) => phoneIn(run, text)) : []),
    ...(kinds.has('digits') ? runs.flatMap(digitsIn) : []),
  ];
}

/** Numbers of a text that follow one another, with no more between them than `gap` allows. */
export const numbersIn = (text: string, numbers: Numbers, gap: RegExp): Run[] =>
  runsOf({ text, tokens: tokensOf(text, numbers), numbers }, gap);

function runsOf({ text, tokens }: Site, gap = digitGap): Run[] {
  const runs: Token[][] = [];
  let run: Token[] = [];
  let behind = 0;
  for (const token of tokens) {
    const isNear = gap.test(text.slice(behind, token.from));
    // Words that mean nothing between digits end no run, and belong to none unless digits follow.
    if (token.digits === '' && token.isBetween && isNear && run.length > 0) {
      behind = token.to;
      continue;
    }
    if (run.length > 0 && !isNear) {
      runs.push(run);
      run = [];
    }
    if (token.digits !== '') run.push(token);
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
    behind = token.to;
  }
  return run.length > 0 ? [...runs, run] : runs;
}

const digitsOf = (run: Run): string => run.map(({ digits }) => digits).join('');

const spanOf = (run: Run, kind: DetectorName): Span => ({
  from: run[0]?.from ?? 0,
  to: run.at(-1)?.to ?? 0,
  kind,
});

// ---- Cards ---------------------------------------------------------------------------------------------------------

const shortestCard = 13;
const longestCard = 19;

function cardsIn(run: Run): Span[] {
  const found: Span[] = [];
  for (let first = 0; first < run.length; first += 1) {
    const length = cardFrom(run, first);
    if (length === 0) continue;
    found.push(spanOf(run.slice(first, first + length), 'card'));
    first += length - 1;
  }
  return found;
}

/** How many tokens from there on are a card's number, as many as can be. */
function cardFrom(run: Run, first: number): number {
  let digits = '';
  let length = 0;
  for (let at = first; at < run.length; at += 1) {
    digits += run[at]?.digits ?? '';
    if (digits.length > longestCard) break;
    if (digits.length >= shortestCard && isCard(digits)) length = at - first + 1;
  }
  return length;
}

/** By Luhn's sum. A digit that nobody can tell may be the right one. */
function isCard(digits: string): boolean {
  if (/^0|^(.)\1*$/.test(digits)) return false;
  if (digits.includes('?')) return true;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

// ---- Bank accounts -------------------------------------------------------------------------------------------------

/** Lengths of the registry of IBANs, by country. */
const ibanLengths = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 ' +
    'LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 ' +
    'SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);

function ibansIn(site: Site): Span[] {
  const { tokens } = site;
  const found: Span[] = [];
  for (let first = 0; first < tokens.length; first += 1) {
    const last = ibanFrom(site, first);
    if (last === undefined) continue;
    found.push({ from: tokens[first]?.from ?? 0, to: tokens[last]?.to ?? 0, kind: 'iban' });
    first = last;
  }
  return found;
}

/** The last token of the account that begins with this one. */
function ibanFrom({ text, tokens }: Site, first: number): number | undefined {
  let letters = '';
  for (let at = first; at < tokens.length; at += 1) {
    const token = tokens[at];
    const before = tokens[at - 1];
    if (token === undefined) return undefined;
    if (at > first && !digitGap.test(text.slice(before?.to ?? 0, token.from))) return undefined;
    if (letters.length >= 2 && token.digits === '' && token.isBetween && token.word.length > 1) continue;
    letters += token.digits === '' ? token.word.toUpperCase() : token.digits;
    if (!/^[A-Z]{0,2}$|^[A-Z]{2}[0-9?]/.test(letters)) return undefined;
    const length = ibanLengths.get(letters.slice(0, 2));
    if (letters.length < 2) continue;
    if (length === undefined || letters.length > length) return undefined;
    if (letters.length === length) return isIban(letters) ? at : undefined;
  }
  return undefined;
}

/** By the remainder of 97. */
function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9?]{2}[A-Z0-9?]+$/.test(text)) return false;
  if (text.includes('?')) return true;
  const moved = `${text.slice(4)}${text.slice(0, 4)}`;
  let rest = 0;
  for (const char of moved)
    for (const digit of String(Number.parseInt(char, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

// ---- Addresses for mail --------------------------------------------------------------------------------------------

const beforeAt = /[\p{L}\p{M}\p{N}._%+'-]/u;
const behindAt = /[\p{L}\p{M}\p{N}.-]/u;

function writtenMails(text: string): Span[] {
  const found: Span[] = [];
  let behind = 0;
  for (const { index: at } of text.matchAll(/[@＠]/g)) {
    let from = at;
    while (from > behind && beforeAt.test(text.charAt(from - 1))) from -= 1;
    let to = at + 1;
    while (to < text.length && behindAt.test(text.charAt(to))) to += 1;
    while (to > at && /[.-]/.test(text.charAt(to - 1))) to -= 1;
    if (from === at || !/\.[\p{L}\p{M}\p{N}-]{2,}$/u.test(text.slice(at, to))) continue;
    found.push({ from, to, kind: 'email' });
    behind = to;
  }
  return found;
}

/** "Jane dot doe at example dot com", also with a part of it written. */
function spokenMails(site: Site): Span[] {
  const { tokens, numbers } = site;
  return tokens.flatMap((token, at) => {
    if (!isAt(token, numbers) || at === 0) return [];
    const first = reach(site, at - 1, -1);
    const last = reach(site, at + 1, 1);
    const end = tokens[endOfHost(site, at + 1, last.at)];
    const isHost = last.joints > 0 && end !== undefined && end.digits === '' && end.word.length > 1;
    const name = tokens[at - 1];
    if (!isHost || name === undefined || numbers.joints.has(name.word)) return [];
    return [{ from: tokens[first.at]?.from ?? 0, to: end.to, kind: 'email' }];
  });
}

/** A number right behind a host belongs to something else. */
function endOfHost({ text, tokens }: Site, from: number, to: number): number {
  let at = to;
  for (; at > from && tokens[at]?.digits !== ''; at -= 1)
    if (text.slice(tokens[at - 1]?.to, tokens[at]?.from) !== '') break;
  return at;
}

const isAt = ({ word }: Token, { ats }: Numbers): boolean => /^[@＠]$/.test(word) || ats.has(word);

/** In front of a word that stands for a sign, and behind it. A bracket that opens behind it is that of a part that is taken out already. */
const inFront = /^[\s,([]*$/;
const behind = /^[\s,)\]]*$/;

/** How far an address goes from here, in one direction: by joints, and letter by letter. */
function reach({ text, tokens, numbers }: Site, from: number, step: 1 | -1): { at: number; joints: number } {
  let at = from;
  let joints = 0;
  const [onThisSide, onTheOther] = step > 0 ? [inFront, behind] : [behind, inFront];
  const isShort = (token: Token | undefined): boolean =>
    token !== undefined && (token.word.length === 1 || token.digits.length === 1);
  for (;;) {
    const [here, next, beyond] = [tokens[at], tokens[at + step], tokens[at + 2 * step]];
    if (here === undefined || next === undefined || isAt(next, numbers)) return { at, joints };
    const between = (one: Token, other: Token): string =>
      step > 0 ? text.slice(one.to, other.from) : text.slice(other.to, one.from);
    const gap = between(here, next);
    const isWritten = /^[._+-]$/.test(gap);
    const isJoint = numbers.joints.has(next.word) && onThisSide.test(gap);
    if (isJoint && beyond !== undefined && onTheOther.test(between(next, beyond))) {
      at += 2 * step;
      joints += 1;
    } else if (isWritten || gap === '' || (/^\s+$/.test(gap) && isShort(here) && isShort(next))) {
      at += step;
      joints += isWritten ? 1 : 0;
    } else return { at, joints };
  }
}

// ---- Telephone numbers and other digits ----------------------------------------------------------------------------

const writtenDate = /^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/;
const writtenAmount = /^\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?$/;

function phoneIn(run: Run, text: string): Span[] {
  const { length } = digitsOf(run);
  if (length < 7 || length > 15) return [];
  const { from, to, kind } = spanOf(run, 'phone');
  const written = text.slice(from, to);
  if (writtenDate.test(written) || writtenAmount.test(written)) return [];
  if (text.charAt(to) === ':' && writtenDate.test(written.replace(/[ ,]+\d{1,2}$/, ''))) return [];
  const opening = /(?:\+|\+?\()$/.exec(text.slice(Math.max(0, from - 2), from))?.[0].length ?? 0;
  return [{ from: from - opening, to, kind }];
}

const fewestDigits = 6;

const digitsIn = (run: Run): Span[] => (digitsOf(run).length < fewestDigits ? [] : [spanOf(run, 'digits')]);
