/** A farewell that the caller spoke into: a caller who has more to say is answered, and leave is taken of any other. */
import { endCall, startBotTurn, startLine, startOwedAnswer, startText } from '../answer/speaking.ts';
import { dropSpeculation } from './speculation.ts';
import { isEnding } from '../course.ts';
import { addUser } from '../delivery/history.ts';
import { nobodySpeaks, type Step } from '../state.ts';
import { isPressing } from '../turn/dtmf.ts';
import { withoutListening } from '../turn/backchannels.ts';
import { isQuestion, listensOn } from '../turn/nods.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import type { Millis } from '../../../shared/base/units.ts';

interface LastTurn {
  readonly text: string;
  readonly owedSince: Millis;
}

/**
 * A turn is over in a call that may be at its end. True where it is not answered: it was no more than a goodbye into a farewell, or came
 * in a call that ends in any case and cut nothing. The words that are left are said, and the call ends.
 */
export function takeLeave(step: Step, turn: LastTurn): boolean {
  const { course, conversation, delivery } = step.state;
  const wasCut = course.parting !== 'none' && course.parting !== 'refused';
  if (wasCut ? hasMore(step, turn.text) : !isEnding(course)) {
    if (wasCut) course.parting = 'refused';
    return false;
  }
  const { text, owedSince } = turn;
  dropSpeculation(step);
  if (text !== '') addUser(conversation.history, text);
  if (isEnding(course)) goOnLeaving(step, owedSince);
  else if (delivery.cutOff.trim() === '') endCall(step, 'ended');
  else startText(step, 'closing', { text: delivery.cutOff, interruptible: false, owedSince });
  return true;
}

function hasMore({ state: { commands, conversation, setup } }: Step, text: string): boolean {
  const words = spokenWords(text);
  const evidence = { words, isQuestion: isQuestion(text), isAsked: false, unfinished: false, patient: false };
  const isTelling =
    withoutListening(words, setup.parting).length > 0 &&
    !listensOn(evidence, setup.vocabulary, setup.parting);
  return isTelling || conversation.owed || commands.texts.length > 0;
}

/** Lines that wait are spoken next; behind them comes what is left of the farewell. */
function goOnLeaving(step: Step, owedSince: Millis): void {
  const { course, commands } = step.state;
  const wasSaid = course.parting === 'cut' && commands.end === undefined;
  course.parting = wasSaid || course.parting === 'said' ? 'said' : 'none';
  if (commands.lines.length > 0) return;
  if (course.parting === 'said') endCall(step, 'ended');
  else startLine(step, 'farewell', { owedSince });
}

/** Nobody speaks, and no line waits, in a call that is on its way to its end. */
export function leave(step: Step): void {
  const { course, keys } = step.state;
  // A caller who has cut the farewell with a key presses more keys.
  if (course.parting === 'cut' && isPressing(keys)) return;
  if (course.parting === 'said') endCall(step, 'ended');
  else startBotTurn(step, 'farewell');
}

/** The farewell was heard, and what seemed to be said into it was nothing. */
export function settleParting(step: Step): void {
  const { course, conversation, delivery } = step.state;
  if (course.parting !== 'heard' || delivery.response !== undefined || !nobodySpeaks(step.state)) return;
  if (conversation.owed) startOwedAnswer(step);
  else endCall(step, 'ended');
}
