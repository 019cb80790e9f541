/** The caller's side of the conversation: who speaks, what STT made of it, and when the turn is over. */
import type { Millis } from '../../shared/base/units.ts';

/** Text of a turn, in the order in which it was spoken. */
export interface Words {
  finals: string[];
  partial: string;
}

export type Turn =
  | { readonly phase: 'idle' }
  /** The caller speaks while a response exists. Its output is held at a sample; nothing is dropped yet. */
  | { readonly phase: 'candidate'; readonly words: Words }
  /** The candidate fell silent. The response goes on at `resumeAt`. */
  | { readonly phase: 'fading'; readonly words: Words; readonly lastVoiceAt: Millis; resumeAt: Millis }
  | {
      readonly phase: 'speaking';
      readonly words: Words;
      readonly startedAt: Millis;
      readonly interrupted: boolean;
    }
  /** Silence; the turn ends at `decideAt` unless the voice comes back. */
  | {
      readonly phase: 'pausing';
      readonly words: Words;
      readonly startedAt: Millis;
      readonly interrupted: boolean;
      readonly lastVoiceAt: Millis;
      decideAt: Millis;
    }
  /** The turn is over; STT owes the final text. */
  | {
      readonly phase: 'finalizing';
      readonly words: Words;
      readonly startedAt: Millis;
      readonly interrupted: boolean;
      readonly lastVoiceAt: Millis;
      readonly decidedAt: Millis;
      readonly giveUpAt: Millis;
    };

export const newWords = (): Words => ({ finals: [], partial: '' });

/** Longest text that one turn may bring into the context; what comes after it is left out. */
const maxTurnChars = 16_384;

export function addFinal(words: Words, text: string): void {
  const trimmed = text.trim();
  words.partial = '';
  if (trimmed !== '' && wholeText(words).length + trimmed.length < maxTurnChars) words.finals.push(trimmed);
}

/** Finals, then the partial that no final has replaced. */
export const wholeText = (words: Words): string =>
  [...words.finals, words.partial.trim()].filter((part) => part !== '').join(' ');

/** Which utterance STT owes text for: a finalize that was asked for a candidate that died is thrown away. */
export interface SttLedger {
  readonly owed: ('keep' | 'discard')[];
}
