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
import type { Sentences } from '../../../shared/languages/vocabulary.ts';
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

/** What the LLM, or the agent file, has written so far. */
export interface Writing {
  /** `llm`: it still writes. `tools`: those of the newest round run, and it goes on when all have answered. `done`: no more text comes. */
  phase: 'llm' | 'tools' | 'done';
  /** The request to the LLM whose text this is; 0 for a line. */
  round: number;
  /** Rounds of the LLM that ended in tool calls, and where the text of each ends. */
  readonly rounds: RoundPart[];
  /** Text given to TTS so far, as written. */
  text: string;
  /** What does not make a piece yet. */
  readonly splitter: Splitter;
  /** The parts of the text that are fillers: the caller hears them, and nobody repeats them. */
  readonly fillers: { readonly from: number; readonly to: number }[];
  /** A tool waits for the caller's word: it is asked for from this character on. */
  asks: { readonly key: number; readonly from: number } | undefined;
  /** Messages of the caller that entered the conversation while it ran; what is heard of it belongs before them. */
  notes: number;
  /** Text that the LLM is expected to write once more before it goes on. */
  expected: string;
  firstTextAt: Millis | undefined;
  /** When the LLM was last heard of. */
  llmAt: Millis;
}

/** What TTS was given of it, and has made of that. Lengths are in characters after respelling. */
export interface Spoken {
  /**
   * `flushed`: TTS has said that no more audio comes. `broken`: TTS failed while it was speaking, and text is kept to be spoken once what
   * exists has been played.
   */
  phase: 'speaking' | 'flushed' | 'broken';
  /** How much TTS was given, and of how much of it all audio is known to exist. */
  said: number;
  spokenSaid: number;
  /** How much of it was given to TTS in an earlier context of this response. */
  readonly saidBefore: number;
  /** How much audio had been sent, and text given to TTS, when the output last ran dry. */
  starvedMs: Millis;
  starvedSaid: number;
}

/** Its audio on the way to the caller's ear. */
export type Playing = {
  readonly heard: HeardState;
  /** Since when the caller waits and nothing goes out. Undefined while something does. */
  silentAt: Millis | undefined;
} & (
  | { readonly phase: 'waiting' }
  | { readonly phase: 'playing' }
  /** All audio is on the wire; the client may still be playing it. */
  | {
      readonly phase: 'draining';
      readonly sentMs: Millis;
      readonly drainedAt: Millis;
      readonly endsBy: Millis;
    }
);

/** What earlier attempts at it came to, where TTS or the LLM failed. */
export interface Recovery {
  /** Audio of it was heard before TTS had to begin it anew. */
  wasAudible: boolean;
  /** Text of it was told before TTS had to begin it anew, whether or not anybody heard it. */
  hadText: boolean;
  /** What was heard of it before TTS had to begin it anew; and how much of the text, once that is so. */
  heardText: string;
  heardTo: number;
  /** It stands in for one that could not be spoken to its end. */
  isStandIn: boolean;
  /** Times that something stood in for what TTS owed. */
  standIns: number;
  /** It is tried again: nothing was heard of an earlier attempt but that something is wrong. */
  again: boolean;
  /** Some of the silence before it is not counted in `silentAt`. */
  retried: boolean;
}

export interface Response {
  readonly epoch: number;
  /** Names the response towards TTS and playout; never used twice in a call. */
  readonly context: number;
  readonly source: 'answer' | LineKind;
  /** It is written and not spoken: the caller reads it. TTS and playout never hear of it. */
  readonly isSilent: boolean;
  /** The caller's voice may cut it. */
  interruptible: boolean;
  hangUpAfter: boolean;
  readonly writing: Writing;
  readonly spoken: Spoken;
  playing: Playing;
  readonly recovery: Recovery;
}

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
  hangUpAfter: named.source === 'farewell',
  writing: {
    phase: named.source === 'answer' ? 'llm' : 'done',
    round: 0,
    rounds: [],
    text: '',
    splitter: newSplitter(),
    fillers: [],
    asks: undefined,
    notes: 0,
    expected: '',
    firstTextAt: undefined,
    llmAt: now,
  },
  spoken: { phase: 'speaking', said: 0, spokenSaid: 0, saidBefore: 0, starvedMs: 0, starvedSaid: 0 },
  playing: {
    phase: 'waiting',
    heard: newHeardState(msPerChar),
    // A caller who reads does not wait for a sound.
    silentAt: named.isSilent ? undefined : owedSince,
  },
  recovery: {
    wasAudible: false,
    hadText: false,
    heardText: '',
    heardTo: 0,
    isStandIn: false,
    standIns: 0,
    again: false,
    retried: false,
  },
});

