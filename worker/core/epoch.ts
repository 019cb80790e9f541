/** A new epoch of the call: everything older is stale, and tool calls of older turns are told so. */
import type { Step, Slices } from './state.ts';
import { tell } from './told.ts';
import { stepTools } from './tools/tools.ts';
import type { ToolEvent, ToolOrder, ToolSettings } from './tools/tools-state.ts';

/** What the tool machine runs on: the tools of the agent, with the arguments that the flow's present node accepts. */
export function toolSettings({
  setup: { settings },
  conversation: { flow },
}: Slices<'setup' | 'conversation'>): ToolSettings {
  const { tools, maxToolRounds, limits } = settings;
  return {
    maxRounds: maxToolRounds,
    fillerAfterMs: limits.fillerAfterMs,
    ruleOf: (name) => tools.ruleOf(name),
    validate: (name, text) => tools.validate(name, text, flow?.node),
  };
}

/** Steps the tool machine. Its orders beyond giving up calls, and telling of their ends, are returned. */
export function tellTools(step: Step<'setup' | 'conversation' | 'tools'>, event: ToolEvent): ToolOrder[] {
  const { state, now, actions } = step;
  const orders = stepTools(state.tools, event, { settings: toolSettings(state), now });
  const rest: ToolOrder[] = [];
  for (const order of orders) {
    if (order.type === 'tool.abandon') actions.push(order);
    else if (order.type === 'tool.ended') tell(step, order);
    else rest.push(order);
  }
  return rest;
}

/** A turn of the caller begins. */
export function beginEpoch(
  step: Step<'setup' | 'numbers' | 'guess' | 'silence' | 'conversation' | 'tools'>,
): void {
  const { state } = step;
  nextEpoch(step);
  state.silence.idle.askAt = undefined;
  state.guess.wasted = 0;
  tell(step, { type: 'turn.user_started', epoch: state.numbers.epoch });
}

export function nextEpoch(step: Step<'setup' | 'numbers' | 'conversation' | 'tools'>): void {
  const { numbers } = step.state;
  numbers.epoch += 1 + numbers.lostEpochs;
  numbers.lostEpochs = 0;
  // Nothing of an older turn can lead on by itself, so no other order comes of it.
  tellTools(step, { type: 'epoch.moved', epoch: numbers.epoch });
}
