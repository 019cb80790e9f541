/** What a turn of the caller is answered with, once it is over and its words are known. */
import type { Millis } from '../../../shared/base/units.ts';
import { answerQuestion, noteTurn } from '../answer/answering.ts';
import { startAnswer, startLine } from '../answer/speaking.ts';
import { takeTexts } from '../commands.ts';
import { isEnding } from '../course.ts';
import { addUser } from '../delivery/history.ts';
import { oweWords } from '../delivery/written.ts';
import { beginEpoch } from '../epoch.ts';
import { awaitsWord, nobodySpeaks, type Step } from '../state.ts';
import { tell } from '../told.ts';
import { isPressing } from '../turn/dtmf.ts';
import { asksForTime } from '../turn/phrases.ts';
import { wholeText, type Finalizing } from '../turn/turn.ts';
import { unwritten } from '../unwritten.ts';
import { operatorLeads } from '../operator.ts';
import { kindOf } from './kind.ts';
import { answerNothing, answerPart, isPart } from './misheard.ts';
import { takeLeave } from './parting.ts';
import { dropSpeculation, promoteSpeculation } from './speculation.ts';
import { hearForOperator } from './takeover.ts';

/** The sound of a word may end this much before VAD's voice; what ended earlier was another. */
const longestFadeMs = 800;

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
  beginEpoch(step);
  tell(step, { type: 'turn.user_ended', epoch: state.numbers.epoch });
  if (operatorLeads(state)) {
    hearForOperator(step, takeTexts(step, state.commands));
    return;
  }
  const isSilent = state.commands.texts.every(({ answer }) => answer === 'text');
  answerWords(step, takeTexts(step, state.commands), { owedSince: step.now, isSilent });
}
