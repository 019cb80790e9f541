/** The caller's turn: its phases, and the text that STT made of it. */
import {
  flag,
  list,
  maybe,
  number,
  record,
  text,
  time,
  union,
  type Codec,
} from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { PlayoutPosition } from '../events.ts';

/** Text of a turn, in the order in which it was spoken. */
export interface Words {
  readonly finals: Segment[];
  partial: string;
  /** What was known before the audio of the turn was given to another session; counts while that one says nothing. */
  fallback: string;
  /** The newest text came with the sign of STT that the utterance is over. */
  speechFinal: boolean;
  /** When STT last had something new to say of them. */
  toldAt: Millis | undefined;
  /** STT has told that somebody else speaks, and no word of the caller. */
  isOthers?: boolean | undefined;
}

interface Segment {
  readonly text: string;
  /** How much audio of the turn STT had been given when the text came. */
  readonly givenMs: Millis;
}

export type Turn =
  | { readonly phase: 'idle' }
  /** The caller speaks while a response exists. Its output gives way; nothing is dropped yet. */
  | Candidate
  /** The candidate fell silent. The response goes on at `resumeAt`. */
  | Fading
  /** The response has gone on, and what was said into it may still count. */
  | Aside
  | Speaking
  /** Silence; the turn ends at `decideAt` unless the voice comes back. */
  | Pausing
  /** The turn is over; STT owes the final text. */
  | Finalizing;

interface Held {
  readonly words: Words;
  readonly startedAt: Millis;
  /**
   * `held`: the agent gives way, and stands still at a sample. `ducked`: it goes on softly until it is known what was said. `plain`: it goes on
   * as if nobody spoke, from the beginning or because the candidate took too long.
   */
  output: 'plain' | 'held' | 'ducked';
  /** The voice was long enough to interrupt, where words do not say otherwise. */
  loud: boolean;
  /** For how long at least it has lasted, as far as that was told. */
  lastedMs: Millis;
  /** The agent's echo is known so well that this voice is not it. */
  isNoEcho: boolean;
  /** Where playback stood when something was last heard of it. */
  position: PlayoutPosition | undefined;
  /** It began as a hum or too softly to be sure: it holds nothing until it is confirmed. */
  isFaint?: boolean | undefined;
  /** The voice was there when the agent began to speak. */
  wasThere?: boolean | undefined;
  /** By its level it is not the caller's: without words it interrupts nothing. */
  isSoft?: boolean | undefined;
  /** Since when all its words are words of listening. */
  listensAt?: Millis | undefined;
  /** Since when what it asks for may as well be half a phrase of listening. */
  halfAt?: Millis | undefined;
  /** It has lasted long enough to interrupt whatever it says, and was looked at for that. */
  isLong?: boolean;
  /** The response could not be heard yet when it began. */
  isWaiting?: boolean | undefined;
}

export interface Candidate extends Held {
  readonly phase: 'candidate';
}

export interface Fading extends Held {
  readonly phase: 'fading';
  readonly lastVoiceAt: Millis;
  resumeAt: Millis;
  /** A voice that is back may prove to be speech until then. */
  voiceBy?: Millis | undefined;
}

/** STT still owes its text, or it may not interrupt and is answered when the response is over. */
export interface Aside {
  readonly phase: 'aside';
  readonly words: Words;
  readonly startedAt: Millis;
  readonly lastVoiceAt: Millis;
  position: PlayoutPosition | undefined;
}

export interface OwnTurn {
  readonly words: Words;
  readonly startedAt: Millis;
  readonly interrupted: boolean;
  /** When it cut the agent; absent: it cut nothing. */
  readonly cutAt?: Millis | undefined;
  /** By its level the voice is somebody else's, or nobody knows yet whose. */
  isSoft?: boolean | undefined;
  /** It was surely a voice, or lasted as one does: no cough and no door. */
  isVoice?: boolean | undefined;
}

/** What stays of a turn from phase to phase. */
export const ownOf = ({ words, startedAt, interrupted, cutAt, isSoft, isVoice }: OwnTurn): OwnTurn => ({
  words,
  startedAt,
  interrupted,
  cutAt,
  isSoft,
  isVoice,
});

