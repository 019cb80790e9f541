/** What is known of the caller: the turn, the voice, and what STT makes of it. */
import { flag, maybe, number, record, text, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { newPatience, patienceCodec, type Patience } from './end-of-turn.ts';
import { newSttLedger, sttLedgerCodec, turnCodec, type SttLedger, type Turn } from './turn.ts';

/** Times of the turn for whose answer the caller waits. */
export interface TurnClock {
  readonly epoch: number;
  readonly lastVoiceAt: Millis;
  /** When the caller's voice ended as others hear it: VAD takes the dying away of a word for voice. Only figures begin there. */
  readonly soundEndAt: Millis;
  readonly decidedAt: Millis;
  readonly finalAt: Millis;
  /** Only such a turn is measured. */
  readonly hasWords: boolean;
}

/** What the agent has said softly while it listened (`murmur.ts`). */
interface Murmurs {
  /** When the newest was said; undefined: none was. */
  readonly at: Millis | undefined;
  readonly count: number;
  /** The pause that was looked at last, by the number of its question to the turn model. */
  readonly pause: number;
}

export interface Caller {
  turn: Turn;
  /** The caller is speaking, as far as VAD says. */
  voice: 'silent' | 'speech';
  /** When the newest stretch of it began. */
  voiceAt: Millis;
  readonly stt: SttLedger;
  readonly patience: Patience;
  /** Turns in a row in which somebody spoke and STT found no words. */
  wordlessTurns: number;
  clock: TurnClock | undefined;
  /** When the sound of the newest voice ended. */
  soundEndAt: Millis | undefined;
  /** Absent: the agent has said nothing while it listened. */
  murmurs?: Murmurs | undefined;
}

export const newCaller = (): Caller => ({
  turn: { phase: 'idle' },
  voice: 'silent',
  voiceAt: 0,
  stt: newSttLedger(),
  patience: newPatience(),
  wordlessTurns: 0,
  clock: undefined,
  soundEndAt: undefined,
});

/** The sound of a word may end this much before VAD's voice; what ended earlier was another. */
const longestFadeMs = 800;

/** When the caller's voice ended as others hear it, of a voice that VAD has heard until then. */
export function soundEnd({ soundEndAt = Infinity }: Caller, lastVoiceAt: Millis): Millis {
  const fadedMs = lastVoiceAt - soundEndAt;
  return fadedMs >= 0 && fadedMs <= longestFadeMs ? soundEndAt : lastVoiceAt;
}

/** A line or an answer of the agent's own waits while the caller speaks (docs/reference/agent-link.md, Lines). */
export const isQuiet = ({ turn, voice }: Caller): boolean => turn.phase === 'idle' && voice === 'silent';

/** How the output gives way to a voice that may be an interruption. */
export const outputFor = ({ turn }: Caller): 'plain' | 'held' | 'ducked' =>
  turn.phase === 'candidate' || turn.phase === 'fading' ? turn.output : 'plain';

const murmursCodec = record<Murmurs>({ at: maybe(time), count: number, pause: number });

export const callerCodec = record<Caller>({
  turn: turnCodec,
  voice: text(),
  voiceAt: time,
  stt: sttLedgerCodec,
  patience: patienceCodec,
  wordlessTurns: number,
  clock: maybe(
    record<TurnClock>({
      epoch: number,
      lastVoiceAt: time,
      soundEndAt: time,
      decidedAt: time,
      finalAt: time,
      hasWords: flag,
    }),
  ),
  soundEndAt: maybe(time),
  murmurs: maybe(murmursCodec),
});
