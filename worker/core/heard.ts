/**
 * How much of a response the caller heard. Sources in order of trust: marks that the client echoed, then the playback
 * position on the wire less the client's own delay, and within a piece an estimate by the length of its text. The
 * answer never ends inside a word.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { PlayoutPosition } from './events.ts';

/** One piece of text given to TTS. Offsets are cumulative over the response. */
export interface Piece {
  /** End of the piece in the response's text. */
  readonly endChars: number;
  /** End of the piece in what TTS was given, which differs where words are respelled for pronunciation. */
  readonly endSaid: number;
  /** End of the piece in the audio of the response; unknown until TTS has delivered all of it. */
  endMs: Millis | undefined;
}

interface PendingMark {
  readonly chars: number;
  sentAt: Millis | undefined;
}

/** What is known of the client's playout, over the whole call. */
export interface ClientPlayout {
  /** The client has echoed a mark, so a missing echo means something. */
  echoesMarks: boolean;
  /** From sending the last frame before a mark to its echo. */
  delayMs: Millis;
  /** The newest mark of the call: its echo tells the delay even when it comes after the end of its response. */
  newestMark: { readonly id: string; readonly sentAt: Millis } | undefined;
}

/** Marks and piece boundaries of one response. */
export interface HeardState {
  readonly pieces: Piece[];
  readonly marks: Map<string, PendingMark>;
  /** Characters before the newest echoed mark. */
  echoedChars: number;
  /** Since when no frame went out, because the output is held or all of it is on the wire. The client plays on. */
  stoppedAt: Millis | undefined;
}

/** Speaking rate assumed until the first piece of a response has been measured. */
const defaultMsPerChar = 65;

export const newHeardState = (): HeardState => ({
  pieces: [],
  marks: new Map(),
  echoedChars: 0,
  stoppedAt: undefined,
});
export const newClientPlayout = (): ClientPlayout => ({
  echoesMarks: false,
  delayMs: 0,
  newestMark: undefined,
});

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

export function noteMarkSent(heard: HeardState, id: string, now: Millis): void {
  const mark = heard.marks.get(id);
  if (mark !== undefined) mark.sentAt = now;
}

/** Takes an echo. False for an id that is not expected: unknown, echoed before, or cut by a `clear`. */
export function noteMarkPlayed(
  heard: HeardState,
  options: { id: string; client: ClientPlayout; now: Millis },
): boolean {
  const { client, now } = options;
  client.echoesMarks = true;
  if (client.newestMark?.id === options.id) {
    client.delayMs = now - client.newestMark.sentAt;
    client.newestMark = undefined;
  }
  const mark = heard.marks.get(options.id);
  if (mark?.sentAt === undefined) return false;
  client.delayMs = now - mark.sentAt;
  heard.echoedChars = Math.max(heard.echoedChars, mark.chars);
  // Echoes come in the order of the marks, so an earlier one that is missing will not come any more.
  for (const [id, other] of heard.marks) if (other.chars <= mark.chars) heard.marks.delete(id);
  return true;
}

/** Length of the heard prefix of `text` in characters, cut back to the end of a whole word. */
export function heardChars(
  heard: HeardState,
  options: { text: string; position: PlayoutPosition | undefined; client: ClientPlayout; now: Millis },
): number {
  const { text, position, client, now } = options;
  const behindMs = Math.max(0, client.delayMs - (now - (heard.stoppedAt ?? now)));
  const heardMs = Math.max(0, (position?.sentMs ?? 0) - behindMs);
  let chars = Math.min(charsAt(heard.pieces, heardMs), text.length);
  if (client.echoesMarks)
    for (const mark of heard.marks.values())
      if (mark.sentAt !== undefined) chars = Math.min(chars, mark.chars);
  return wholeWords(text, Math.max(chars, heard.echoedChars));
}

function charsAt(pieces: readonly Piece[], ms: Millis): number {
  let fromChars = 0;
  let fromMs = 0;
  for (const piece of pieces) {
    if (piece.endMs === undefined) continue;
    if (ms < piece.endMs) {
      const share = (ms - fromMs) / Math.max(1, piece.endMs - fromMs);
      return Math.floor(fromChars + share * (piece.endChars - fromChars));
    }
    fromChars = piece.endChars;
    fromMs = piece.endMs;
  }
  const msPerChar = fromMs > 0 && fromChars > 0 ? fromMs / fromChars : defaultMsPerChar;
  const spoken = pieces.at(-1)?.endChars ?? 0;
  return Math.min(spoken, Math.floor(fromChars + (ms - fromMs) / msPerChar));
}

function wholeWords(text: string, chars: number): number {
  if (chars >= text.length || /\s/.test(text.charAt(chars))) return Math.min(chars, text.length);
  const before = text.slice(0, chars);
  const wordStart = before.search(/\S+$/);
  return wordStart === -1 ? chars : wordStart;
}