export interface Speaking extends OwnTurn {
  readonly phase: 'speaking';
  /** STT was asked for what it has in a voice that goes on: when, what was known then, and since when. */
  asked?: { readonly at: Millis; readonly text: string; readonly toldAt: Millis | undefined } | undefined;
  /** When it was asked last. */
  askedAt?: Millis | undefined;
}

export interface Pausing extends OwnTurn {
  readonly phase: 'pausing';
  readonly lastVoiceAt: Millis;
  decideAt: Millis;
  /** A voice that may become speech holds the decision back until then. */
  holdBy: Millis;
  /** The voice goes on, and the words have ended (covered.ts). */
  readonly isCovered?: boolean | undefined;
  /** Number of the question to the turn model, and its answer. */
  readonly ask: number;
  probability: number | undefined;
}

export interface Finalizing extends OwnTurn {
  readonly phase: 'finalizing';
  readonly lastVoiceAt: Millis;
  readonly decidedAt: Millis;
  readonly giveUpAt: Millis;
  readonly isCovered?: boolean | undefined;
}

/** Speech that goes on for this long without a new word from an STT that tells words as they come is more than one long word. */
const untoldMs = 1_000;

/** Whether STT has told the beginning of the turn alone. */
export const isUntold = ({ lastVoiceAt, words: { toldAt } }: Finalizing): boolean =>
  toldAt !== undefined && lastVoiceAt - toldAt >= untoldMs;

export const newWords = (): Words => ({
  finals: [],
  partial: '',
  fallback: '',
  speechFinal: false,
  toldAt: undefined,
});

/** Longest text that one turn may bring into the context; text behind it is left out. */
const maxTurnChars = 16_384;

export function addFinal(words: Words, text: string, givenMs: Millis = 0): void {
  const trimmed = text.trim();
  words.partial = '';
  if (trimmed !== '' && wholeText(words).length + trimmed.length < maxTurnChars)
    words.finals.push({ text: trimmed, givenMs });
}

export function setPartial(words: Words, text: string): void {
  words.partial = text.slice(0, maxTurnChars);
}

/** What was said says nothing. */
export function forgetWords(words: Words): void {
  words.finals.length = 0;
  words.partial = '';
  words.fallback = '';
}

/** Finals, then the partial that no final has replaced. */
export function wholeText(words: Words): string {
  const partial = words.partial.trim();
  const fresh = words.finals.some(({ givenMs }) => givenMs >= 0) || partial !== '';
  const newest = fresh ? partial : words.fallback;
  const segments = newest === '' ? words.finals : [...words.finals, { text: newest, givenMs: 0 }];
  return withoutSeam(segments).join(' ');
}

