/** Commands from outside, as facts of the core. */
import type { ContextEdit } from '../../../worker/core/answer/edits.ts';
import type { CallEvent, PlayoutPosition } from '../../../worker/core/events.ts';

export type Given = Extract<CallEvent, { type: 'command.given' }>;

export function say(
  text: string,
  options: {
    id?: string;
    interrupt?: boolean;
    interruptible?: boolean;
    position?: PlayoutPosition | undefined;
  } = {},
): Given {
  const { id, interrupt = false, interruptible = true, position } = options;
  return { type: 'command.given', id, command: { type: 'say', text, interrupt, interruptible }, position };
}

export const edit = (change: ContextEdit, id?: string): Given => ({
  type: 'command.given',
  id,
  command: { type: 'edit', edit: change },
  position: undefined,
});

export const end = (farewell = '', id?: string): Given => ({
  type: 'command.given',
  id,
  command: { type: 'end', farewell },
  position: undefined,
});

export const typed = (text: string, id?: string, position?: PlayoutPosition): Given => ({
  type: 'command.given',
  id,
  command: { type: 'text', text },
  position,
});

type OperatorCommand = Extract<Given['command'], { type: 'operator' }>;

const byOperator = (command: OperatorCommand, position?: PlayoutPosition): Given => ({
  type: 'command.given',
  command,
  position,
});

export const takesOver = ({
  atOnce = false,
  position,
}: { atOnce?: boolean; position?: PlayoutPosition } = {}): Given =>
  byOperator({ type: 'operator', does: 'take_over', atOnce }, position);
export const operatorLeaves = (): Given => byOperator({ type: 'operator', does: 'leave' });
export const operatorSays = (text: string): Given => byOperator({ type: 'operator', does: 'said', text });
export const handsBack = ({ note = '', say: line = '' } = {}): Given =>
  byOperator({ type: 'operator', does: 'hand_back', note, say: line });