export interface Voice {
  readonly pronounce: Respelling;
  readonly sentences: Sentences;
  readonly actions: CallAction[];
  /** Words are spoken as they come: somebody speaks them already. */
  readonly atOnce?: boolean;
}

/** Takes new text of the response, which is told and passed on. Text beyond all measure is left out. */
export function writeText(response: Response, written: string, voice: Voice): void {
  const room = longestAnswerChars - response.writing.text.length - response.writing.splitter.pending.length;
  const text = written.slice(0, Math.max(0, room));
  if (text !== '') tell(voice, { type: 'bot.text', epoch: response.epoch, text });
  passText(response, text, voice);
}

/** Passes text on to TTS as far as it forms pieces. */
export function passText(response: Response, text: string, voice: Voice): void {
  if (voice.atOnce === true) {
    const { splitter } = response.writing;
    const piece = splitter.pending + text;
    splitter.pending = '';
    if (piece !== '') speakPiece(response, piece, voice);
    return;
  }
  for (const piece of addText(response.writing.splitter, text, voice.sentences))
    speakPiece(response, piece, voice);
}

/** No more text comes: passes on the rest. False when nothing that can be said but fillers was written since the newest tool call. */
export function finishWriting(response: Response, voice: Voice): boolean {
  response.writing.phase = 'done';
  speakPending(response, voice);
  const written = unfilled(response, response.writing.rounds.at(-1)?.endChars ?? 0);
  return (response.isSilent ? written : voice.pronounce(written)).trim() !== '';
}

/** The text so far is spoken at once; more may follow. */
export function speakPending(response: Response, voice: Voice): void {
  const rest = finishText(response.writing.splitter);
  if (rest !== undefined) speakPiece(response, rest, voice);
}

/** The same, and what follows is kept apart from it. */
export function pauseWriting(response: Response, voice: Voice): void {
  speakPending(response, voice);
  if (needsSpace(response)) response.writing.splitter.pending = ' ';
}

/** Speaks a sentence of the agent's own behind what was written. */
export function speakSentence(response: Response, sentence: string, voice: Voice): void {
  tell(voice, { type: 'bot.text', epoch: response.epoch, text: sentence });
  pauseWriting(response, voice);
  speakPiece(response, response.writing.splitter.pending + sentence, voice);
  response.writing.splitter.pending = '';
}

const needsSpace = ({ writing: { text } }: Response): boolean => text !== '' && !/\s$/.test(text);

/** Tells TTS that its text is complete. */
export function flush(response: Response, voice: Voice): void {
  if (response.spoken.phase !== 'broken')
    voice.actions.push({ type: 'tts.flush', context: response.context });
}

/** Speaks a filler now, before anything that is still being written. */
export function speakFiller(response: Response, filler: string, voice: Voice): void {
  if (response.isSilent) return;
  const from = response.writing.text.length;
  speakPiece(response, `${needsSpace(response) ? ' ' : ''}${filler} `, voice);
  response.writing.fillers.push({ from, to: response.writing.text.length });
}

/** The newest thing that was said in it is a filler. */
export function endsInFiller({ writing: { fillers, text } }: Response): boolean {
  const last = fillers.at(-1);
  return last !== undefined && last.to > last.from && last.to === text.length;
}

