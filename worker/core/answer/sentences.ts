/**
 * Cuts a stream of text into pieces that can be spoken. The first piece is short, so that audio starts early; later
 * ones are sentences, or the clauses of a long one, because prosody suffers from every other cut. No piece ends behind a word that leads
 * on to the next ("and", "the"). Pieces concatenated are exactly the text that came in.
 */
import { flag, record, text } from '../../../shared/base/codec.ts';
import type { Sentences } from '../../../shared/languages/vocabulary.ts';

export interface Splitter {
  pending: string;
  /** False until the first piece has been cut. */
  started: boolean;
}

/** No piece is longer, whatever the text looks like. */
const maxPieceChars = 300;
/** So much of the text is looked at for a piece and what follows it: a model that loops may write thousands of line feeds or full stops at once. */
const lookChars = 2 * maxPieceChars;
/** A first piece may end at a comma once it has this many characters. */
const firstClauseChars = 24;
/** A first piece ends at a space once it has this many characters. */
const firstBreathChars = 80;
/** A sentence that goes on for longer is spoken clause by clause: what was heard of it is known at each cut. */
const longSentenceChars = 120;
/** A clause of it has at least so many characters. */
const leastClauseChars = 40;
/** Shorter sentences are spoken together with the next one, except at the start of a response. */
const minSentenceChars = 12;

/** Scripts without spaces have ends of their own, which no space follows; a bracket that closes may. */
const sentenceEnd =
  /[。！？｡]+["'”’」』）)\]]*(?=[^。！？｡"'”’」』）)\]])|[\p{STerm}…]["'”’»」』）)\]]*(?=\s)|\n/gu;
const clauseEnd = /[，、；：]|[,;:—–،؛](?=\s)/g;
/** "Am 3. Mai", "3. katta": a number whose full stop makes it an ordinal. */
const ordinal = /(?<![\d.,])\d{1,2}\.$/;
const isSmall = /^["'“‘«(]*\p{Ll}/u;
const usesCapitals = /\p{Lu}/u;
/** A tag of HTML that is not closed yet. */
const openTag = /(?<![\p{L}\p{N}])<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?$/iu;
/** One of these takes as long to say as three letters of others. */
const dense = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** Ends in a whole sentence. */
export const wholeSentence = /[\p{STerm}…]["'”’»」』）)]*\s*$/u;

export const newSplitter = (): Splitter => ({ pending: '', started: false });

/** Adds text and returns the pieces that became complete. */
export function addText(splitter: Splitter, text: string, words: Sentences): string[] {
  splitter.pending += text;
  const pieces: string[] = [];
  for (;;) {
    const end = pieceEnd(splitter, words);
    if (end === undefined) return pieces;
    pieces.push(splitter.pending.slice(0, end));
    splitter.pending = splitter.pending.slice(end);
    splitter.started = true;
  }
}

/** Returns what is left when no more text comes; undefined when it holds nothing to speak. */
export function finishText(splitter: Splitter): string | undefined {
  const rest = splitter.pending;
  splitter.pending = '';
  return rest.trim() === '' ? undefined : rest;
}

/** What is pending is a sentence already, whatever follows: it waits for its end alone, which no text has shown yet. */
export const isSentence = ({ pending }: Splitter, { abbreviation }: Sentences): boolean =>
  /[^\d\s][\p{STerm}…]["'”’»」』）)\]]*\s*$/u.test(pending) && !abbreviation.test(pending.trimEnd());

function pieceEnd(splitter: Splitter, words: Sentences): number | undefined {
  const text = splitter.pending.slice(0, lookChars);
  const minChars = splitter.started ? minSentenceChars : 1;
  const end =
    endOf(text, { pattern: sentenceEnd, minChars, words }) ??
    (splitter.started ? longSentenceEnd(text, words) : firstPieceEnd(text, words)) ??
    (text.length > maxPieceChars ? breathBefore(text, maxPieceChars, words) : undefined);
  return end !== undefined && end > maxPieceChars ? breathBefore(text, maxPieceChars, words) : end;
}

function firstPieceEnd(text: string, words: Sentences): number | undefined {
  const clause = endOf(text, { pattern: clauseEnd, minChars: firstClauseChars, words });
  if (clause !== undefined) return clause;
  return text.length > firstBreathChars ? breathBefore(text, firstBreathChars, words) : undefined;
}

/** The first clause of a sentence that is long already. */
const longSentenceEnd = (text: string, words: Sentences): number | undefined =>
  sizeOf(text.slice(0, maxPieceChars)) > longSentenceChars
    ? endOf(text, { pattern: clauseEnd, minChars: leastClauseChars, words })
    : undefined;

/** End of the first match at or after `minChars` behind which the sentence does not go on, behind the white space that follows. */
function endOf(
  text: string,
  options: { pattern: RegExp; minChars: number; words: Sentences },
): number | undefined {
  options.pattern.lastIndex = 0;
  for (let match = options.pattern.exec(text); match !== null; match = options.pattern.exec(text)) {
    const end = match.index + match[0].length;
    const piece = text.slice(0, end);
    if (sizeOf(piece) < options.minChars || goesOn(piece, text.slice(end), options.words)) continue;
    return end + (/^\s+/.exec(text.slice(end))?.[0].length ?? 0);
  }
  return undefined;
}

const sizeOf = (text: string): number => text.trim().length + 2 * (text.match(dense)?.length ?? 0);

/** The sentence is not over where `piece` ends, as far as is known of what follows. */
function goesOn(piece: string, rest: string, words: Sentences): boolean {
  const next = rest.trimStart();
  const isLast = words.lastAbbreviation.test(piece) && /^\p{Lu}/u.test(next) && words.opener.test(next);
  if ((words.abbreviation.test(piece) && !isLast) || openTag.test(piece)) return true;
  // A small letter begins no sentence, but in a text that has none of the others.
  if (isSmall.test(next) && usesCapitals.test(piece) && wholeSentence.test(piece)) return true;
  if (!ordinal.test(piece)) return false;
  return next === '' || words.beforeOrdinal.test(piece) || words.afterOrdinal.test(next);
}

/**
 * Behind the last white space before `limit` where a speaker may breathe, or behind the last of all where there is none; `limit` itself
 * for a word that is longer than a piece.
 */
function breathBefore(text: string, limit: number, { leadsOn }: Sentences): number {
  const spaces = [...text.slice(0, limit).matchAll(/\s+/g)].map(
    ({ index, 0: space }) => index + space.length,
  );
  const mayBreathe = (at: number): boolean => {
    const [last = ''] = /[\p{L}\p{M}'’]+(?=\s*$)/u.exec(text.slice(0, at)) ?? [];
    return (
      at >= limit / 3 &&
      !openTag.test(text.slice(0, at)) &&
      !leadsOn.has(last.replace('’', "'").toLowerCase())
    );
  };
  const at = spaces.findLast(mayBreathe) ?? spaces.at(-1);
  return at !== undefined && at > 0 && at <= limit ? at : limit;
}

export const splitterCodec = record<Splitter>({ pending: text(), started: flag });
