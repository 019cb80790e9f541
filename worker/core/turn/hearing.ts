/** What STT is asked for: when it listens, what it owes, and what happens when it does not deliver. */
import type { Millis } from '../../../shared/base/units.ts';
import type { Slices } from '../state.ts';
import type { TurnStep } from './turn-actions.ts';
import { addFinal, forgetReplayed, wholeText, type Words } from './turn.ts';

/** A final that came this soon after the start of what is given again belongs to the audio before it. */
const finalLagMs = 1_000;

/** Sends the caller's audio to STT; `fresh` when nothing of what it got before belongs to the turn. */
export function listen(step: TurnStep, fresh: boolean): void {
  const { stt } = step.state.caller;
  step.actions.push({ type: 'stt.listen', fresh });
  if (fresh) {
    stt.givenMs = 0;
    stt.replayed = false;
    stt.lost = false;
    stt.listeningAt = undefined;
  }
  stt.listeningAt ??= step.now;
  stt.hasNew = true;
}

/** Audio of the present turn that STT has got. */
export const givenMs = ({ state, now }: Pick<TurnStep, 'state' | 'now'>): Millis =>
  state.caller.stt.givenMs +
  (state.caller.stt.listeningAt === undefined ? 0 : now - state.caller.stt.listeningAt);

/** Asks for the final text. Returns until when it is waited for: until `latest`, where that leaves STT the time that it needs. */
export function finalize(step: TurnStep, latest?: Millis): Millis {
  step.actions.push({ type: 'stt.finalize' });
  return owe(step, latest);
}

/** Asks for the final text of what was said until now; the turn goes on. */
export function flush(step: TurnStep): void {
  step.actions.push({ type: 'stt.flush' });
  owe(step);
}

function owe(step: TurnStep, latest = Infinity): Millis {
  const {
    caller: { stt, turn },
    setup: { settings },
  } = step.state;
  const isEmpty = !stt.hasNew;
  stt.hasNew = false;
  stt.givenMs = givenMs(step);
  stt.listeningAt = undefined;
  const { sttGiveUpMs, sttGiveUpUnreadyMs } = settings.limits;
  const soonest = step.now + sttGiveUpUnreadyMs;
  const dueBy = step.agent.hasFillers ? Math.min(step.now + sttGiveUpMs, Math.max(latest, soonest)) : soonest;
  stt.owed.push({ fate: turn.phase === 'aside' ? 'aside' : 'keep', dueBy, isEmpty });
  return dueBy;
}

/** What STT still owes was said into a response that has gone on. */
export function setAside({ caller: { stt } }: Slices<'caller'>): void {
  for (const owed of stt.owed) owed.fate = 'aside';
}

/**
 * Replaces the session. The audio of the present turn goes to the new one, once; what was known of it counts until that
 * one says more. False when there was nothing to give again.
 */
export function reopenStt(step: TurnStep): boolean {
  const { state } = step;
  const { stt, turn } = state.caller;
  const owing = stt.owed.length > 0;
  stt.owed.length = 0;
  const words = 'words' in turn ? turn.words : undefined;
  const replay = words !== undefined && !stt.replayed;
  stt.hasNew = replay || stt.listeningAt !== undefined;
  stt.reopenedAt = step.now;
  step.actions.push({ type: 'stt.reopen' });
  if (replay) step.actions.push({ type: 'stt.replay' });
  if (words === undefined) return false;
  if (!replay) {
    stt.lost = true;
    addFinal(words, words.partial, givenMs(step));
    return false;
  }
  stt.replayed = true;
  forgetGiven(step, words);
  if (owing && stt.listeningAt === undefined) finalize(step);
  return true;
}

/** The audio of the turn is given to another session: what is known of the part that it gets, it will say again. */
export function forgetGiven(step: Pick<TurnStep, 'state' | 'now'>, words: Words): void {
  const fromMs = givenMs(step) - step.state.setup.settings.limits.replayMs;
  forgetReplayed(words, fromMs <= 0 ? 0 : fromMs + finalLagMs);
}

/** STT hears speech and says nothing, although it guesses otherwise. */
function deafAt(state: Slices<'setup' | 'caller'>): Millis | undefined {
  const { stt, turn } = state.caller;
  if (turn.phase !== 'speaking' || stt.listeningAt === undefined) return undefined;
  if (!stt.guesses || stt.replayed || stt.owed.length > 0 || wholeText(turn.words) !== '') return undefined;
  return stt.listeningAt + state.setup.settings.limits.sttDeafMs;
}

/** When STT is late. The words that a turn waits for once it is over have their own deadline. */
export function sttDeadline(state: Slices<'setup' | 'caller'>): Millis | undefined {
  const owedBy = state.caller.stt.owed[0]?.dueBy;
  const deaf = deafAt(state);
  return owedBy === undefined ? deaf : deaf === undefined ? owedBy : Math.min(owedBy, deaf);
}

/** A session that breaks its contract once would leave every later finalize one answer short. */
export function onSttDeadline(step: TurnStep): void {
  const { state, now } = step;
  const due = sttDeadline(state);
  if (due === undefined || now < due) return;
  reopenStt(step);
  step.actions.push({ type: 'stt.fault', what: 'stalled' });
}
