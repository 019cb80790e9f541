/** What a turn of the caller is answered with, once it is over and its words are known. */
import type { Millis } from '../../../shared/base/units.ts';
import { answerQuestion, noteTurn } from '../answer/answering.ts';
import { startAnswer, startLine, startText } from '../answer/speaking.ts';
import { takeTexts } from '../commands.ts';
import { isEnding } from '../course.ts';
import { addUser } from '../delivery/history.ts';
import { oweWords } from '../delivery/written.ts';
import { beginEpoch } from '../epoch.ts';
import { awaitsWord, nobodySpeaks, type Step, type Slices } from '../state.ts';
import { tell } from '../told.ts';
import { soundEnd } from '../turn/caller.ts';
import { isPressing } from '../turn/dtmf.ts';
import { withoutEcho } from '../turn/phrases.ts';
import { asksForTime } from '../turn/time-asked.ts';
import { wholeText, type Finalizing, isUntold } from '../turn/turn.ts';
import { unwritten } from '../unwritten.ts';
import { operatorLeads } from '../operator.ts';
import { takeLeave } from './parting.ts';
import { dropSpeculation, promoteSpeculation } from './speculation.ts';
import { hearForOperator } from './takeover.ts';
import { isLaughter, mayBeInvented, withoutListening } from '../turn/backchannels.ts';
import { echoWithinMs } from '../turn/candidate.ts';
import { asksAt, isQuestion, listensOn } from '../turn/nods.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';

// Turns of which STT has told nothing, or a part: a caller who was not understood is asked to say it again.

/** A wordless turn this long was speech that STT missed: coughs and doors are shorter. A caller who can go on speaking waits for more. */
const wordlessSpeechMs = 800;
const wordlessInterruptionMs = 1_500;
/** How often in a row the caller is asked to say it again. */
const maxWordlessQuestions = 2;

/** Whether that is all that STT will tell: it has failed, and the caller spoke on. */
const isPart = (state: Slices<'faults' | 'caller'>, turn: Finalizing): boolean =>
  isDeafTo(state) && isUntold(turn);

/** STT fails, or has not heard all of the turn: that it says nothing means nothing. */
const isDeafTo = ({ faults, caller }: Slices<'faults' | 'caller'>): boolean =>
  faults.inARow.stt > 0 || caller.stt.lost;

/**
 * Nobody said anything. An answer that is owed is made; what was cut off by mistake goes on; and a caller who spoke
 * without being understood is asked to say it again. A noise is not answered.
 */
function answerNothing(step: Step, turn: Finalizing, kind: 'echo' | 'listening' | 'silence'): void {
  const { state } = step;
  const owedSince = turn.decidedAt;
  const hasRest = turn.interrupted && state.delivery.cutOff.trim() !== '';
  const longMs = hasRest ? wordlessInterruptionMs : wordlessSpeechMs;
  // An STT that fails tells no word from a noise.
  const isDeaf = !hasRest && isDeafTo(state);
  // A voice that is softer than the caller, or never ends, is a television more often than somebody whom STT does not understand.
  const isCaller = turn.isSoft !== true && turn.isCovered !== true && turn.words.isOthers !== true;
  const lasted = isCaller && turn.lastVoiceAt - turn.startedAt >= longMs;
  const spoke = kind === 'silence' && (isDeaf || lasted);
  if (state.conversation.owed) {
    startAnswer(step, owedSince);
  } else if (spoke && (isDeaf || state.caller.wordlessTurns < maxWordlessQuestions)) {
    state.caller.wordlessTurns += 1;
    // It may have been noise after all: that is told, and does not count against STT.
    tell(step, { type: 'fault.noticed', stage: 'stt', what: 'empty' });
    startLine(step, isDeaf ? 'apology' : 'misheard', { owedSince });
  } else if (hasRest) {
    startText(step, 'rest', { text: state.delivery.cutOff, owedSince });
  }
}

/** "Cancel my order" may have gone on: nothing is done about a part, but it stays known. */
function answerPart(step: Step, text: string, owedSince: Millis): void {
  dropSpeculation(step);
  tell(step, { type: 'user.text', epoch: step.state.numbers.epoch, text });
  addUser(step.state.conversation.history, text);
  startLine(step, 'apology', { owedSince });
}

