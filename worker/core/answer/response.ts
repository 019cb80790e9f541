/**
 * One response of the agent: an answer of the LLM or a line of its own (greeting, question, apology, misheard, farewell), on its
 * way through TTS to the caller. At most one exists at a time, and it belongs to one epoch.
 */
import {
  flag,
  leftOut,
  list,
  maybe,
  number,
  opaque,
  record,
  text,
  time,
  union,
} from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { CallAction } from '../actions.ts';
import { longestAnswerChars } from '../bounds.ts';
import type { OpaqueReasoning } from '../tools/tools-state.ts';
import { fastestMsPerChar, heardCodec, newHeardState, type HeardState } from '../delivery/heard.ts';
import type { ToolPair } from '../tools/tools-state.ts';
import { withoutMarkup } from './markup.ts';
import { addText, finishText, newSplitter, splitterCodec, type Splitter } from './sentences.ts';
import { tell } from '../told.ts';

/** Lines of the agent definition. */
export type AgentLine = 'greeting' | 'question' | 'apology' | 'misheard' | 'farewell';
/** And those of others; `closing` is the farewell of a command, which the caller may interrupt (docs/reference/agent-link.md, `end`). */
export type LineKind = AgentLine | 'line' | 'rest' | 'closing';

export interface RoundPart {
  readonly endChars: number;
  readonly pairs: readonly ToolPair[];
  readonly reasoning: OpaqueReasoning | undefined;
}

interface ResponseBase {
  readonly epoch: number;
  /** Names the response towards TTS and playout; never used twice in a call. */
  readonly context: number;
  readonly source: 'answer' | LineKind;
  /** Rounds of the LLM that ended in tool calls, and where the text of each ends. */
  readonly rounds: RoundPart[];
  /** Messages of the caller that entered the conversation while it ran; what is heard of it belongs before them. */
  notes: number;
  /** Tools of the newest round run; the LLM goes on when all have answered. */
  inTools: boolean;
  /** A tool waits for the caller's word: it is asked for from this character on. */
  asks: { readonly key: number; readonly from: number } | undefined;
  /** The request to the LLM whose text this is; 0 for a line. */
  round: number;
  /** The caller's voice may cut it. */
  interruptible: boolean;
  /** Text given to TTS so far, as written. */
  text: string;
  /** Length of what TTS was given, after respelling, and of how much of it all audio is known to exist. */
  said: number;
  spokenSaid: number;
  /** Part of what was said that was given to TTS in an earlier context of this response. */
  readonly saidBefore: number;
  /** Text that the LLM is expected to write once more before it goes on. */
  expected: string;
  readonly splitter: Splitter;
  readonly heard: HeardState;
  /** The parts of the text that are fillers: the caller hears them, and nobody repeats them. */
  readonly fillers: { readonly from: number; readonly to: number }[];
  /** The LLM still writes; when it was last heard of. */
  writing: boolean;
  llmAt: Millis;
  hangUpAfter: boolean;
  /** TTS failed while it was speaking: text is kept, to be spoken once what exists has been played. */
  broken: boolean;
  firstTextAt: Millis | undefined;
  /** Audio of it was heard before TTS had to begin it anew. */
  wasAudible: boolean;
  /** What was heard of it before TTS had to begin it anew; and how much of the text, once that is so. */
  heardText: string;
  /** Text of it was told before TTS had to begin it anew, whether or not anybody heard it. */
  hadText: boolean;
  heardTo: number;
  /** It stands in for one that could not be spoken to its end. */
  isStandIn: boolean;
  /** It is tried again: nothing was heard of an earlier attempt but that something is wrong. */
  again: boolean;
  /** Some of the silence before it is not counted in `silentAt`. */
  retried: boolean;
  /** Times that something stood in for what TTS owed. */
  standIns: number;
  /** Since when the caller waits and nothing goes out. Undefined while something does. */
  silentAt: Millis | undefined;
  /** How much had been sent, and given to TTS, when the output last ran dry. */
  starvedMs: Millis;
  starvedSaid: number;
  /** TTS has said that no more audio comes. */
  flushed: boolean;
  /** It is written and not spoken: the caller reads it. TTS and playout never hear of it. */
  readonly isSilent: boolean;
}

