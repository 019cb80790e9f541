/** What is heard of the caller: the voice, the words that STT makes of it, and when the turn is over. */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallEvent } from '../events.ts';
import type { Slices } from '../state.ts';
import { tell } from '../told.ts';
import type { TurnStep } from './turn-actions.ts';
import { weighAside } from './aside.ts';
import { withoutNotes } from './backchannels.ts';
import {
  beginCandidate,
  beginFading,
  doubtCandidate,
  giveWay,
  mayCut,
  isSoft,
  prolongFading,
  reviewCandidate,
} from './candidate.ts';
import { endBehindWords, endCovered, saysMore } from './covered.ts';
import { noteSpeechAfterDecision } from './end-of-turn.ts';
import { listen, onSttDeadline, reopenStt } from './hearing.ts';
import { beginPause, judgedWithinMs, resumeMarginMs, reviewPause, tellPause } from './pause.ts';
import {
  addFinal,
  isUntold,
  newWords,
  ownOf,
  setPartial,
  wholeText,
  type Aside,
  type Candidate,
  type Finalizing,
  type Pausing,
} from './turn.ts';
import { unwritten } from '../unwritten.ts';

type SpeechStarted = Partial<Extract<CallEvent, { type: 'speech.started' }>>;

export function onSpeechStarted(step: TurnStep, event: SpeechStarted): void {
  const { state, now } = step;
  state.caller.voice = 'speech';
  state.caller.voiceAt = now;
  const { turn } = state.caller;
  switch (turn.phase) {
    case 'idle':
      if (step.agent.response === undefined) beginTurn(step, { soft: isSoft(event) });
      else if (!step.agent.response.isLastWord) beginCandidate(step, event);
      return;
    case 'aside':
      if (step.agent.response === undefined) beginTurnWith(step, turn, isSoft(event));
      else if (!step.agent.response.isLastWord) beginCandidate(step, event);
      return;
    case 'fading': {
      const { lastVoiceAt: _, resumeAt: __, ...candidate } = turn;
      const again: Candidate = { ...candidate, phase: 'candidate' };
      state.caller.turn = again;
      // It may have become the farewell meanwhile.
      if (again.output === 'ducked' && mayCut(step.agent)) giveWay(step, again);
      listen(step, false);
      return;
    }
    case 'finalizing':
      // The caller goes on: what STT still owes belongs to the same turn.
      noteSpeechAfterDecision(state.caller.patience, now);
      goOn(step, turn);
      return;
    case 'pausing':
      goOn(step, turn);
      return;
    case 'speaking':
      // The question to STT in the stretch before says nothing of the words of this one.
      if (wholeText(turn.words) !== '') turn.asked = undefined;
      return;
    case 'candidate':
      doubtCandidate(step, turn, event);
      return;
  }
}

function goOn(step: TurnStep, turn: Pausing | Finalizing): void {
  step.state.caller.turn = { phase: 'speaking', ...ownOf(turn) };
  listen(step, false);
}

/** The caller goes on before it is known whether what was said counts. */
function beginTurnWith(step: TurnStep, { words }: Aside, soft: boolean): void {
  step.actions.push({ type: 'turn.begun' });
  step.state.caller.turn = {
    phase: 'speaking',
    words,
    startedAt: step.now,
    interrupted: false,
    isSoft: soft,
    isVoice: true,
  };
  listen(step, false);
}

/** A turn begins: a new epoch. */
function beginTurn(step: TurnStep, { soft, isVoice }: { soft: boolean; isVoice?: boolean }): void {
  const { state, now } = step;
  step.actions.push({ type: 'turn.begun' });
  state.caller.turn = {
    phase: 'speaking',
    words: newWords(),
    startedAt: now,
    interrupted: false,
    isSoft: soft,
    isVoice,
  };
  listen(step, true);
}