// ---- a turn whose text is known ----

/** What the words of a turn amount to: something said, the agent's own voice, words of listening, or no words at all. */
function kindOf(
  state: Slices<'setup' | 'delivery'>,
  turn: Finalizing,
  { text }: { text: string },
): 'words' | 'echo' | 'listening' | 'silence' {
  const words = spokenWords(text);
  // Some STT write a lone full stop for a noise.
  if (words.length === 0) return 'silence';
  if (isLaughter(words)) return 'listening';
  const {
    delivery: { lastSaid },
    setup: { listening, invented, vocabulary },
  } = state;
  const near = turn.startedAt - lastSaid.endedAt < echoWithinMs;
  const own = near ? withoutEcho(words, spokenWords(lastSaid.text), listening) : words;
  if (own.length === 0) {
    state.delivery.echoes = true;
    return 'echo';
  }
  // A cough of which STT makes a "thank you" is no turn.
  if (turn.isVoice !== true && mayBeInvented(own, invented)) return 'silence';
  const isAsked = asksAt(lastSaid.text, lastSaid.text.length);
  const evidence = { words: own, isQuestion: isQuestion(text), isAsked, unfinished: false, patient: false };
  const listensOnly =
    withoutListening(own, listening).length === 0 || listensOn(evidence, vocabulary, listening);
  return turn.interrupted && state.delivery.cutOff.trim() !== '' && listensOnly ? 'listening' : 'words';
}

/** An entry of keys is complete: the turn that waited for it is answered with it. */
export function answerWithKeys(step: Step): void {
  const { turn, stt } = step.state.caller;
  if (turn.phase !== 'finalizing' || stt.owed.length > 0) return;
  answerTurn(step, { ...turn, decidedAt: step.now });
  // How long somebody takes for keys says nothing of the service.
  step.state.caller.clock = undefined;
}

/** The words of the turn are known: the LLM answers them, unless they are none. Keys that are being pressed belong to them. */
export function answerTurn(step: Step, turn: Finalizing): void {
  const { state, now } = step;
  if (isPressing(state.keys) && !isEnding(state.course)) {
    // A caller who goes on was not cut off.
    state.caller.patience.decidedAt = undefined;
    return;
  }
  const text = wholeText(turn.words);
  const { lastVoiceAt, decidedAt } = turn;
  const owedSince = decidedAt;
  const clock = {
    epoch: state.numbers.epoch,
    lastVoiceAt,
    soundEndAt: soundEnd(state.caller, lastVoiceAt),
    decidedAt,
    finalAt: now,
  };
  state.caller.clock = { ...clock, hasWords: false };
  state.caller.turn = { phase: 'idle' };
  tell(step, { type: 'turn.user_ended', epoch: state.numbers.epoch });
  const kind = kindOf(state, turn, { text });
  const words = kind === 'words' ? text : '';
  if (takeLeave(step, { text: words, owedSince })) return;
  if (operatorLeads(state)) {
    hearForOperator(step, words);
    return;
  }
  if (state.conversation.greets) {
    dropSpeculation(step);
    greetInAnswer(step, words, owedSince);
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
  answerWords(step, words === '' || typed === '' ? words + typed : `${words} ${typed}`, { owedSince });
}

/** A caller who spoke first is greeted, whatever was said: the words stand in the conversation, and the next answer knows them. */
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
  if (text.includes(unwritten)) oweWords(step);
  else tell(step, { type: 'user.text', epoch: state.numbers.epoch, text });
  state.caller.wordlessTurns = 0;
  state.silence.idle.asks = 0;
  state.silence.idle.isPatient = asksForTime(text, state.setup.vocabulary);
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
  if (state.course.parting === 'cut') state.course.parting = 'refused';
  beginEpoch(step);
  tell(step, { type: 'turn.user_ended', epoch: state.numbers.epoch });
  if (operatorLeads(state)) {
    hearForOperator(step, takeTexts(step, state.commands));
    return;
  }
  const isSilent = state.commands.texts.every(({ answer }) => answer === 'text');
  answerWords(step, takeTexts(step, state.commands), { owedSince: step.now, isSilent });
}
