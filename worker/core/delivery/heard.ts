/**
 * How much of a response the caller heard. Sources in order of trust: marks that the client echoed, what the transport
 * acknowledged as played, then the playback position on the wire less what the client has in store; and within a piece the times of
 * words that TTS gave, else an estimate by the length of the text. The answer never ends inside a word.
 */
import { flag, leftOut, list, mapOf, maybe, number, record, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { PlayoutPosition } from '../events.ts';
import { echoSlackMs, noteDelay, storedMs, type ClientPlayout } from './client-playout.ts';

/** One piece of text given to TTS. Offsets are cumulative over the response. */
export interface Piece {
  /** End of the piece in the response's text, and of what stands behind it that nobody says. */
  endChars: number;
  /** End of the piece in what TTS was given, which differs where words are respelled for pronunciation. */
  readonly endSaid: number;
  /** End of the piece in the audio of the response; unknown until TTS has delivered all of it. */
  endMs: Millis | undefined;
  /** It is the announcement, and its sound a recording. */
  readonly recorded?: boolean;
  /** Words of a model that speaks them itself; what follows belongs to the same piece. */
  readonly flows?: boolean;
}

interface PendingMark {
  /** Where it stands in the audio of the response, and in its text; within a piece only the audio says. */
  readonly atMs: Millis;
  readonly chars: number | undefined;
  sentAt: Millis | undefined;
  /** It went out right behind a frame, so that its echo tells the client's delay. */
  tellsDelay?: boolean;
}

/** Marks and piece boundaries of one response. */
export interface HeardState {
  readonly pieces: Piece[];
  readonly marks: Map<string, PendingMark>;
  /** Characters before the newest echoed mark behind a piece, and audio before the newest of all. */
  echoedChars: number;
  echoedMs: Millis;
  /** Where words begin: in what TTS was given, and in its audio. */
  wordTimes: { readonly chars: number; readonly startMs: Millis }[];
  /** What the transport said was played, and when it said so. */
  acknowledged: { readonly playedMs: Millis; readonly saidAt: Millis } | undefined;
  /** When no frames went out: the output was held, TTS had no more, or all of it is on the wire. The client plays on. */
  readonly gaps: { fromAt: Millis; toAt: Millis | undefined }[];
  /** Speaking rate assumed until the first piece of the response has been measured, or the times of its words are known. */
  msPerChar: Millis;
}

/** Speaking rate of a voice that nobody has heard yet. */
export const defaultMsPerChar = 65;
/** Nobody speaks faster: less audio than this for a text means that some of it is missing. */
export const fastestMsPerChar = 35;
/** More are not out at once; of a client that echoes none, the newest are kept. */
const maxMarks = 128;
/** More gaps than any client delay can hold. */
const maxGaps = 16;
const maxWords = 4_000;
/** Less text than this does not tell how fast a voice speaks. */
export const tellingChars = 15;
/** No word takes longer. */
const longestWordMs = 1_500;
/** How far an estimate is off grows with the root of the characters since the last place that is known. */
const doubtPerRootChar = 0.6;
const sentenceEnd = /[.!?…。！？]["'”’)\]]*\s+/g;

export const newHeardState = (msPerChar: Millis = defaultMsPerChar): HeardState => ({
  pieces: [],
  marks: new Map(),
  echoedChars: 0,
  echoedMs: 0,
  wordTimes: [],
  acknowledged: undefined,
  gaps: [],
  msPerChar,
});

/** From now on no frame goes out. */
export function noteGap(heard: HeardState, now: Millis): void {
  const last = heard.gaps.at(-1);
  if (last !== undefined && last.toAt === undefined) {
    last.fromAt = Math.min(last.fromAt, now);
    return;
  }
  heard.gaps.push({ fromAt: now, toAt: undefined });
  if (heard.gaps.length > maxGaps) heard.gaps.shift();
}

/** Frames go out again. */
export function noteFlow(heard: HeardState, now: Millis): void {
  const last = heard.gaps.at(-1);
  if (last !== undefined) last.toAt ??= now;
}

/** TTS says where a word begins. Words come in order; a word that does not is left out. */
export function noteWord(heard: HeardState, word: { chars: number; startMs: Millis }): void {
  const last = heard.wordTimes.at(-1);
  const inOrder = last === undefined || (word.chars > last.chars && word.startMs >= last.startMs);
  if (!inOrder || heard.wordTimes.length >= maxWords) return;
  heard.wordTimes.push(word);
  // A worker that takes the call up does not have these times.
  if (word.chars >= tellingChars && word.startMs > 0) heard.msPerChar = word.startMs / word.chars;
}

/** The transport says how much of the response was played. */
export function noteAcknowledged(heard: HeardState, playedMs: Millis, now: Millis): void {
  if (playedMs >= (heard.acknowledged?.playedMs ?? 0)) heard.acknowledged = { playedMs, saidAt: now };
}

/**
 * Notes that all audio of the first `said` characters given to TTS exists and lasts `audioMs`. Returns how many
 * characters of the response's text that is, or undefined when no piece ends there.
 */
export function noteSpoken(heard: HeardState, said: number, audioMs: Millis): number | undefined {
  let newest: Piece | undefined;
  for (const piece of heard.pieces) if (piece.endSaid <= said) newest = piece;
  // Pieces before one that is known stay unknown: their end is not where this audio ends.
  if (newest === undefined || newest.endMs !== undefined) return undefined;
  newest.endMs = audioMs;
  return newest.endChars;
}

/** A mark is to go out behind a piece. */
export function expectMark(heard: HeardState, id: string, mark: { chars: number; atMs: Millis }): void {
  heard.marks.set(id, { ...mark, sentAt: undefined });
}

/** A mark went out. Where the last frame before it went out earlier, the client has played on since: its echo comes too soon. */
export function noteMarkSent(
  heard: HeardState,
  id: string,
  { client, now, atMs }: { client: ClientPlayout; now: Millis; atMs?: Millis | undefined },
): void {
  const gap = heard.gaps.at(-1);
  const tellsDelay = gap === undefined || gap.toAt !== undefined;
  client.newestMark = tellsDelay ? { id, sentAt: now } : undefined;
  if (atMs !== undefined) noteInside(heard, id, atMs);
  const mark = heard.marks.get(id);
  if (mark === undefined) return;
  mark.sentAt = now;
  mark.tellsDelay = tellsDelay;
}

/** A mark that the core did not ask for stands within a piece. */
function noteInside(heard: HeardState, id: string, atMs: Millis): void {
  heard.marks.set(id, { atMs, chars: undefined, sentAt: undefined });
  const [oldest] = heard.marks.keys();
  if (heard.marks.size > maxMarks && oldest !== undefined) heard.marks.delete(oldest);
}

/** Takes an echo. False for an id that is not expected: unknown, echoed before, or cut by a `clear`. */
export function noteMarkPlayed(
  heard: HeardState,
  options: { id: string; client: ClientPlayout; now: Millis },
): boolean {
  const { client, now } = options;
  client.echoesMarks = true;
  const isNewest = client.newestMark?.id === options.id;
  const mark = heard.marks.get(options.id);
  if (mark?.tellsDelay === true && mark.sentAt !== undefined) noteDelay(client, now - mark.sentAt);
  else if (isNewest && client.newestMark !== undefined) noteDelay(client, now - client.newestMark.sentAt);
  if (isNewest) client.newestMark = undefined;
  if (mark?.sentAt === undefined) return false;
  heard.echoedChars = Math.max(heard.echoedChars, mark.chars ?? 0);
  heard.echoedMs = Math.max(heard.echoedMs, mark.atMs);
  // Echoes come in the order of the marks, so an earlier one that is missing will not come any more.
  for (const [id, other] of heard.marks) if (other.atMs <= mark.atMs) heard.marks.delete(id);
  return true;
}

/** Length of the heard prefix of `text` in characters, cut back to the end of a whole word. */
export function heardChars(
  heard: HeardState,
  options: {
    text: string;
    /** What TTS was given for a text. */
    pronounce: (text: string) => string;
    position: PlayoutPosition | undefined;
    client: ClientPlayout;
    now: Millis;
  },
): number {
  const { text } = options;
  const place = placeAt(heard, playedMs(heard, options), options);
  const whole = wholeWords(text, Math.max(Math.min(place.chars, text.length), heard.echoedChars));
  return withoutDoubtfulSentence(text, whole, { surelyTo: Math.max(place.knownChars, heard.echoedChars) });
}

/** A sentence of which the estimate has only just reached the beginning may not have begun: it is left out. */
function withoutDoubtfulSentence(text: string, chars: number, { surelyTo }: { surelyTo: number }): number {
  const end = [...text.slice(surelyTo, chars).matchAll(sentenceEnd)].at(-1);
  if (end === undefined) return chars;
  const endChars = surelyTo + end.index + end[0].trimEnd().length;
  const beginChars = surelyTo + end.index + end[0].length;
  const doubtfulChars = doubtPerRootChar * Math.sqrt(beginChars - surelyTo);
  return chars - beginChars < doubtfulChars ? endChars : chars;
}

/** How much audio of the response the client has played. */
function playedMs(
  heard: HeardState,
  { position, client, now }: { position: PlayoutPosition | undefined; client: ClientPlayout; now: Millis },
): Millis {
  const sentMs = position?.sentMs ?? 0;
  const { acknowledged } = heard;
  if (acknowledged !== undefined) return Math.min(sentMs, acknowledged.playedMs + now - acknowledged.saidAt);
  const stored = storedMs(client);
  const behindMs = stored - gapsWithin(heard, now - stored, { to: now });
  return Math.max(heard.echoedMs, Math.min(sentMs - Math.max(0, behindMs), unechoedMs(heard, client)));
}

/** Up to where a client may have played that has not echoed what comes next. */
function unechoedMs(heard: HeardState, client: ClientPlayout): Millis {
  if (!client.echoesMarks) return Infinity;
  let leastMs = Infinity;
  for (const { sentAt, atMs } of heard.marks.values())
    if (sentAt !== undefined) leastMs = Math.min(leastMs, atMs);
  return leastMs + echoSlackMs(client);
}

/** Time between two moments in which nothing was sent. */
function gapsWithin(heard: HeardState, from: Millis, { to }: { to: Millis }): Millis {
  let sum = 0;
  for (const gap of heard.gaps) sum += Math.max(0, Math.min(gap.toAt ?? to, to) - Math.max(gap.fromAt, from));
  return sum;
}

/** Characters of the response's text whose audio lies before `ms`. */
export const charsAt = (heard: HeardState, ms: Millis): number => placeAt(heard, ms).chars;

/** The same, cut back to the end of a whole word. */
export const wordsBefore = (heard: HeardState, text: string, ms: Millis): number =>
  wholeWords(text, charsAt(heard, ms));

/** How many characters lie before `ms`, and how many of them certainly do. */
interface Place {
  readonly chars: number;
  readonly knownChars: number;
}

/** The response as it is written, and what TTS was given for a text. */
interface Written {
  readonly text: string;
  readonly pronounce: (text: string) => string;
}

function placeAt(heard: HeardState, ms: Millis, written?: Written): Place {
  let from: Piece = { endChars: 0, endSaid: 0, endMs: 0 };
  let fromMs = 0;
  for (const piece of heard.pieces) {
    if (piece.endMs === undefined) continue;
    if (ms < piece.endMs) {
      const share = (ms - fromMs) / Math.max(1, piece.endMs - fromMs);
      const chars = share * (piece.endChars - from.endChars);
      return placeWithin(heard, ms, { from, to: piece, chars, written });
    }
    from = piece;
    fromMs = piece.endMs;
  }
  const last = heard.pieces.at(-1) ?? from;
  const msPerChar = fromMs > 0 && from.endChars > 0 ? fromMs / from.endChars : heard.msPerChar;
  return placeWithin(heard, ms, { from, to: last, chars: (ms - fromMs) / msPerChar, written });
}

/** By the times of words, else `chars` behind `from`, as the rate of the voice has it: half of a space belongs to each word beside it. */
function placeWithin(
  heard: HeardState,
  ms: Millis,
  options: { from: Piece; to: Piece; chars: number; written: Written | undefined },
): Place {
  const { from, to, chars, written } = options;
  const word = wordAt(heard, ms, { from, to });
  const known = word === undefined ? undefined : textOffset(heard, word, written);
  if (known !== undefined) return { chars: known, knownChars: known };
  const reached = Math.floor(from.endChars + Math.max(0, chars - 0.5));
  return { chars: Math.min(to.endChars, reached), knownChars: from.endChars };
}

/** Where the word begins, in what TTS was given, that was being said at `ms`; undefined where TTS gave no times. */
function wordAt(heard: HeardState, ms: Millis, { from, to }: { from: Piece; to: Piece }): number | undefined {
  let found: number | undefined;
  let foundMs = 0;
  for (const { chars, startMs } of heard.wordTimes) {
    if (chars < from.endSaid) continue;
    if (chars >= to.endSaid) return found;
    found ??= from.endSaid;
    if (startMs > ms) return found;
    found = chars;
    foundMs = startMs;
  }
  // Words that have not been reported yet may have been said since.
  return ms - foundMs > longestWordMs ? undefined : found;
}

/** From an offset in what TTS was given to one in the text as written; they differ where words were respelled. */
function textOffset(heard: HeardState, said: number, written: Written | undefined): number {
  const found = heard.pieces.findIndex(({ endSaid }) => said < endSaid);
  const to = heard.pieces[found];
  if (to === undefined) return heard.pieces.at(-1)?.endChars ?? 0;
  const from = heard.pieces[found - 1] ?? { endChars: 0, endSaid: 0 };
  const saidLength = to.endSaid - from.endSaid;
  const length = to.endChars - from.endChars;
  const offset = said - from.endSaid;
  if (saidLength === length) return from.endChars + offset;
  if (written === undefined) return from.endChars + Math.floor((offset / Math.max(1, saidLength)) * length);
  return (
    from.endChars + wordBefore(offset, written.text.slice(from.endChars, to.endChars), written.pronounce)
  );
}

/** Where the last word of the piece begins that begins at or before `said` in what TTS was given for it. */
function wordBefore(said: number, piece: string, pronounce: (text: string) => string): number {
  let begin = 0;
  for (const { index } of piece.matchAll(/\S+/g))
    if (pronounce(piece.slice(0, index)).length <= said) begin = index;
  return begin;
}

function wholeWords(text: string, chars: number): number {
  if (chars >= text.length || /\s/.test(text.charAt(chars))) return Math.min(chars, text.length);
  const before = text.slice(0, chars);
  const wordStart = before.search(/\S+$/);
  return wordStart === -1 ? chars : wordStart;
}

export const heardCodec = record<HeardState>({
  pieces: list(
    record<Piece>({
      endChars: number,
      endSaid: number,
      endMs: maybe(number),
      recorded: maybe(flag),
      flows: maybe(flag),
    }),
  ),
  marks: mapOf(
    record<PendingMark>({ atMs: number, chars: maybe(number), sentAt: maybe(time), tellsDelay: maybe(flag) }),
  ),
  echoedChars: number,
  echoedMs: number,
  // They are many; without them what was heard is estimated within a piece.
  wordTimes: leftOut(() => []),
  acknowledged: maybe(record<NonNullable<HeardState['acknowledged']>>({ playedMs: number, saidAt: time })),
  gaps: list(record<HeardState['gaps'][number]>({ fromAt: time, toAt: maybe(time) })),
  msPerChar: number,
});
