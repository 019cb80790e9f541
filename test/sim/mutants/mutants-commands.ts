/** Mutants of what becomes of commands from outside. */
import { mutant, type Mutant } from './mutant.ts';

export const commandMutants: readonly Mutant[] = [
  mutant('drops lines without a word', 'commands.ts', {
    from: "  for (const { id } of lines.splice(0)) answer(step, { id, type: 'say' }, { kind: 'dropped' });",
    to: '  void step;\n  lines.length = 0;',
  }),
  mutant('drops typed text without a word', 'commands.ts', {
    from: "  for (const { id } of commands.texts.splice(0)) answer(step, { id, type: 'text' }, { kind: 'dropped' });",
    to: '  commands.texts.length = 0;',
  }),
  mutant('answers a line once more', 'lines.ts', {
    from: '  state.commands.lines.shift();',
    to: "  answer(step, { id: line.id, type: 'say' }, { kind: 'done' });\n  state.commands.lines.shift();",
  }),
  mutant('says of a caller who has hung up that the call was ended', 'commands.ts', {
    from: "{ kind: ended ? 'done' : 'dropped' }",
    to: "{ kind: 'done' }",
  }),
  mutant('never gives up waiting for an end', 'timers.ts', {
    from: "  { name: 'end', due: ({ commands }) => commands.end?.by, fire: (step) => endCall(step, 'ended') },",
    to: '',
  }),
  mutant('says nothing to who comes too late', 'call.ts', {
    from: "  if (event.type === 'command.given') {",
    to: "  if (event.type === 'command.given' && Date.now() < 0) {",
  }),
  mutant('keeps lines in a call that is on its way to its end', 'call.ts', {
    from: '  if (isEnding(state.course)) dropWaiting(step, state.commands);',
    to: '  void dropWaiting;',
  }),
  mutant('hangs up on who interrupts the farewell of a command', 'speaking.ts', {
    from: "source === 'closing' || endsWithNode",
    to: "source === 'farewell' || endsWithNode",
  }),
  mutant('forgets what was typed when a turn is over', 'listening.ts', {
    from: '  const typed = takeTexts(step, state.commands);',
    to: "  const typed = takeTexts(step, state.commands) === '' ? '' : '';",
  }),
  mutant('lets the bot speak on when the caller types', 'lines.ts', {
    from: '  if (interruptible(state)) cutResponse(step, step.position);',
    to: '',
  }),
];