export type Response = ResponseBase &
  (
    | { phase: 'waiting' }
    | { phase: 'playing' }
    /** All audio is on the wire; the client may still be playing it. */
    | { phase: 'draining'; sentMs: Millis; drainedAt: Millis; endsBy: Millis }
  );

export interface NewResponse {
  readonly epoch: number;
  readonly context: number;
  readonly source: Response['source'];
  readonly interruptible: boolean;
  /** Since when the caller waits for it. */
  readonly owedSince: Millis;
  /** How fast TTS has spoken so far. */
  readonly msPerChar: Millis;
  readonly isSilent: boolean;
  readonly now: Millis;
}

export const newResponse = ({ owedSince, now, msPerChar, ...named }: NewResponse): Response => ({
  ...named,
  phase: 'waiting',
  round: 0,
  rounds: [],
  notes: 0,
  inTools: false,
  asks: undefined,
  text: '',
  said: 0,
  spokenSaid: 0,
  saidBefore: 0,
  expected: '',
  splitter: newSplitter(),
  heard: newHeardState(msPerChar),
  fillers: [],
  writing: named.source === 'answer',
  llmAt: now,
  hangUpAfter: named.source === 'farewell',
  broken: false,
  firstTextAt: undefined,
  wasAudible: false,
  heardText: '',
  hadText: false,
  heardTo: 0,
  isStandIn: false,
  again: false,
  retried: false,
  standIns: 0,
  // Who reads does not wait for a sound.
  silentAt: named.isSilent ? undefined : owedSince,
  starvedMs: 0,
  starvedSaid: 0,
  flushed: false,
});

export interface Voice {
  readonly pronounce: Respelling;
  readonly actions: CallAction[];
}

/** Takes new text of the response, which is told and passed on. Text beyond all measure is left out. */
export function writeText(response: Response, written: string, voice: Voice): void {
  const room = longestAnswerChars - response.text.length - response.splitter.pending.length;
  const text = written.slice(0, Math.max(0, room));
  if (text !== '') tell(voice, { type: 'bot.text', epoch: response.epoch, text });
  passText(response, text, voice);
}

/** Passes text on to TTS as far as it forms pieces. */
export function passText(response: Response, text: string, voice: Voice): void {
  for (const piece of addText(response.splitter, text)) speakPiece(response, piece, voice);
}

/** No more text comes: passes on the rest. False when nothing that can be said but fillers was written since the newest tool call. */
export function finishWriting(response: Response, voice: Voice): boolean {
  response.writing = false;
  speakPending(response, voice);
  const written = unfilled(response, response.rounds.at(-1)?.endChars ?? 0);
  return (response.isSilent ? written : voice.pronounce(written)).trim() !== '';
}

/** The text so far is spoken at once; more may follow. */
export function speakPending(response: Response, voice: Voice): void {
  const rest = finishText(response.splitter);
  if (rest !== undefined) speakPiece(response, rest, voice);
}

/** The same, and what follows is kept apart from it. */
export function pauseWriting(response: Response, voice: Voice): void {
  speakPending(response, voice);
  if (needsSpace(response)) response.splitter.pending = ' ';
}

/** Speaks a sentence of the agent's own behind what was written. */
export function speakSentence(response: Response, sentence: string, voice: Voice): void {
  tell(voice, { type: 'bot.text', epoch: response.epoch, text: sentence });
  pauseWriting(response, voice);
  speakPiece(response, response.splitter.pending + sentence, voice);
  response.splitter.pending = '';
}

const needsSpace = ({ text }: Response): boolean => text !== '' && !/\s$/.test(text);

/** Tells TTS that its text is complete. */
export function flush(response: Response, voice: Voice): void {
  if (!response.broken) voice.actions.push({ type: 'tts.flush', context: response.context });
}

/** Speaks a filler now, before anything that is still being written. */
export function speakFiller(response: Response, filler: string, voice: Voice): void {
  if (response.isSilent) return;
  const from = response.text.length;
  speakPiece(response, `${needsSpace(response) ? ' ' : ''}${filler} `, voice);
  response.fillers.push({ from, to: response.text.length });
}

/** The newest thing that was said in it is a filler. */
export function endsInFiller({ fillers, text }: Response): boolean {
  const last = fillers.at(-1);
  return last !== undefined && last.to > last.from && last.to === text.length;
}

