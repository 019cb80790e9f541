/**
 * Turns whose words come later, or never: a model hears them itself, and writes down what it heard beside its answer. Until then a note stands for
 * them in the conversation.
 */
import type { Step } from '../state.ts';
import { tell } from '../told.ts';
import { amendUser } from './history.ts';

/** Notes a turn of the running epoch, whose words are owed from now on. */
export function oweWords({ state }: Step<'numbers' | 'conversation'>): void {
  state.conversation.unwritten.push(state.numbers.epoch);
}

/** The words of the oldest of these turns are known, or that nobody knows them. */
export function onWordsWritten({ state, ...step }: Step<'setup' | 'conversation'>, text: string): void {
  const { history, unwritten: owed } = state.conversation;
  const epoch = owed.shift();
  if (epoch === undefined) return;
  const isKnown = text.trim() !== '';
  const isAmended = amendUser(history, isKnown ? text : state.setup.settings.outage.unheardNote);
  if (!isAmended || !isKnown) return;
  tell(step, { type: 'user.transcript', text, final: true });
  tell(step, { type: 'user.text', epoch, text });
}

/** Another worker writes down what is said to it, and nothing of what was said before. */
export function forgetOwedWords(step: Step<'setup' | 'conversation'>): void {
  while (step.state.conversation.unwritten.length > 0) onWordsWritten(step, '');
}