export function onSpeechStopped(
  step: TurnStep,
  { quietMs = 0, unjudgedMs = 0 }: { readonly quietMs?: Millis; readonly unjudgedMs?: Millis } = {},
): void {
  const { state, now } = step;
  const { turn } = state.caller;
  state.caller.voice = 'silent';
  const { stopMs } = state.setup.settings.turn;
  state.caller.soundEndAt = now - Math.max(quietMs, stopMs) - unjudgedMs;
  if (turn.phase === 'candidate') beginFading(step, turn, { lastVoiceAt: now - stopMs });
  else if (turn.phase === 'speaking') {
    const holdBy = unjudgedMs > 0 ? now + judgedWithinMs : now;
    beginPause(step, turn, { lastVoiceAt: now - stopMs - unjudgedMs, holdBy });
  }
}

/**
 * A short silence, which ends no turn. Of a candidate it is worth asking what was said: the agent stands still meanwhile. The text that STT has
 * written for good since then is all that it heard: a guess is as a rule behind the voice, and an answer to it would be asked for in vain.
 */
export function onVoicePaused(step: TurnStep, silenceMs: Millis): void {
  const { caller } = step.state;
  if (caller.turn.phase === 'speaking') {
    const { words } = caller.turn;
    const isWritten = words.partial.trim() === '' && (words.toldAt ?? -Infinity) >= step.now - silenceMs;
    if (isWritten) tellPause(step, words);
  }
  if (caller.turn.phase !== 'candidate') return;
  caller.voice = 'silent';
  beginFading(step, caller.turn, { lastVoiceAt: step.now - silenceMs });
}

/**
 * A voice that may turn out to be speech holds decisions back until it has, but never beyond the longest silence: a noise
 * that comes and goes must not keep the caller waiting.
 */
export function onVoiceResumed(step: TurnStep): void {
  const {
    caller: { turn, stt },
    setup: { settings },
  } = step.state;
  if (turn.phase === 'fading') {
    prolongFading(step, turn);
  } else if (turn.phase === 'pausing') {
    turn.holdBy = step.now + settings.turn.minSpeechMs + resumeMarginMs;
    // It may be too short to be reported as speech, and a word all the same.
    if (stt.listeningAt === undefined) listen(step, false);
    reviewPause(step);
  }
}

export function onSttText(
  step: TurnStep,
  event: Extract<CallEvent, { type: 'stt.partial' | 'stt.final' }>,
): void {
  const { state } = step;
  const { turn, stt } = state.caller;
  const text = withoutNotes(event.text);
  if (event.type === 'stt.partial') stt.guesses = true;
  // One that is late, or gone, says nothing of a voice by its silence.
  else if (text === unwritten) stt.guesses = false;
  if (text.trim() !== '') stt.hasTold = true;
  if (!('words' in turn)) return;
  const { words } = turn;
  const before = wholeText(words);
  if (text.trim() !== '' && text !== unwritten)
    tell(step, { type: 'user.transcript', text, final: event.type === 'stt.final' });
  if (event.type === 'stt.final') addFinal(words, text, stt.givenMs + heardSince(step));
  else setPartial(words, text);
  words.isOthers = (event.isOthers === true || words.isOthers === true) && wholeText(words) === '';
  const isTold = event.type === 'stt.final' && text.trim() !== '';
  if (isTold || wholeText(words) !== before) words.toldAt = step.now;
  if (text.trim() !== '' || event.speechFinal) words.speechFinal = event.speechFinal;
  if (turn.phase === 'candidate' || turn.phase === 'fading' || turn.phase === 'aside')
    reviewCandidate(step, event.position);
  else if (turn.phase === 'pausing' && turn.isCovered === true && saysMore(before, words)) goOn(step, turn);
  else if (turn.phase === 'pausing') reviewPause(step);
  else if (turn.phase === 'speaking' && wholeText(words) !== before)
    step.actions.push({ type: 'words.changed', text: wholeText(words) });
  if (event.isOthers === true) endBehindWords(step);
}

const heardSince = ({ state, now }: TurnStep): Millis =>
  state.caller.stt.listeningAt === undefined ? 0 : now - state.caller.stt.listeningAt;