/** Words that a text is compared with another by. */
const bare = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/[^\p{L}\p{N}'-]/gu, ''));
/** What two sessions both heard of the same audio is not longer. */
const longestSeam = 6;

/** The texts of segments. Where another session was given audio once more, words that both have heard count once. */
function withoutSeam(segments: readonly Segment[]): string[] {
  const texts = segments.map(({ text }) => text);
  const seam = segments.findIndex(({ givenMs }) => givenMs >= 0);
  const [before, behind] = [texts[seam - 1], texts[seam]];
  if (before === undefined || behind === undefined) return texts;
  const [ends, begins] = [bare(before), bare(behind)];
  for (let count = Math.min(longestSeam, ends.length, begins.length); count > 0; count -= 1) {
    if (ends.slice(-count).join(' ') !== begins.slice(0, count).join(' ')) continue;
    texts[seam - 1] = before.split(/\s+/).slice(0, -count).join(' ');
    break;
  }
  return texts.filter((text) => text !== '');
}

/**
 * The audio after `fromMs` is given to another session, which will say its text again. Finals of audio before that stay;
 * until the new session says something, the old text counts.
 */
export function forgetReplayed(words: Words, fromMs: Millis): void {
  // Where an earlier session was replaced, its seam is closed for good: the next one opens another.
  const kept = withoutSeam(words.finals.filter(({ givenMs }) => givenMs < fromMs));
  const gone = words.finals.filter(({ givenMs }) => givenMs >= fromMs).map(({ text }) => text);
  const text = [...gone, words.partial.trim()].filter((part) => part !== '').join(' ');
  if (text !== '') words.fallback = text;
  // Negative: before anything the new session says.
  words.finals.splice(0, Infinity, ...kept.map((text) => ({ text, givenMs: -1 })));
  words.partial = '';
}

/**
 * Which utterances STT owes text for. That of a candidate that died is an aside: it belongs to what follows only when it says
 * something.
 */
export interface SttLedger {
  readonly owed: { fate: 'keep' | 'aside'; readonly dueBy: Millis; readonly isEmpty: boolean }[];
  /** STT was given audio since it was last asked to finish. */
  hasNew: boolean;
  /** Since when STT gets the caller's audio. */
  listeningAt: Millis | undefined;
  /** Audio of the present turn that STT got before that. */
  givenMs: Millis;
  /** The audio of the present turn was given to another session once. */
  replayed: boolean;
  /** And that one died as well: some of the turn no session has heard. */
  lost: boolean;
  /** When its session was replaced last: what it tells of the turn comes later. */
  reopenedAt: Millis | undefined;
  /** It has told words in this call. */
  hasTold: boolean;
  /** This STT guesses while the caller speaks, so that its silence means something. */
  guesses: boolean;
  /** It did so in calls before. Absent: nobody knows. */
  streamed?: boolean | undefined;
}

export const newSttLedger = (): SttLedger => ({
  owed: [],
  hasNew: false,
  listeningAt: undefined,
  givenMs: 0,
  replayed: false,
  lost: false,
  reopenedAt: undefined,
  hasTold: false,
  guesses: false,
});

// ---- as text ----

const wordsCodec = record<Words>({
  finals: list(record<Segment>({ text: text(), givenMs: number })),
  partial: text(),
  fallback: text(),
  speechFinal: flag,
  toldAt: maybe(time),
  isOthers: maybe(flag),
});

const positionCodec = maybe(record<PlayoutPosition>({ context: number, sentMs: number }));
const held = {
  words: wordsCodec,
  startedAt: time,
  output: text<Held['output']>(),
  loud: flag,
  lastedMs: number,
  isNoEcho: flag,
  position: positionCodec,
  isFaint: maybe(flag),
  wasThere: maybe(flag),
  isSoft: maybe(flag),
  listensAt: maybe(time),
  halfAt: maybe(time),
  isLong: maybe(flag),
  isWaiting: maybe(flag),
};
const own = {
  words: wordsCodec,
  startedAt: time,
  interrupted: flag,
  cutAt: maybe(time),
  isSoft: maybe(flag),
  isVoice: maybe(flag),
};

export const turnCodec = union<Turn, 'phase'>('phase', {
  idle: {},
  candidate: held,
  fading: { ...held, lastVoiceAt: time, resumeAt: time, voiceBy: maybe(time) },
  aside: { words: wordsCodec, startedAt: time, lastVoiceAt: time, position: positionCodec },
  speaking: {
    ...own,
    asked: maybe(record<NonNullable<Speaking['asked']>>({ at: time, text: text(), toldAt: maybe(time) })),
    askedAt: maybe(time),
  },
  pausing: {
    ...own,
    lastVoiceAt: time,
    decideAt: time,
    holdBy: time,
    isCovered: maybe(flag),
    ask: number,
    probability: maybe(number),
  },
  finalizing: { ...own, lastVoiceAt: time, decidedAt: time, giveUpAt: time, isCovered: maybe(flag) },
});

export const sttLedgerCodec: Codec<SttLedger> = record<SttLedger>({
  owed: list(record<SttLedger['owed'][number]>({ fate: text(), dueBy: time, isEmpty: flag })),
  hasNew: flag,
  listeningAt: maybe(time),
  givenMs: number,
  replayed: flag,
  lost: flag,
  reopenedAt: maybe(time),
  hasTold: flag,
  guesses: flag,
  streamed: maybe(flag),
});
