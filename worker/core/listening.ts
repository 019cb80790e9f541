/** The caller's side: speech, its words, the end of a turn, interruptions and keys. */
import { dtmfDeadline, keysNote, pressKey } from './dtmf.ts';
import type { PlayoutPosition } from './events.ts';
import { addUser } from './history.ts';
import { cutResponse, nobodySpeaks, startAnswer, startLine, startOwedAnswer } from './speaking.ts';
import { noticeFault, type Step } from './state.ts';
import { addFinal, newWords, wholeText, type Turn, type Words } from './turn.ts';

/** A wordless turn this long was speech that STT missed, not a noise. */
const wordlessSpeechMs = 1_500;
/** How often in a row the caller is asked to say it again. */
const maxWordlessApologies = 2;
/** Margin on top of `minSpeechMs` for a voice that came back to be reported as speech. */
const resumeMarginMs = 100;

/** Whether the caller's voice may cut the running response. A farewell is spoken to its end. */
const interruptible = (step: Step): boolean =>
  step.state.settings.interrupt.enabled && step.state.response?.hangUpAfter !== true;

export function onSpeechStarted(step: Step): void {
  const { state } = step;
  state.voice = 'speech';
  const { turn } = state;
  switch (turn.phase) {
    case 'idle':
      if (state.response === undefined) beginTurn(step);
      else if (interruptible(step)) beginCandidate(step);
      return;
    case 'fading':
      state.turn = { phase: 'candidate', words: turn.words };
      return;
    case 'finalizing':
      // The caller goes on: what STT still owes belongs to the same turn.
      step.actions.push({ type: 'stt.listen' });
      state.turn = {
        phase: 'speaking',
        words: turn.words,
        startedAt: turn.startedAt,
        interrupted: turn.interrupted,
      };
      return;
    case 'pausing':
      state.turn = {
        phase: 'speaking',
        words: turn.words,
        startedAt: turn.startedAt,
        interrupted: turn.interrupted,
      };
      return;
    case 'candidate':
    case 'speaking':
      return;
  }
}

/** A turn begins: a new epoch. */
function beginTurn(step: Step): void {
  const { state, now } = step;
  state.epoch += 1;
  state.idle.askAt = undefined;
  state.turn = { phase: 'speaking', words: newWords(), startedAt: now, interrupted: false };
  step.actions.push({ type: 'stt.listen' });
}

function beginCandidate(step: Step): void {
  step.state.turn = { phase: 'candidate', words: newWords() };
  if (step.state.response !== undefined) step.state.response.heard.stoppedAt ??= step.now;
  step.actions.push({ type: 'playout.pause' }, { type: 'stt.listen' });
}

export function onSpeechConfirmed(step: Step, position: PlayoutPosition | undefined): void {
  const { state, now } = step;
  if (state.turn.phase !== 'candidate') return;
  state.turn = { phase: 'speaking', words: state.turn.words, startedAt: now, interrupted: true };
  cutResponse(step, position);
}

export function onSpeechStopped(step: Step): void {
  const { state, now } = step;
  const { settings, turn } = state;
  state.voice = 'silent';
  const lastVoiceAt = now - settings.turn.stopMs;
  if (turn.phase === 'candidate') {
    const resumeAt = lastVoiceAt + settings.interrupt.resumeAfterMs;
    state.turn = { phase: 'fading', words: turn.words, lastVoiceAt, resumeAt };
  } else if (turn.phase === 'speaking') {
    const { words, startedAt, interrupted } = turn;
    const decideAt = lastVoiceAt + settings.turn.silenceEndMs;
    state.turn = { phase: 'pausing', words, startedAt, interrupted, lastVoiceAt, decideAt };
  }
}

/**
 * A voice that may turn out to be speech holds decisions back until it has, but never beyond the longest silence: a noise
 * that comes and goes must not keep the caller waiting.
 */
export function onVoiceResumed(step: Step): void {
  const { turn } = step.state;
  if (turn.phase !== 'pausing' && turn.phase !== 'fading') return;
  const { minSpeechMs, maxSilenceMs } = step.state.settings.turn;
  const until = Math.min(step.now + minSpeechMs + resumeMarginMs, turn.lastVoiceAt + maxSilenceMs);
  if (turn.phase === 'pausing') turn.decideAt = Math.max(turn.decideAt, until);
  else turn.resumeAt = Math.max(turn.resumeAt, until);
}

export function onSttText(step: Step, text: string, final: boolean): void {
  const { state } = step;
  if (state.stt.owed[0] === 'discard' || !('words' in state.turn)) return;
  if (final) addFinal(state.turn.words, text);
  else state.turn.words.partial = text;
}

export function onSttFinalized(step: Step): void {
  const { state } = step;
  if (state.stt.owed.shift() === undefined) return;
  state.failuresInARow.stt = 0;
  if (state.turn.phase === 'finalizing' && state.stt.owed.length === 0) answerTurn(step, state.turn);
}

