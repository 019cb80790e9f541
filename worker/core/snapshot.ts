/**
 * A call's state as text and back, so that another worker can go on with it. Every slice declares in its own file what of it is
 * saved. Settings are not part of it, because they are the call's own and saved beside it, and
 * the history is saved when it changes.
 */
import { record, versionOf, type Codec } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { ContextMessage } from './actions.ts';
import { callerCodec } from './turn/caller.ts';
import { commandsCodec } from './commands.ts';
import { conversationCodec } from './delivery/conversation.ts';
import { courseCodec } from './course.ts';
import { deliveryCodec } from './delivery/delivery.ts';
import { dtmfCodec } from './turn/dtmf.ts';
import { faultsCodec } from './faults.ts';
import { speculationCodec } from './dialogue/speculation-state.ts';
import { newHistory, withoutReasoning, type Said } from './delivery/history.ts';
import { numbersCodec } from './numbers.ts';
import { operatorCodec } from './operator.ts';
import { silenceCodec } from './answer/silence-state.ts';
import type { CallSettings } from './settings.ts';
import { newSetup } from './setup.ts';
import type { CallState } from './state.ts';
import { toolStateCodec } from './tools/tools-state.ts';

const stateCodec: Codec<Omit<CallState, 'setup'>> = record<Omit<CallState, 'setup'>>({
  course: courseCodec,
  numbers: numbersCodec,
  caller: callerCodec,
  speculation: speculationCodec,
  delivery: deliveryCodec,
  silence: silenceCodec,
  faults: faultsCodec,
  commands: commandsCodec,
  conversation: conversationCodec,
  tools: toolStateCodec,
  keys: dtmfCodec,
  operator: operatorCodec,
});

/** Names what is saved of a call; another version's text is refused. */
export const stateVersion = versionOf(stateCodec);

export const encodeState = (state: CallState): string => stateCodec.write(state);

/** The newest messages that fit into `bytes`, as JSON. */
export function encodeHistory(history: Said, bytes: number): string {
  const kept: string[] = [];
  let left = bytes - '[]'.length;
  for (const one of history.messages.toReversed()) {
    const message = JSON.stringify(withoutReasoning(one));
    left -= Buffer.byteLength(message) + ','.length;
    if (left < 0) break;
    kept.unshift(message);
  }
  return `[${kept.join(',')}]`;
}

/** A call's state as parsed JSON, its history as text, and how much later the same moment is on this process's clock. */
export interface SavedState {
  readonly state: unknown;
  readonly history: string;
  readonly shiftMs: Millis;
}

/** The node in which the flow of a saved call is; undefined where it has none. @throws as {@link decodeState} does. */
export const savedNode = ({ state, shiftMs }: SavedState): string | undefined =>
  stateCodec.read(state, shiftMs).conversation.flow?.node;

/** The state that was saved. @throws TypeError, or SyntaxError, for what {@link encodeState} did not make. */
export function decodeState({ state, history, shiftMs }: SavedState, settings: CallSettings): CallState {
  const messages = JSON.parse(history) as readonly ContextMessage[];
  const read = stateCodec.read(state, shiftMs);
  return {
    ...read,
    setup: newSetup(settings),
    conversation: { ...read.conversation, history: newHistory(messages) },
  };
}
