/** The caller's side: speech, its words, the end of a turn, and what the caller's words are answered with. */
import { forgetFaults } from '../faults.ts';
import { endSoon, isEnding } from '../course.ts';
import { weighAside } from './aside.ts';
import { beginCandidate, beginFading, prolongFading, reviewCandidate } from './candidate.ts';
import { isPressing } from './dtmf.ts';
import { noteSpeechAfterDecision } from './end-of-turn.ts';
import { answerQuestion, noteTurn } from '../answer/answering.ts';
import { takeTexts } from '../commands.ts';
import { beginEpoch } from '../epoch.ts';
import type { CallEvent } from '../events.ts';
import { listen, onSttDeadline, reopenStt } from './hearing.ts';
import { addUser } from '../delivery/history.ts';
import { beginPause, judgedWithinMs, resumeMarginMs, reviewPause } from './pause.ts';
import { isLastWord } from '../answer/response.ts';
import { startAnswer, startLine } from '../answer/speaking.ts';
import { takeLeave } from './parting.ts';
import {
  dropSpeculation,
  promoteSpeculation,
  reviewSpeculation,
  type Guessing,
} from '../answer/speculation.ts';
import { awaitsWord, nobodySpeaks, noticeFault, type Step, type Slices } from '../state.ts';
import { tell } from '../told.ts';
import { kindOf } from './kind.ts';
import { answerNothing, answerPart, isPart, isUntold } from './misheard.ts';
import {
  addFinal,
  newWords,
  setPartial,
  wholeText,
  type Aside,
  type Finalizing,
  type Pausing,
} from './turn.ts';
import type { Millis } from '../../../shared/base/units.ts';

