/**
 * A possible interruption: the caller's voice while a response exists. The output is held at a sample until the voice has
 * lasted long enough or words say what it is; then the response is cut, or goes on where it was held.
 */
import type { Millis } from '../../shared/base/units.ts';
import { noteSpeechAfterDecision } from './end-of-turn.ts';
import type { PlayoutPosition } from './events.ts';
import { discardOwed, finalize, listen } from './hearing.ts';
import { charsAt, noteGap } from './heard.ts';
import { beginPause, resumeMarginMs } from './pause.ts';
import { spokenWords, withoutBackchannels, withoutEcho } from './phrases.ts';
import { resumeOutput } from './silence.ts';
import { cutResponse } from './speaking.ts';
import { outputHeld, type CallState, type Step } from './state.ts';
import { newWords, wholeText, type Candidate, type Fading } from './turn.ts';

/** Words of listening for longer than this are something to say. */
const listeningMs = 1_500;
/** No candidate holds the output for longer; the caller would take the bot for gone. */
const longestHoldMs = 2_500;
/** Text before and behind the position on the wire whose echo may arrive now. */
const echoBehindChars = 250;
const echoAheadChars = 20;
/** Sounds that STT writes down and that say nothing in any language. */
const sounds = [
  'ah',
  'ahem',
  'eh',
  'er',
  'erm',
  'ha',
  'haha',
  'hm',
  'hmm',
  'mm',
  'mmm',
  'oh',
  'uh',
  'uhm',
  'um',
];

/** Whether the caller's voice may cut the running response. A farewell is spoken to its end. */
export function interruptible({ settings, response }: CallState): boolean {
  if (!settings.interrupt.enabled || response === undefined) return false;
  return response.interruptible && !response.hangUpAfter;
}

export function beginCandidate(step: Step): void {
  const { state, now } = step;
  state.turn = {
    phase: 'candidate',
    words: newWords(),
    startedAt: now,
    // Where the bot's voice comes back, it would hold itself at every word.
    held: !state.echoes,
    loud: false,
    position: undefined,
  };
  if (outputHeld(state)) {
    if (state.response !== undefined) noteGap(state.response.heard, now);
    step.actions.push({ type: 'playout.pause' });
  }
  listen(step, true);
}

/** The voice lasted long enough to be an interruption, where words do not say otherwise. */
export function onSpeechConfirmed(step: Step, position: PlayoutPosition | undefined): void {
  const { turn } = step.state;
  if (turn.phase !== 'candidate') return;
  turn.loud = true;
  reviewCandidate(step, position);
}

/** More is known about the candidate. */
export function reviewCandidate(step: Step, position: PlayoutPosition | undefined): void {
  const { turn } = step.state;
  if (turn.phase !== 'candidate' && turn.phase !== 'fading') return;
  turn.position = position ?? turn.position;
  if (interrupts(step, turn)) confirm(step, turn);
}

function interrupts({ state, now }: Step, turn: Candidate | Fading): boolean {
  // It may have become the farewell meanwhile.
  if (!interruptible(state)) return false;
  const { minWords, backchannels } = state.settings.interrupt;
  const words = spokenWords(wholeText(turn.words));
  const unfinished = turn.words.partial.trim() !== '';
  const own = withoutEcho(words, playedWords(state, turn.position), { unfinished });
  const telling = withoutBackchannels(own, [...backchannels, ...sounds], { unfinished: true });
  if (telling.length >= Math.max(1, minWords)) return true;
  if (minWords > 0 || !turn.loud || turn.phase === 'fading') return false;
  if (words.length === 0) return !state.echoes;
  return own.length > 0 && now - turn.startedAt >= listeningMs;
}

/** The bot's words around the place where playback is. */
function playedWords({ response }: CallState, position: PlayoutPosition | undefined): string[] {
  if (response === undefined || position?.context !== response.context) return [];
  const at = charsAt(response.heard, position.sentMs);
  return spokenWords(response.text.slice(Math.max(0, at - echoBehindChars), at + echoAheadChars));
}

function confirm(step: Step, turn: Candidate | Fading): void {
  const { state, now } = step;
  const { words, startedAt } = turn;
  const thinking = state.response?.phase === 'waiting' && state.response.writing;
  if (state.response?.phase === 'waiting') noteSpeechAfterDecision(state.patience, now);
  cutResponse(step, turn.position);
  // Nobody has heard anything of the answer: should this turn out to be no turn, the question is still there.
  if (thinking) {
    state.answerOwed = true;
    state.cutOff = '';
  }
  state.wastedRounds = 0;
  const own = { words, startedAt, interrupted: true };
  if (turn.phase === 'candidate') state.turn = { phase: 'speaking', ...own };
  else beginPause(step, own, turn.lastVoiceAt);
}

/** The candidate fell silent. STT is asked at once: what it heard may still be an interruption. */
export function beginFading(step: Step, turn: Candidate, lastVoiceAt: Millis): void {
  const { settings } = step.state;
  const { words, startedAt, held, loud, position } = turn;
  const resumeAt = lastVoiceAt + settings.interrupt.resumeAfterMs;
  step.state.turn = {
    phase: 'fading',
    words,
    startedAt,
    held,
    loud,
    position,
    lastVoiceAt,
    resumeAt: held ? Math.max(step.now, Math.min(resumeAt, startedAt + longestHoldMs)) : resumeAt,
  };
  finalize(step, 'keep');
}

/** A voice is back that may turn out to be speech. */
export function prolongFading(step: Step, turn: Fading): void {
  const { minSpeechMs, maxSilenceMs } = step.state.settings.turn;
  const until = Math.min(step.now + minSpeechMs + resumeMarginMs, turn.lastVoiceAt + maxSilenceMs);
  const latest = turn.held ? turn.startedAt + longestHoldMs : Infinity;
  turn.resumeAt = Math.max(turn.resumeAt, Math.min(until, latest));
}

export function candidateDeadline({ turn, settings }: CallState): Millis | undefined {
  if (turn.phase === 'fading') return turn.resumeAt;
  if (turn.phase !== 'candidate') return undefined;
  const listening = turn.loud && settings.interrupt.minWords === 0 && wholeText(turn.words) !== '';
  const released = turn.held ? turn.startedAt + longestHoldMs : undefined;
  const listened = turn.startedAt + listeningMs;
  return listening && !turn.listened ? Math.min(released ?? listened, listened) : released;
}

export function onCandidateDeadline(step: Step): void {
  const { state, now } = step;
  const { turn } = state;
  if (turn.phase === 'fading' && now >= turn.resumeAt) {
    discardOwed(state);
    state.turn = { phase: 'idle' };
    if (turn.held) resumeOutput(step);
  } else if (turn.phase === 'candidate') {
    if (now >= turn.startedAt + listeningMs) turn.listened = true;
    reviewCandidate(step, step.position);
    if (state.turn !== turn || !turn.held || now < turn.startedAt + longestHoldMs) return;
    // The bot goes on; words can still interrupt it.
    turn.held = false;
    resumeOutput(step);
  }
}