export function onSttFailed(step: Step): void {
  const { state } = step;
  step.actions.push({ type: 'stt.reopen' });
  state.stt.owed.length = 0;
  if (noticeFault(step, 'stt', 'failed')) state.endingSoon = true;
  if ('words' in state.turn) addFinal(state.turn.words, state.turn.words.partial);
  if (state.turn.phase === 'finalizing') answerTurn(step, state.turn);
}

function finalize(step: Step, fate: 'keep' | 'discard'): void {
  step.actions.push({ type: 'stt.finalize' });
  step.state.stt.owed.push(fate);
}

export function onTurnDeadline(step: Step): void {
  const { state, now } = step;
  const { turn } = state;
  if (turn.phase === 'fading' && now >= turn.resumeAt) {
    finalize(step, 'discard');
    state.turn = { phase: 'idle' };
    if (state.response?.phase === 'waiting')
      state.response.stallAt = now + state.settings.limits.responseStallMs;
    if (state.response !== undefined && state.response.phase !== 'draining')
      state.response.heard.stoppedAt = undefined;
    step.actions.push({ type: 'playout.resume' });
  } else if (turn.phase === 'pausing' && now >= turn.decideAt) {
    const { words, startedAt, interrupted, lastVoiceAt } = turn;
    const giveUpAt = now + state.settings.limits.sttGiveUpMs;
    state.turn = {
      phase: 'finalizing',
      words,
      startedAt,
      interrupted,
      lastVoiceAt,
      decidedAt: now,
      giveUpAt,
    };
    finalize(step, 'keep');
  } else if (turn.phase === 'finalizing' && now >= turn.giveUpAt) {
    // A session that broke its contract once would leave every later finalize one answer short.
    step.actions.push({ type: 'stt.reopen' });
    state.stt.owed.length = 0;
    if (noticeFault(step, 'stt', 'given_up')) state.endingSoon = true;
    answerTurn(step, turn);
  }
}

/** The words of the turn are known: the LLM answers them. */
function answerTurn(step: Step, turn: Extract<Turn, { phase: 'finalizing' }>): void {
  const { state, now } = step;
  const text = wholeText(turn.words);
  state.turn = { phase: 'idle' };
  if (state.endingSoon) {
    startLineAtTheEnd(step, text);
    return;
  }
  if (text === '') {
    answerWordless(step, turn);
    return;
  }
  state.wordlessTurns = 0;
  state.idle.asks = 0;
  addUser(state.history, text);
  state.turnClock = {
    epoch: state.epoch,
    lastVoiceAt: turn.lastVoiceAt,
    decidedAt: turn.decidedAt,
    finalAt: now,
  };
  startAnswer(step);
}

function startLineAtTheEnd(step: Step, text: string): void {
  if (text !== '') addUser(step.state.history, text);
  startLine(step, 'farewell');
}

/** Somebody made a sound and STT found no words in it. A caller who spoke is asked to say it again; a noise is not. */
function answerWordless(step: Step, turn: Extract<Turn, { phase: 'finalizing' }>): void {
  const { state } = step;
  const spoke = turn.interrupted || turn.lastVoiceAt - turn.startedAt >= wordlessSpeechMs;
  if (state.answerOwed) {
    startAnswer(step);
  } else if (spoke && state.wordlessTurns < maxWordlessApologies) {
    state.wordlessTurns += 1;
    startLine(step, 'apology');
  }
}

/**
 * The response ended on its own while somebody was speaking into it: what was a possible interruption is a turn now.
 * Speech that was not allowed to interrupt becomes a turn as well.
 */
export function adoptSpeech(step: Step): void {
  const { state, now } = step;
  const { turn } = state;
  if (turn.phase === 'candidate' || (turn.phase === 'idle' && state.voice === 'speech')) {
    const words: Words = turn.phase === 'candidate' ? turn.words : newWords();
    beginTurn(step);
    state.turn = { phase: 'speaking', words, startedAt: now, interrupted: false };
  } else if (turn.phase === 'fading') {
    state.epoch += 1;
    const { words, lastVoiceAt } = turn;
    const decideAt = Math.max(now, lastVoiceAt + state.settings.turn.silenceEndMs);
    state.turn = {
      phase: 'pausing',
      words,
      startedAt: lastVoiceAt,
      interrupted: false,
      lastVoiceAt,
      decideAt,
    };
  }
}

export function onDtmf(step: Step, digit: string, position: PlayoutPosition | undefined): void {
  const { state, now } = step;
  state.idle.askAt = undefined;
  if (state.response !== undefined && state.settings.interrupt.dtmf && interruptible(step)) {
    const { turn } = state;
    if (turn.phase === 'candidate' || turn.phase === 'fading') {
      finalize(step, 'discard');
      state.turn = { phase: 'idle' };
    }
    cutResponse(step, position);
  }
  enterKeys(step, pressKey(state.dtmf, digit, now));
}

export function onDtmfDeadline(step: Step): void {
  enterKeys(step, dtmfDeadline(step.state.dtmf, step.now));
}

function enterKeys(step: Step, entry: string | undefined): void {
  if (entry === undefined) return;
  const { state } = step;
  addUser(state.history, keysNote(entry));
  state.idle.asks = 0;
  if (state.response === undefined && nobodySpeaks(state)) startOwedAnswer(step);
  else state.answerOwed = true;
}
