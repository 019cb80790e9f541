/** A fact about the caller's voice as the core is told it. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallEvent, PlayoutPosition } from '../core/events.ts';
import type { SpeechFact } from '../media/vad/speech-detector.ts';

/** What belongs to the moment of the fact. */
export interface Moment {
  readonly position: PlayoutPosition | undefined;
  /** The call's echo is known so well that this voice is not it. */
  readonly isNoEcho: boolean;
  /** What started may be a hum. */
  readonly isFaint: boolean;
  /** It is no hum, and nobody knows yet whether it is the caller's. */
  readonly isDoubtful?: boolean;
  /** Since VAD last heard voice in speech that goes on. */
  readonly silenceMs: Millis;
  /** Since the last sound of the voice. */
  readonly quietMs: Millis;
  /** Audio that came behind it and is not judged yet. */
  readonly unjudgedMs?: Millis;
  /** For how long at least a voice has lasted that goes on. */
  readonly lastedMs: Millis;
  /** By how much it is softer than the caller's, in dB; undefined as long as that is not known. */
  readonly belowCallerDb?: number | undefined;
}

export function speechEvent(fact: SpeechFact, moment: Moment): CallEvent {
  const {
    position,
    isNoEcho,
    isFaint,
    isDoubtful = false,
    silenceMs,
    quietMs,
    unjudgedMs = 0,
    lastedMs,
    belowCallerDb,
  } = moment;
  const level = belowCallerDb !== undefined && { belowCallerDb: Math.round(belowCallerDb) };
  switch (fact) {
    case 'speech.started':
      return { type: fact, position, isFaint, ...(isDoubtful && { isDoubtful }), ...level };
    case 'speech.confirmed':
      return { type: fact, position, isNoEcho, ...level };
    case 'speech.stopped':
      return { type: fact, position, quietMs, ...(unjudgedMs > 0 && { unjudgedMs }), ...level };
    case 'voice.paused':
      return { type: fact, position, silenceMs };
    case 'voice.lasted':
      return { type: fact, position, lastedMs, ...level };
    default:
      return { type: fact, position };
  }
}