/** Plays the announcement. The caller hears what it says, and like a filler nobody repeats it. */
export function speakRecording(response: Response, text: string, voice: Voice): void {
  const from = response.writing.text.length;
  const said = text === '' ? '' : `${text} `;
  response.writing.text += said;
  if (response.isSilent) return;
  response.spoken.said += said.length;
  const [endChars, endSaid] = [response.writing.text.length, response.spoken.said];
  response.writing.fillers.push({ from, to: endChars });
  response.playing.heard.pieces.push({ endChars, endSaid, endMs: undefined, recorded: true });
  voice.actions.push({ type: 'tts.speak', context: response.context, text: said, recorded: true });
  tell(voice, { type: 'bot.tts_text', epoch: response.epoch, text: said });
}

/** TTS has text, or an end, of which it has not delivered everything. It may report single pieces or not. */
export function ttsOwes(response: Response, { ttsReports }: { readonly ttsReports: boolean }): boolean {
  if (response.writing.phase === 'done' && response.spoken.phase !== 'flushed') return true;
  if (response.spoken.said <= response.spoken.spokenSaid) return false;
  if (ttsReports || response.spoken.said > response.spoken.starvedSaid) return true;
  return response.spoken.starvedMs < response.spoken.said * fastestMsPerChar;
}

/** What is said into it is not listened to: the call ends behind it whatever that is. */
export const isLastWord = ({ hangUpAfter, source, interruptible }: Response): boolean =>
  (hangUpAfter || source === 'closing') && !interruptible;

/** The response begins with the announcement. */
export const isAnnounced = ({ playing: { heard } }: Response): boolean => heard.pieces[0]?.recorded === true;

/** The text from `chars` up to `end`, without the fillers in it and without what is not a piece yet. */
export function unfilled(response: Response, chars: number, end = Infinity): string {
  let text = '';
  let at = chars;
  for (const { from, to } of response.writing.fillers) {
    if (to <= at || from >= end) continue;
    text += response.writing.text.slice(at, Math.max(at, from));
    at = to;
  }
  return text + response.writing.text.slice(at, Math.max(at, end));
}

function speakPiece(response: Response, piece: string, voice: Voice): void {
  response.writing.text += piece;
  if (response.spoken.phase === 'broken' || response.isSilent) return;
  const said = voice.pronounce(piece);
  if (said === '') {
    // Nothing is heard of it, and nothing waits for that.
    const last = response.playing.heard.pieces.at(-1);
    if (last !== undefined) last.endChars = response.writing.text.length;
    return;
  }
  response.spoken.said += said.length;
  const { pieces } = response.playing.heard;
  const flows = voice.atOnce === true;
  // Words that flow are one piece: nobody learns where each of them ends.
  if (flows && pieces.at(-1)?.flows === true && pieces.at(-1)?.endMs === undefined) pieces.pop();
  pieces.push({
    endChars: response.writing.text.length,
    endSaid: response.spoken.said,
    endMs: undefined,
    ...(flows && { flows }),
  });
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

const writingCodec = record<Writing>({
  phase: text(),
  round: number,
  rounds: list(record<RoundPart>({ endChars: number, pairs: opaque(), reasoning: noReasoning })),
  text: text(),
  splitter: splitterCodec,
  fillers: list(record<Writing['fillers'][number]>({ from: number, to: number })),
  asks: maybe(record<NonNullable<Writing['asks']>>({ key: number, from: number })),
  notes: number,
  expected: text(),
  firstTextAt: maybe(time),
  llmAt: time,
});

const spokenCodec = record<Spoken>({
  phase: text(),
  said: number,
  spokenSaid: number,
  saidBefore: number,
  starvedMs: number,
  starvedSaid: number,
});

const sound = { heard: heardCodec, silentAt: maybe(time) };

const playingCodec = union<Playing, 'phase'>('phase', {
  waiting: sound,
  playing: sound,
  draining: { ...sound, sentMs: number, drainedAt: time, endsBy: time },
});

const recoveryCodec = record<Recovery>({
  wasAudible: flag,
  hadText: flag,
  heardText: text(),
  heardTo: number,
  isStandIn: flag,
  standIns: number,
  again: flag,
  retried: flag,
});

export const responseCodec = record<Response>({
  epoch: number,
  context: number,
  source: text(),
  isSilent: flag,
  interruptible: flag,
  hangUpAfter: flag,
  writing: writingCodec,
  spoken: spokenCodec,
  playing: playingCodec,
  recovery: recoveryCodec,
});
