/**
 * What becomes of commands from outside (commands.ts). Lines are agent turns of their own: they wait, in order, while the caller
 * speaks or a response runs; an interrupting one cuts the response, never the caller.
 */
import { endSoon, isEnding, isOpen } from '../course.ts';
import { interruptible } from './agent-side.ts';
import {
  answer,
  dropLines,
  endGraceMs,
  longestTextChars,
  mostWaiting,
  type CallCommand,
} from '../commands.ts';
import { noteEdit } from '../answer/edits.ts';
import { nextEpoch, tellTools } from '../epoch.ts';
import type { CallEvent } from '../events.ts';
import { agentLeads } from '../operator.ts';
import { isLastWord } from '../answer/response.ts';
import { cutResponse, startText } from '../answer/speaking.ts';
import { beginCommandTransfer } from '../answer/transfer.ts';
import { nobodySpeaks, type Slices, type Step } from '../state.ts';
import type { RefusalCode } from '../told.ts';
import { onOperator } from './takeover.ts';

type Given = Extract<CallEvent, { type: 'command.given' }>;
type Command<T extends CallCommand['type']> = Extract<CallCommand, { type: T }>;

/** Takes a command, or refuses it. A command that is not done at once waits until nobody speaks. */
export function onCommand(step: Step, { id, command }: Given): void {
  const isTooLate = isEnding(step.state.course) && !answersFarewell(step.state, command);
  const code = isTooLate ? 'call_ending' : accept(step, id, command);
  if (code !== undefined) answer(step, { id, type: command.type }, { kind: 'refused', code });
}

/** Who types into the farewell of `end`, or into what comes before it, is answered as who speaks into it. */
const answersFarewell = (
  state: Slices<'setup' | 'course' | 'delivery' | 'commands'>,
  { type }: CallCommand,
): boolean =>
  type === 'text' &&
  (state.course.parting === 'cut' || (state.commands.end !== undefined && interruptible(state)));

function accept(step: Step, id: string | undefined, command: CallCommand): RefusalCode | undefined {
  const { state } = step;
  if (!isOpen(state.course)) return 'call_over';
  switch (command.type) {
    case 'say':
      return onLine(step, id, command);
    case 'text':
      return onTyped(step, id, command);
    case 'edit':
      if (!noteEdit(state.conversation.edits, command.edit)) return 'queue_full';
      answer(step, { id, type: 'edit' }, { kind: 'done' });
      return undefined;
    case 'end':
      state.commands.end = { id, farewell: command.farewell.trim(), by: step.now + endGraceMs };
      endSoon(state.course, 'command');
      return undefined;
    case 'transfer':
      return beginCommandTransfer(step, id, command);
    case 'operator': {
      const code = onOperator(step, command);
      if (code === undefined) answer(step, { id, type: 'operator' }, { kind: 'done' });
      return code;
    }
  }
}

function onLine(step: Step, id: string | undefined, command: Command<'say'>): RefusalCode | undefined {
  const { commands } = step.state;
  const { interrupt, interruptible: mayBeCut } = command;
  const text = command.text.slice(0, longestTextChars).trim();
  if (text === '') return 'empty';
  if (interrupt) dropLines(step, commands);
  if (commands.lines.length >= mostWaiting) return 'queue_full';
  commands.lines.push({ id, text, interruptible: mayBeCut, cuts: interrupt });
  speakWaiting(step);
  return undefined;
}

/** A caller who types takes the floor like one who speaks. */
function onTyped(
  step: Step<'setup' | 'course' | 'numbers' | 'caller' | 'delivery' | 'commands' | 'conversation' | 'tools'>,
  id: string | undefined,
  command: Command<'text'>,
): RefusalCode | undefined {
  const { state } = step;
  const { texts } = state.commands;
  const text = command.text.trim();
  if (text === '') return 'empty';
  if (text.length > longestTextChars) return 'too_long';
  if (texts.length >= mostWaiting) return 'queue_full';
  texts.push({ id, text, ...(command.answer !== undefined && { answer: command.answer }) });
  if (interruptible(state)) cutResponse(step, step.position);
  return undefined;
}

/** Speaks the line that is next, when it may be spoken now. */
export function speakWaiting(step: Step): void {
  const { state } = step;
  const line = state.commands.lines[0];
  const {
    delivery: { response },
    caller: { turn },
  } = state;
  // Words that were said into the response are answered behind the line.
  const quiet = nobodySpeaks(state) || (response !== undefined && turn.phase === 'aside');
  if (line === undefined || !quiet || !agentLeads(state)) return;
  if (response !== undefined) {
    if (!line.cuts || response.hangUpAfter || isLastWord(response)) return;
    // The caller's question is answered after the line, when nobody has heard anything of the answer.
    state.conversation.owed ||= response.source === 'answer' && response.playing.phase === 'waiting';
    cutResponse(step, step.position);
  } else {
    nextEpoch(step);
  }
  tellTools(step, { type: 'question.left' });
  state.commands.lines.shift();
  const { id, text, interruptible: mayBeCut } = line;
  answer(step, { id, type: 'say' }, { kind: 'done' });
  startText(step, 'line', { text, interruptible: mayBeCut });
}
