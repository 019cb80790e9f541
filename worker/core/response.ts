/**
 * One response of the bot: an answer of the LLM or a line of its own (greeting, question, apology, farewell), on its
 * way through TTS to the caller. At most one exists at a time, and it belongs to one epoch.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from './actions.ts';
import { newHeardState, type HeardState } from './heard.ts';
import { addText, finishText, newSplitter, type Splitter } from './sentences.ts';

export type LineKind = 'greeting' | 'question' | 'apology' | 'farewell';

interface ResponseBase {
  readonly epoch: number;
  /** Names the response towards TTS and playout; never used twice in a call. */
  readonly context: number;
  readonly source: 'answer' | LineKind;
  /** Text given to TTS so far, as written. */
  text: string;
  /** Length of what TTS was given, after respelling. */
  said: number;
  /** Part of it that was given to TTS in an earlier context of this response. */
  readonly saidBefore: number;
  /** Text that the LLM is expected to write once more before it goes on. */
  expected: string;
  readonly splitter: Splitter;
  readonly heard: HeardState;
  /** The LLM still writes. */
  writing: boolean;
  hangUpAfter: boolean;
  /** TTS failed while it was speaking: text is kept, to be spoken once what exists has been played. */
  broken: boolean;
  firstTextAt: Millis | undefined;
}

export type Response = ResponseBase &
  (
    | { phase: 'waiting'; stallAt: Millis }
    | { phase: 'playing' }
    /** All audio is on the wire; the client may still be playing it. */
    | { phase: 'draining'; endsBy: Millis }
  );

export interface NewResponse {
  readonly epoch: number;
  readonly context: number;
  readonly source: Response['source'];
  readonly stallAt: Millis;
}

export const newResponse = (options: NewResponse): Response => ({
  ...options,
  phase: 'waiting',
  text: '',
  said: 0,
  saidBefore: 0,
  expected: '',
  splitter: newSplitter(),
  heard: newHeardState(),
  writing: options.source === 'answer',
  hangUpAfter: options.source === 'farewell',
  broken: false,
  firstTextAt: undefined,
});

/** Passes text on to TTS as far as it forms pieces. */
export function writeText(
  response: Response,
  text: string,
  out: { pronounce: Respelling; actions: CallAction[] },
): void {
  for (const piece of addText(response.splitter, text)) speakPiece(response, piece, out);
}

/** No more text comes: passes on the rest and flushes TTS. False when there was nothing to speak at all. */
export function finishWriting(
  response: Response,
  out: { pronounce: Respelling; actions: CallAction[] },
): boolean {
  response.writing = false;
  const rest = finishText(response.splitter);
  if (rest !== undefined) speakPiece(response, rest, out);
  if (response.text === '') return false;
  if (!response.broken) out.actions.push({ type: 'tts.flush', context: response.context });
  return true;
}

function speakPiece(
  response: Response,
  piece: string,
  out: { pronounce: Respelling; actions: CallAction[] },
): void {
  response.text += piece;
  if (response.broken) return;
  const said = out.pronounce(piece);
  response.said += said.length;
  response.heard.pieces.push({ endChars: response.text.length, endSaid: response.said, endMs: undefined });
  out.actions.push({ type: 'tts.speak', context: response.context, text: said });
}

export type Respelling = (text: string) => string;

/** Replaces whole words, longest first, whatever their case. */
export function newRespelling(words: Readonly<Record<string, string>>): Respelling {
  const keys = Object.keys(words).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return (text) => text;
  const byLowerCase = new Map(keys.map((key) => [key.toLowerCase(), words[key] ?? key]));
  const escaped = keys.map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (text) => text.replace(pattern, (word) => byLowerCase.get(word.toLowerCase()) ?? word);
}
