/** Mutants of what becomes of commands from outside. */
import { always, and, insertAfter, mutantsOf, never, remove, swap, type Mutant } from './mutant.ts';
import { call, condition, element, operand, statement, value } from './places.ts';

export const commandMutants: readonly Mutant[] = mutantsOf({
  'commands.ts: dropLines': { 'drops lines without a word': remove(call('answer')) },
  'commands.ts: dropTexts': { 'drops typed text without a word': remove(call('answer')) },
  'commands.ts: closeCommands': {
    'says of a caller who has hung up that the call was ended': always(condition('ended')),
  },
  'lines.ts: speakWaiting': {
    'answers a line once more': insertAfter(
      statement('answer', 'done'),
      "answer(step, { id, type: 'say' }, { kind: 'done' });",
    ),
  },
  'lines.ts: onTyped': { 'lets the bot speak on when the caller types': remove(call('cutResponse')) },
  'timers.ts: timers': { 'never gives up waiting for an end': remove(element('end')) },
  'call.ts: tooLate': { 'says nothing to who comes too late': never(condition('command.given')) },
  'call.ts: settle': {
    'keeps typed text in a call that is on its way to its end': remove(call('dropTexts')),
  },
  'parting.ts: goOnLeaving': {
    'says the farewell before lines that wait': never(condition('lines')),
  },
  'speaking.ts: leavesMore': {
    'ends the call with the LLM whatever an agent wants to say': never(value('isOwed')),
    'says the farewell twice': never(condition('wasSaid')),
  },
  'answering.ts: sayGoodbye': { 'says its own farewell before that of an agent': always(value('isLast')) },
  'speaking.ts: completeResponse': {
    'hangs up on who interrupts the farewell of a command': swap(operand('closing'), 'closing', "'farewell'"),
  },
  'turn-ended.ts: answerTurn': { 'forgets what was typed when a turn is over': and(value('typed'), "''") },
});
