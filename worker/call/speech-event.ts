/** A fact about the caller's voice as the core is told it. */
import type { Millis } from '../../shared/base/units.ts';
import type { CallEvent, PlayoutPosition } from '../core/events.ts';
import { voicePauseMs, type SpeechFact } from '../media/vad/speech-detector.ts';

/** What belongs to the moment of the fact. */
export interface Moment {
  readonly position: PlayoutPosition | undefined;
  /** The call's echo is known so well that this voice is not it. */
  readonly isNoEcho: boolean;
  /** What started may be a hum. */
  readonly isFaint: boolean;
  /** Since the last sound of the voice. */
  readonly quietMs: Millis;
  /** Audio that came behind it and is not judged yet. */
  readonly unjudgedMs?: Millis;
  /** For how long at least a voice has lasted that goes on. */
  readonly lastedMs: Millis;
}

export function speechEvent(fact: SpeechFact, moment: Moment): CallEvent {
  const { position, isNoEcho, isFaint, quietMs, unjudgedMs = 0, lastedMs } = moment;
  switch (fact) {
    case 'speech.started':
      return { type: fact, position, isFaint };
    case 'speech.confirmed':
      return { type: fact, position, isNoEcho };
    case 'speech.stopped':
      return { type: fact, position, quietMs, ...(unjudgedMs > 0 && { unjudgedMs }) };
    case 'voice.paused':
      return { type: fact, position, silenceMs: voicePauseMs };
    case 'voice.lasted':
      return { type: fact, position, lastedMs };
    default:
      return { type: fact, position };
  }
}
