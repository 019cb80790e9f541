/** A pause of the caller: when it is the end of the turn, asked again whenever more is known. */
import { endOfTurn, noteDecision } from './end-of-turn.ts';
import { finalize } from './hearing.ts';
import { reviewSpeculation } from './speculation.ts';
import type { Step } from './state.ts';
import { wholeText, type Speaking } from './turn.ts';

/** Margin on top of `minSpeechMs` for a voice that came back to be reported as speech. */
export const resumeMarginMs = 100;

/** The caller has fallen silent. */
export function beginPause(step: Step, from: Omit<Speaking, 'phase'>, lastVoiceAt: number): void {
  const { state, now } = step;
  const { words, startedAt, interrupted } = from;
  state.lastAsk += 1;
  const ask = state.lastAsk;
  state.turn = {
    phase: 'pausing',
    words,
    startedAt,
    interrupted,
    lastVoiceAt,
    decideAt: now,
    holdBy: now,
    ask,
    probability: undefined,
  };
  if (state.settings.turn.model) step.actions.push({ type: 'turn.judge', ask });
  reviewPause(step);
}

/** More is known about the pause. A turn that is over by now is decided by the deadline that follows at once. */
export function reviewPause(step: Step): void {
  const { state } = step;
  const { turn, settings } = state;
  if (turn.phase !== 'pausing') return;
  const waitMs = endOfTurn(
    {
      text: wholeText(turn.words),
      guessed: turn.words.partial.trim() !== '',
      speechFinal: turn.words.speechFinal,
      probability: turn.probability,
      patienceMs: state.patience.extraMs,
    },
    settings.turn,
  );
  const latest = turn.lastVoiceAt + settings.turn.maxSilenceMs;
  turn.decideAt = Math.min(Math.max(turn.lastVoiceAt + waitMs, turn.holdBy), latest);
  reviewSpeculation(step);
}

export function onTurnJudged(step: Step, ask: number, probability: number | undefined): void {
  const { turn } = step.state;
  if (turn.phase !== 'pausing' || turn.ask !== ask) return;
  turn.probability = probability;
  reviewPause(step);
  decideWhenDue(step);
}

/** Ends the turn when its time has come: STT is asked for the final text. */
export function decideWhenDue(step: Step): void {
  const { state, now } = step;
  const { turn } = state;
  if (turn.phase !== 'pausing' || now < turn.decideAt) return;
  const { words, startedAt, interrupted, lastVoiceAt } = turn;
  noteDecision(state.patience, now);
  const giveUpAt = finalize(step, 'keep');
  state.turn = {
    phase: 'finalizing',
    words,
    startedAt,
    interrupted,
    lastVoiceAt,
    decidedAt: now,
    giveUpAt,
  };
}
