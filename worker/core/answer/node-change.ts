/**
 * The flow has moved to a node with a voice, an LLM or a language of its own, or left one (docs/tools.md, Flows). Its sessions were in the
 * place of the former ones before the node's first word; here the core gets to know what else goes with them.
 */
import type { CallEvent } from '../events.ts';
import { newSetup } from '../setup.ts';
import type { Step } from '../state.ts';

export function onNodeEquipped(
  { state, actions }: Step<'setup' | 'caller' | 'silence'>,
  { settings, isHeardAnew }: Extract<CallEvent, { type: 'node.equipped' }>,
): void {
  state.setup = newSetup(settings);
  state.silence.readyLines = { fillers: false, farewell: false };
  // A new session of STT knows nothing of a turn that is being heard.
  if (isHeardAnew && state.caller.turn.phase !== 'idle') actions.push({ type: 'stt.replay' });
}
