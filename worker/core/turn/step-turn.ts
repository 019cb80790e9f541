/**
 * The turn machine: whose turn it is, as far as the caller's side tells. It takes one event and returns what follows, and knows nothing
 * of how the agent answers (docs/architecture/turn.md).
 */
import type { CallEvent } from '../events.ts';
import type { TurnAction, TurnStep } from './turn-actions.ts';
import { settleAside } from './aside.ts';
import { onCandidateDeadline, onSpeechConfirmed, onVoiceLasted } from './candidate.ts';
import {
  adoptSpeech,
  onFinalDeadline,
  onSpeechStarted,
  onSpeechStopped,
  onSttFailed,
  onSttFinalized,
  onSttSilent,
  onSttText,
  onVoicePaused,
  onVoiceResumed,
} from './listening.ts';
import { askWhenDue, decideWhenDue, onTurnJudged, onVoiceCaughtUp } from './pause.ts';
import { askCovered, listenOn } from './covered.ts';
import { resumeTurn } from './resumed.ts';

/** What is heard of the caller. */
export type HearingEvent = Extract<
  CallEvent,
  { type: `speech.${string}` | `voice.${string}` | `turn.${string}` | `stt.${string}` | 'call.resumed' }
>;

export type TurnEvent =
  | HearingEvent
  /** A response is over, of itself. */
  | { readonly type: 'response.ended' }
  /** The turn is answered, and the voice goes on. */
  | { readonly type: 'voice.goes_on' }
  /** Everything else that the event of the call brought about is done. */
  | { readonly type: 'step.settled' }
  /** A deadline of `timers.ts` has been reached. */
  | { readonly type: DueName };

export type DueName =
  'candidate.due' | 'decision.due' | 'early_text.due' | 'final_text.due' | 'stt.due' | 'words.due';

/** Takes one event of the caller's side. Returns what follows, in the order in which it must be performed. */
export function stepTurn(from: Omit<TurnStep, 'actions'>, event: TurnEvent): TurnAction[] {
  const step: TurnStep = { ...from, actions: [] };
  take(step, event);
  return step.actions;
}

function take(step: TurnStep, event: TurnEvent): void {
  switch (event.type) {
    case 'speech.started':
      onSpeechStarted(step, event);
      return;
    case 'speech.confirmed':
      onSpeechConfirmed(step, event);
      return;
    case 'speech.stopped':
      onSpeechStopped(step, event);
      return;
    case 'voice.resumed':
      onVoiceResumed(step);
      return;
    case 'voice.paused':
      onVoicePaused(step, event.silenceMs);
      return;
    case 'voice.lasted':
      onVoiceLasted(step, event);
      return;
    case 'voice.caught_up':
      onVoiceCaughtUp(step);
      return;
    case 'turn.judged':
      onTurnJudged(step, event.ask, event.probability);
      return;
    case 'stt.partial':
    case 'stt.final':
      onSttText(step, event);
      return;
    case 'stt.finalized':
      onSttFinalized(step, event.isLate === true);
      return;
    case 'stt.failed':
      onSttFailed(step, event.wasThere === true);
      return;
    case 'call.resumed':
      resumeTurn(step, event);
      return;
    case 'response.ended':
      adoptSpeech(step);
      return;
    case 'voice.goes_on':
      listenOn(step);
      return;
    case 'step.settled':
      settleAside(step);
      return;
    default:
      onDeadline(step, event.type);
  }
}

function onDeadline(step: TurnStep, due: DueName): void {
  switch (due) {
    case 'candidate.due':
      onCandidateDeadline(step);
      return;
    case 'decision.due':
      decideWhenDue(step);
      return;
    case 'early_text.due':
      askWhenDue(step);
      return;
    case 'final_text.due':
      onFinalDeadline(step);
      return;
    case 'words.due':
      askCovered(step);
      return;
    case 'stt.due':
      onSttSilent(step);
      return;
  }
}
