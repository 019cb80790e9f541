/**
 * Cuts a stream of text into pieces that can be spoken. The first piece is short, so that audio starts early; later
 * ones are sentences, because prosody suffers from every cut. Pieces concatenated are exactly the text that came in.
 */
import { flag, record, text } from '../../../shared/base/codec.ts';

export interface Splitter {
  pending: string;
  /** False until the first piece has been cut. */
  started: boolean;
}

/** No piece is longer, whatever the text looks like. */
const maxPieceChars = 300;
/** A first piece may end at a comma once it has this many characters. */
const firstClauseChars = 24;
/** A first piece ends at a space once it has this many characters. */
const firstBreathChars = 80;
/** Shorter sentences are spoken together with the next one, except at the start of a response. */
const minSentenceChars = 12;

const sentenceEnd = /[.!?…。！？]["'”’)\]]*(?=\s)|\n/g;
const clauseEnd = /[,;:—–](?=\s)/g;
const abbreviation = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|no|vs|etc|approx|e\.g|i\.e|a\.m|p\.m|[a-z])\.$/i;

export const newSplitter = (): Splitter => ({ pending: '', started: false });

/** Adds text and returns the pieces that became complete. */
export function addText(splitter: Splitter, text: string): string[] {
  splitter.pending += text;
  const pieces: string[] = [];
  for (;;) {
    const end = pieceEnd(splitter);
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

function pieceEnd(splitter: Splitter): number | undefined {
  const text = splitter.pending;
  const minChars = splitter.started ? minSentenceChars : 1;
  const end =
    endOf(text, { pattern: sentenceEnd, minChars }) ??
    (splitter.started ? undefined : firstPieceEnd(text)) ??
    (text.length > maxPieceChars ? breathBefore(text, maxPieceChars) : undefined);
  return end !== undefined && end > maxPieceChars ? breathBefore(text, maxPieceChars) : end;
}

function firstPieceEnd(text: string): number | undefined {
  const clause = endOf(text, { pattern: clauseEnd, minChars: firstClauseChars });
  if (clause !== undefined) return clause;
  return text.length > firstBreathChars ? breathBefore(text, firstBreathChars) : undefined;
}

/** End of the first match at or after `minChars` that is not an abbreviation, behind the white space that follows. */
function endOf(text: string, options: { pattern: RegExp; minChars: number }): number | undefined {
  options.pattern.lastIndex = 0;
  for (let match = options.pattern.exec(text); match !== null; match = options.pattern.exec(text)) {
    const end = match.index + match[0].length;
    const piece = text.slice(0, end);
    if (piece.trim().length < options.minChars || abbreviation.test(piece)) continue;
    return end + (/^\s+/.exec(text.slice(end))?.[0].length ?? 0);
  }
  return undefined;
}

/** Behind the last white space before `limit`, or `limit` itself for a word that is longer than a piece. */
function breathBefore(text: string, limit: number): number {
  const space = text.slice(0, limit).search(/\s\S*$/);
  return space > 0 ? space + 1 : limit;
}

export const splitterCodec = record<Splitter>({ pending: text(), started: flag });