export function onSpeechStarted(
  step: Step<'setup' | 'numbers' | 'caller' | 'guess' | 'delivery' | 'silence' | 'conversation' | 'tools'>,
  { isFaint = false }: { isFaint?: boolean } = {},
): void {
  const { state, now } = step;
  state.caller.voice = 'speech';
  const { turn } = state.caller;
  switch (turn.phase) {
    case 'idle':
      if (state.delivery.response === undefined) beginTurn(step);
      else if (!isLastWord(state.delivery.response)) beginCandidate(step, { isFaint });
      return;
    case 'aside':
      if (state.delivery.response === undefined) beginTurnWith(step, turn);
      else if (!isLastWord(state.delivery.response)) beginCandidate(step, { isFaint });
      return;
    case 'fading': {
      const { lastVoiceAt: _, resumeAt: __, ...candidate } = turn;
      state.caller.turn = { ...candidate, phase: 'candidate' };
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
    case 'candidate':
    case 'speaking':
      return;
  }
}

function goOn(step: Step<'caller'>, turn: Pausing | Finalizing): void {
  const { words, startedAt, interrupted } = turn;
  step.state.caller.turn = { phase: 'speaking', words, startedAt, interrupted };
  listen(step, false);
}

/** The caller goes on before it is known whether what was said counts. */
function beginTurnWith(
  step: Step<'setup' | 'numbers' | 'caller' | 'guess' | 'silence' | 'conversation' | 'tools'>,
  { words }: Aside,
): void {
  beginEpoch(step);
  step.state.caller.turn = { phase: 'speaking', words, startedAt: step.now, interrupted: false };
  listen(step, false);
}

/** A turn begins: a new epoch. */
function beginTurn(
  step: Step<'setup' | 'numbers' | 'caller' | 'guess' | 'silence' | 'conversation' | 'tools'>,
): void {
  const { state, now } = step;
  beginEpoch(step);
  state.caller.turn = { phase: 'speaking', words: newWords(), startedAt: now, interrupted: false };
  listen(step, true);
}

/** The sound of a word may end this much before VAD's voice; what ended earlier was another. */
const longestFadeMs = 800;

export function onSpeechStopped(
  step: Step,
  { quietMs = 0, unjudgedMs = 0 }: { readonly quietMs?: Millis; readonly unjudgedMs?: Millis } = {},
): void {
  const { state, now } = step;
  const { turn } = state.caller;
  state.caller.voice = 'silent';
  const { stopMs } = state.setup.settings.turn;
  state.caller.soundEndAt = now - Math.max(quietMs, stopMs) - unjudgedMs;
  if (turn.phase === 'candidate') beginFading(step, turn, now - stopMs);
  else if (turn.phase === 'speaking') {
    const holdBy = unjudgedMs > 0 ? now + judgedWithinMs : now;
    beginPause(step, turn, now - stopMs - unjudgedMs, holdBy);
  }
}

/** A short silence, which ends no turn. Of a candidate it is worth asking what was said: the agent stands still meanwhile. */
export function onVoicePaused(
  step: Step<'setup' | 'caller' | 'delivery' | 'silence'>,
  silenceMs: Millis,
): void {
  const { caller } = step.state;
  if (caller.turn.phase !== 'candidate') return;
  caller.voice = 'silent';
  beginFading(step, caller.turn, step.now - silenceMs);
}

/**
 * A voice that may turn out to be speech holds decisions back until it has, but never beyond the longest silence: a noise
 * that comes and goes must not keep the caller waiting.
 */
export function onVoiceResumed(step: Guessing): void {
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
  step: Guessing & Step<'silence' | 'commands'>,
  event: Extract<CallEvent, { type: 'stt.partial' | 'stt.final' }>,
): void {
  const { state } = step;
  const { turn, stt } = state.caller;
  const { text } = event;
  if (event.type === 'stt.partial') stt.guesses = true;
  if (!('words' in turn)) return;
  const { words } = turn;
  const before = wholeText(words);
  if (text.trim() !== '') tell(step, { type: 'user.transcript', text, final: event.type === 'stt.final' });
  if (event.type === 'stt.final') addFinal(words, event.text, stt.givenMs + heardSince(step));
  else setPartial(words, event.text);
  const isTold = event.type === 'stt.final' && text.trim() !== '';
  if (isTold || wholeText(words) !== before) words.toldAt = step.now;
  if (event.text.trim() !== '' || event.speechFinal) words.speechFinal = event.speechFinal;
  if (turn.phase === 'candidate' || turn.phase === 'fading' || turn.phase === 'aside')
    reviewCandidate(step, event.position);
  else if (turn.phase === 'pausing') reviewPause(step);
  else if (turn.phase === 'speaking' && wholeText(words) !== before) reviewSpeculation(step);
}

const heardSince = ({ state, now }: Step<'caller'>): Millis =>
  state.caller.stt.listeningAt === undefined ? 0 : now - state.caller.stt.listeningAt;

export function onSttFinalized(step: Step, isLate: boolean): void {
  const { state } = step;
  if (isLate && hasFallenSilent(state)) {
    onSttFailed(step, false);
    return;
  }
  const given = state.caller.stt.owed.shift();
  if (given === undefined) return;
  if (isLate && noticeFault(step, 'stt', 'given_up')) endSoon(state.course);
  // To have said everything of no audio is no proof of life.
  if (!isLate && !given.isEmpty) forgetFaults(state.faults, 'stt');
  if (given.fate === 'aside') weighAside(step);
  else if (state.caller.turn.phase === 'fading') reviewCandidate(step, step.position);
  if (state.caller.turn.phase === 'finalizing' && state.caller.stt.owed.length === 0)
    answerTurn(step, state.caller.turn);
}

/** STT told of the beginning of the turn alone, and went silent while the caller spoke on: what is known of it is no turn. */
function hasFallenSilent({ caller: { turn, stt } }: Slices<'caller'>): boolean {
  return turn.phase === 'finalizing' && !stt.replayed && isUntold(turn);
}

export function onSttFailed(step: Step, wasThere: boolean): void {
  const { state } = step;
  if (wasThere) forgetFaults(state.faults, 'stt');
  if (noticeFault(step, 'stt', 'failed')) endSoon(state.course);
  const hearsAgain = reopenStt(step);
  if (state.caller.turn.phase === 'finalizing' && !hearsAgain) answerTurn(step, state.caller.turn);
}

// ---- time ----

/** When the turn is over, unless the voice comes back. */
export const decisionDeadline = ({ caller: { turn } }: Slices<'caller'>): Millis | undefined =>
  turn.phase === 'pausing' ? turn.decideAt : undefined;

/** Until when the final text of the turn is waited for. */
export const finalDeadline = ({ caller: { turn, stt } }: Slices<'caller'>): Millis | undefined =>
  turn.phase === 'finalizing' && stt.owed.length > 0 ? turn.giveUpAt : undefined;

export function onFinalDeadline(step: Step): void {
  const { turn } = step.state.caller;
  if (turn.phase === 'finalizing') giveUpFinal(step, turn);
}

/** STT is late, or says nothing of a voice. */
export function onSttSilent(step: Step): void {
  onSttDeadline(step);
  // A session that owed an earlier text was replaced, and the turn cannot be given to another one: nothing more comes.
  const { turn, stt } = step.state.caller;
  if (turn.phase === 'finalizing' && stt.owed.length === 0) answerTurn(step, turn);
}

/** STT owes the final text for too long: the turn is answered with what is known of it. */
function giveUpFinal(step: Step, turn: Finalizing): void {
  const { state } = step;
  // A session that broke its contract once would leave every later finalize one answer short.
  step.actions.push({ type: 'stt.reopen' });
  state.caller.stt.owed.length = 0;
  state.caller.stt.hasNew = false;
  if (noticeFault(step, 'stt', 'given_up')) endSoon(state.course);
  answerTurn(step, turn);
}

// ---- the answer ----

/** An entry of keys is complete: the turn that waited for it is answered with it. */
export function answerWithKeys(step: Step): void {
  const { turn, stt } = step.state.caller;
  if (turn.phase !== 'finalizing' || stt.owed.length > 0) return;
  answerTurn(step, { ...turn, decidedAt: step.now });
  // How long somebody takes for keys says nothing of the service.
  step.state.caller.clock = undefined;
}

/** The words of the turn are known: the LLM answers them, unless they are none. Keys that are being pressed belong to them. */
function answerTurn(step: Step, turn: Finalizing): void {
  const { state, now } = step;
  if (isPressing(state.keys) && !isEnding(state.course)) {
    // Who goes on was not cut off.
    state.caller.patience.decidedAt = undefined;
    return;
  }
  const text = wholeText(turn.words);
  const { lastVoiceAt, decidedAt } = turn;
  const owedSince = decidedAt;
  const { soundEndAt = lastVoiceAt } = state.caller;
  const fadedMs = lastVoiceAt - soundEndAt;
  const clock = {
    epoch: state.numbers.epoch,
    lastVoiceAt,
    soundEndAt: fadedMs >= 0 && fadedMs <= longestFadeMs ? soundEndAt : lastVoiceAt,
    decidedAt,
    finalAt: now,
  };
  state.caller.clock = { ...clock, hasWords: false };
  state.caller.turn = { phase: 'idle' };
  tell(step, { type: 'turn.user_ended', epoch: state.numbers.epoch });
  const kind = kindOf(state, turn, { text });
  if (takeLeave(step, { text: kind === 'words' ? text : '', owedSince })) return;
  if (state.conversation.greets) {
    dropSpeculation(step);
    greetInAnswer(step, kind === 'words' ? text : '', owedSince);
    return;
  }
  const typed = takeTexts(step, state.commands);
  if (kind !== 'words' && typed === '') {
    dropSpeculation(step);
    answerNothing(step, turn, kind);
    return;
  }
  if (typed === '' && state.conversation.notes.length === 0 && isPart(state, turn)) {
    answerPart(step, text, owedSince);
    return;
  }
  state.caller.clock = { ...clock, hasWords: true };
  const said = kind === 'words' ? text : '';
  answerWords(step, said === '' || typed === '' ? said + typed : `${said} ${typed}`, { owedSince });
}

/** Who spoke first is greeted, whatever it was: the words stand in the conversation, and the next answer knows them. */
function greetInAnswer(step: Step, text: string, owedSince: Millis): void {
  const { state } = step;
  state.conversation.greets = false;
  if (text !== '') {
    tell(step, { type: 'user.text', epoch: state.numbers.epoch, text });
    addUser(state.conversation.history, text);
  }
  startLine(step, 'greeting', { owedSince });
}

/** What the caller has said, or typed, enters the conversation and is answered. */
function answerWords(
  step: Step,
  text: string,
  { owedSince, isSilent = false }: { readonly owedSince: Millis; readonly isSilent?: boolean },
): void {
  const { state } = step;
  tell(step, { type: 'user.text', epoch: state.numbers.epoch, text });
  state.caller.wordlessTurns = 0;
  state.silence.idle.asks = 0;
  noteTurn(step);
  if (awaitsWord(state)) {
    dropSpeculation(step);
    addUser(state.conversation.history, text);
    answerQuestion(step, text, owedSince);
    return;
  }
  const promoted = promoteSpeculation(step, text, {
    owedSince,
    enter: () => addUser(state.conversation.history, text),
  });
  if (promoted) return;
  addUser(state.conversation.history, text);
  startAnswer(step, owedSince, { isSilent });
}

/** Typed text is a turn of its own when the caller does not speak, and otherwise a part of the one that is spoken. */
export function answerTyped(step: Step): void {
  const { state } = step;
  if (state.commands.texts.length === 0 || state.delivery.response !== undefined || !nobodySpeaks(state))
    return;
  beginEpoch(step);
  tell(step, { type: 'turn.user_ended', epoch: state.numbers.epoch });
  const isSilent = state.commands.texts.every(({ answer }) => answer === 'text');
  answerWords(step, takeTexts(step, state.commands), { owedSince: step.now, isSilent });
}

/**
 * The response ended on its own while somebody was speaking into it: what was a possible interruption is a turn now.
 * Speech that was not allowed to interrupt becomes a turn as well.
 */
export function adoptSpeech(step: Step): void {
  const { state } = step;
  const { turn } = state.caller;
  if (turn.phase === 'candidate') {
    beginEpoch(step);
    const { words, startedAt } = turn;
    state.caller.turn = { phase: 'speaking', words, startedAt, interrupted: false };
  } else if (turn.phase === 'idle' && state.caller.voice === 'speech') {
    beginTurn(step);
  } else if (turn.phase === 'fading') {
    beginEpoch(step);
    const { words, startedAt, lastVoiceAt } = turn;
    beginPause(step, { words, startedAt, interrupted: false }, lastVoiceAt);
  }
}
