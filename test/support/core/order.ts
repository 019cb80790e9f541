/**
 * What a step of the core led to, as scripts and judges look at it: orders, and among them what it told of faults, tools and
 * measurements. What it told of the course of the conversation is left out; test/sim/judges/told-judge.ts looks at that.
 */
import type { CallAction } from '../../../worker/core/actions.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';

const noted = [
  'turn.measured',
  'fault.noticed',
  'tools.answered',
  'node.entered',
  'command.answered',
  'operator.took_over',
  'operator.handed_back',
] as const;
type Noted = Extract<ConversationEvent, { type: (typeof noted)[number] }>;

export type Order = Exclude<CallAction, { type: 'told' }> | Noted;

/** That a command without a name was done is nobody's concern. */
const isNoted = (event: ConversationEvent): event is Noted =>
  (noted as readonly string[]).includes(event.type) &&
  (event.type !== 'command.answered' || event.id !== undefined || event.outcome.kind === 'refused');

export function ordersIn(actions: readonly CallAction[]): Order[] {
  return actions.flatMap((action): Order[] => {
    if (action.type !== 'told') return [action];
    return isNoted(action.event) ? [action.event] : [];
  });
}

/** The text that is spoken in a context first. */
export const spokenIn = (orders: readonly Order[], context: number): string =>
  orders.flatMap((one) => (one.type === 'tts.speak' && one.context === context ? [one.text] : []))[0] ?? '';
