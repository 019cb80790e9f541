/** A farewell that the caller spoke into: whoever has more to say is answered, and from anybody else leave is taken. */
import { endCall, startOwedAnswer, startText } from '../answer/speaking.ts';
import { dropSpeculation } from '../answer/speculation.ts';
import { addUser } from '../delivery/history.ts';
import { nobodySpeaks, type Step } from '../state.ts';
import { withGoodbyes, withoutListening } from './backchannels.ts';
import { spokenWords } from './phrases.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** The turn that came into a farewell is over. True when it was no more than a goodbye: what is left of the farewell is spoken, and the call ends. */
export function takeLeave(
  step: Step,
  { text, owedSince }: { readonly text: string; readonly owedSince: Millis },
): boolean {
  const { course, commands, conversation, delivery, setup } = step.state;
  if (course.parting !== 'cut' && course.parting !== 'heard') return false;
  const { backchannels } = setup.settings.interrupt;
  const hasMore = withoutListening(spokenWords(text), withGoodbyes(backchannels)).length > 0;
  course.parting = 'refused';
  if (hasMore || conversation.owed || commands.texts.length > 0) return false;
  dropSpeculation(step);
  if (text !== '') addUser(conversation.history, text);
  if (delivery.cutOff.trim() === '') endCall(step, 'ended');
  else startText(step, 'closing', { text: delivery.cutOff, interruptible: false, owedSince });
  return true;
}

/** The farewell was heard, and what seemed to be said into it was nothing. */
export function settleParting(step: Step): void {
  const { course, conversation, delivery } = step.state;
  if (course.parting !== 'heard' || delivery.response !== undefined || !nobodySpeaks(step.state)) return;
  if (conversation.owed) startOwedAnswer(step);
  else endCall(step, 'ended');
}