export function onSttFinalized(step: TurnStep, isLate: boolean): void {
  const { state } = step;
  if (isLate && hasFallenSilent(state)) {
    onSttFailed(step, false);
    return;
  }
  const given = state.caller.stt.owed.shift();
  if (given === undefined) return;
  if (isLate) step.actions.push({ type: 'stt.fault', what: 'given_up' });
  // To have said everything of no audio is no proof of life.
  if (!isLate && !given.isEmpty) step.actions.push({ type: 'stt.works' });
  if (given.fate === 'aside') weighAside(step);
  else if (state.caller.turn.phase === 'speaking') endCovered(step);
  else if (state.caller.turn.phase === 'fading') reviewCandidate(step, step.position);
  if (state.caller.turn.phase === 'finalizing' && state.caller.stt.owed.length === 0)
    end(step, state.caller.turn);
}

/** STT told of the beginning of the turn alone, and went silent while the caller spoke on: what is known of it is no turn. */
function hasFallenSilent({ caller: { turn, stt } }: Slices<'caller'>): boolean {
  return turn.phase === 'finalizing' && !stt.replayed && isUntold(turn);
}

export function onSttFailed(step: TurnStep, wasThere: boolean): void {
  const { state } = step;
  if (wasThere) step.actions.push({ type: 'stt.works' });
  step.actions.push({ type: 'stt.fault', what: 'failed' });
  const hearsAgain = reopenStt(step);
  if (state.caller.turn.phase === 'finalizing' && !hearsAgain) end(step, state.caller.turn);
}

// ---- time ----

/** When the turn is over, unless the voice comes back. */
export const decisionDeadline = ({ caller: { turn } }: Slices<'caller'>): Millis | undefined =>
  turn.phase === 'pausing' ? turn.decideAt : undefined;

/** Until when the final text of the turn is waited for. */
export const finalDeadline = ({ caller: { turn, stt } }: Slices<'caller'>): Millis | undefined =>
  turn.phase === 'finalizing' && stt.owed.length > 0 ? turn.giveUpAt : undefined;

export function onFinalDeadline(step: TurnStep): void {
  const { turn } = step.state.caller;
  if (turn.phase === 'finalizing') giveUpFinal(step, turn);
}

/** STT is late, or says nothing of a voice. */
export function onSttSilent(step: TurnStep): void {
  onSttDeadline(step);
  // A session that owed an earlier text was replaced, and the turn cannot be given to another one: nothing more comes.
  const { turn, stt } = step.state.caller;
  if (turn.phase === 'finalizing' && stt.owed.length === 0) end(step, turn);
}

/** The words of the turn are as well known as they will ever be. */
function end(step: TurnStep, turn: Finalizing): void {
  step.actions.push({ type: 'turn.ended', turn });
}

/** STT owes the final text for too long: the turn is answered with what is known of it. */
function giveUpFinal(step: TurnStep, turn: Finalizing): void {
  const { state } = step;
  // A session that broke its contract once would leave every later finalize one answer short.
  step.actions.push({ type: 'stt.reopen' });
  state.caller.stt.owed.length = 0;
  state.caller.stt.hasNew = false;
  step.actions.push({ type: 'stt.fault', what: 'given_up' });
  end(step, turn);
}

/**
 * The response ended on its own while somebody was speaking into it: what was a possible interruption is a turn now.
 * Speech that was not allowed to interrupt becomes a turn as well.
 */
export function adoptSpeech(step: TurnStep): void {
  const { state } = step;
  const { turn } = state.caller;
  if (turn.phase === 'candidate') {
    step.actions.push({ type: 'turn.begun' });
    const { words, startedAt } = turn;
    state.caller.turn = {
      phase: 'speaking',
      words,
      startedAt,
      interrupted: false,
      isSoft: turn.isSoft,
      isVoice: turn.loud,
    };
  } else if (turn.phase === 'idle' && state.caller.voice === 'speech') {
    // Whether it is a voice was told while nobody asked.
    beginTurn(step, { soft: false, isVoice: true });
  } else if (turn.phase === 'fading') {
    step.actions.push({ type: 'turn.begun' });
    const { words, startedAt, lastVoiceAt } = turn;
    const own = { words, startedAt, interrupted: false, isSoft: turn.isSoft, isVoice: turn.loud };
    beginPause(step, own, { lastVoiceAt });
  }
}
