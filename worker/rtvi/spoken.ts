/**
 * What of the agent's text was said so far, as RTVI clients want to show it while it is said. The conversation tells what was given to
 * TTS and, a piece later, what was heard of it; in between the place is an estimate by the audio that went out. Pure.
 *
 * Invariant: pieces are begun, said and completed in their order; what is said of a piece only grows, by whole words; a piece that was
 * cut is never completed.
 */
import { flag, list, number, record, text } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';

/** A piece of the agent's text on its way. */
interface Piece {
  readonly id: number;
  readonly text: string;
  /** Characters that were reported as said. */
  said: number;
}

export interface SpokenState {
  readonly pieces: Piece[];
  nextId: number;
  /** The response is audible; pieces of one that is not are not told of yet. */
  isAudible: boolean;
  /** Audio that went out since the oldest piece began. */
  sentMs: Millis;
  /** How fast the voice is, by the newest piece that was long enough to tell. */
  msPerChar: Millis;
}

export const spokenCodec = record<SpokenState>({
  pieces: list(record<Piece>({ id: number, text: text(), said: number })),
  nextId: number,
  isAudible: flag,
  sentMs: number,
  msPerChar: number,
});

export const newSpoken = (): SpokenState => ({
  pieces: [],
  nextId: 1,
  isAudible: false,
  sentMs: 0,
  msPerChar: 65,
});

/** What is to be told of a piece. */
export interface Progress {
  readonly id: number;
  readonly text: string;
  /** Characters from the beginning, and those since it was told last. */
  readonly said: number;
  readonly fresh: string;
  readonly status: 'new' | 'in-progress' | 'completed';
}

/** Bounds of a voice's rate: what lies outside was no measurement. */
const [fastest, slowest] = [35, 130];
const tellingChars = 15;
/** An estimate does not reach the end of its piece. */
const surelyUnsaid = 0.9;
/** More pieces than any response has at a time; of more, the oldest are not followed. */
const mostPieces = 64;

const newOf = ({ id, text: whole }: Piece): Progress => ({
  id,
  text: whole,
  said: 0,
  fresh: '',
  status: 'new',
});

/** A piece was given to TTS. */
export function pieceGiven(state: SpokenState, whole: string): Progress[] {
  if (whole.trim() === '') return [];
  const piece: Piece = { id: state.nextId, text: whole.trim(), said: 0 };
  state.nextId += 1;
  state.pieces.push(piece);
  if (state.pieces.length > mostPieces) state.pieces.shift();
  return state.isAudible ? [newOf(piece)] : [];
}

/** The response can be heard from now on. */
export function audible(state: SpokenState): Progress[] {
  state.isAudible = true;
  state.sentMs = 0;
  return state.pieces.map(newOf);
}

/** Audio of so many milliseconds went out. */
export function audioSent(state: SpokenState, ms: Millis): void {
  state.sentMs += ms;
}

/** Where the oldest piece must be by now; nothing while no further word was reached. `behindMs` of the audio is still to be heard. */
export function estimated(state: SpokenState, behindMs: Millis): Progress | undefined {
  const [piece] = state.pieces;
  if (piece === undefined || !state.isAudible) return undefined;
  const chars = Math.min((state.sentMs - behindMs) / state.msPerChar, piece.text.length * surelyUnsaid);
  const said = piece.text.lastIndexOf(' ', chars);
  if (said <= piece.said) return undefined;
  return advance(piece, said, 'in-progress');
}

/** So much of the response was certainly heard, behind what was heard before. */
export function heard(state: SpokenState, part: string): Progress[] {
  const done: Progress[] = [];
  let left = letters(part);
  for (let piece = state.pieces[0]; piece !== undefined; piece = state.pieces[0]) {
    const length = letters(piece.text);
    if (left < length) break;
    left -= length;
    noteRate(state, piece);
    state.pieces.shift();
    state.sentMs = 0;
    done.push(advance(piece, piece.text.length, 'completed'));
  }
  return done;
}

/** The response is over, or was cut: nothing that is left of it is going to be said. */
export function ended(state: SpokenState): void {
  state.pieces.length = 0;
  state.isAudible = false;
  state.sentMs = 0;
}

/** What is compared of a text: how it is spaced differs between what is written and what is said. */
const letters = (whole: string): number => whole.replaceAll(/\s/g, '').length;

function noteRate(state: SpokenState, { text: whole }: Piece): void {
  const rate = state.sentMs / Math.max(1, whole.length);
  if (whole.length >= tellingChars && rate >= fastest && rate <= slowest) state.msPerChar = rate;
}

function advance(piece: Piece, said: number, status: Progress['status']): Progress {
  const fresh = piece.text.slice(piece.said, said);
  piece.said = said;
  return { id: piece.id, text: piece.text, said, fresh, status };
}