/** Plays the announcement. The caller hears what it says, and like a filler nobody repeats it. */
export function speakRecording(response: Response, text: string, voice: Voice): void {
  const from = response.text.length;
  const said = text === '' ? '' : `${text} `;
  response.text += said;
  if (response.isSilent) return;
  response.said += said.length;
  const [endChars, endSaid] = [response.text.length, response.said];
  response.fillers.push({ from, to: endChars });
  response.heard.pieces.push({ endChars, endSaid, endMs: undefined, recorded: true });
  voice.actions.push({ type: 'tts.speak', context: response.context, text: said, recorded: true });
  tell(voice, { type: 'bot.tts_text', epoch: response.epoch, text: said });
}

/** TTS has text, or an end, of which it has not delivered everything. It may report single pieces or not. */
export function ttsOwes(response: Response, { ttsReports }: { readonly ttsReports: boolean }): boolean {
  if (!response.writing && !response.flushed) return true;
  if (response.said <= response.spokenSaid) return false;
  if (ttsReports || response.said > response.starvedSaid) return true;
  return response.starvedMs < response.said * fastestMsPerChar;
}

/** What is said into it is not listened to: the call ends behind it whatever that is. */
export const isLastWord = ({ hangUpAfter, source, interruptible }: Response): boolean =>
  (hangUpAfter || source === 'closing') && !interruptible;

/** The response begins with the announcement. */
export const isAnnounced = ({ heard }: Response): boolean => heard.pieces[0]?.recorded === true;

/** The text from `chars` up to `end`, without the fillers in it and without what is not a piece yet. */
export function unfilled(response: Response, chars: number, end = Infinity): string {
  let text = '';
  let at = chars;
  for (const { from, to } of response.fillers) {
    if (to <= at || from >= end) continue;
    text += response.text.slice(at, Math.max(at, from));
    at = to;
  }
  return text + response.text.slice(at, Math.max(at, end));
}

function speakPiece(response: Response, piece: string, voice: Voice): void {
  response.text += piece;
  if (response.broken || response.isSilent) return;
  const said = voice.pronounce(piece);
  if (said === '') {
    // Nothing is heard of it, and nothing waits for that.
    const last = response.heard.pieces.at(-1);
    if (last !== undefined) last.endChars = response.text.length;
    return;
  }
  response.said += said.length;
  response.heard.pieces.push({ endChars: response.text.length, endSaid: response.said, endMs: undefined });
  voice.actions.push({ type: 'tts.speak', context: response.context, text: said });
  tell(voice, { type: 'bot.tts_text', epoch: response.epoch, text: said });
}

export type Respelling = (text: string) => string;

/** Leaves markup out, and replaces whole words, longest first, whatever their case. */
export function newRespelling(words: Readonly<Record<string, string>>): Respelling {
  const keys = Object.keys(words).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return withoutMarkup;
  const byLowerCase = new Map(keys.map((key) => [key.toLowerCase(), words[key] ?? key]));
  const escaped = keys.map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (text) =>
    withoutMarkup(text).replace(pattern, (word) => byLowerCase.get(word.toLowerCase()) ?? word);
}

// ---- as text ----

/** What the provider wants back may be large, and the next round does without it. */
const noReasoning = leftOut(() => undefined);

const base = {
  epoch: number,
  context: number,
  source: text<Response['source']>(),
  rounds: list(record<RoundPart>({ endChars: number, pairs: opaque(), reasoning: noReasoning })),
  notes: number,
  inTools: flag,
  asks: maybe(record<NonNullable<Response['asks']>>({ key: number, from: number })),
  round: number,
  interruptible: flag,
  text: text(),
  said: number,
  spokenSaid: number,
  saidBefore: number,
  expected: text(),
  splitter: splitterCodec,
  heard: heardCodec,
  fillers: opaque<Response['fillers']>(),
  writing: flag,
  llmAt: time,
  hangUpAfter: flag,
  broken: flag,
  firstTextAt: maybe(time),
  wasAudible: flag,
  heardText: text(),
  hadText: flag,
  heardTo: number,
  isStandIn: flag,
  again: flag,
  retried: flag,
  standIns: number,
  silentAt: maybe(time),
  starvedMs: number,
  starvedSaid: number,
  flushed: flag,
  isSilent: flag,
};

export const responseCodec = union<Response, 'phase'>('phase', {
  waiting: base,
  playing: base,
  draining: { ...base, sentMs: number, drainedAt: time, endsBy: time },
});
