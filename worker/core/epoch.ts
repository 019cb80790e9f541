/** A new epoch of the call: everything older is stale, and tool calls of older turns are told so. */
import type { Step, Slices } from './state.ts';
import { tell } from './told.ts';
import { stepTools } from './tools/tools.ts';
import type { ToolEvent, ToolAction, ToolSettings } from './tools/tools-state.ts';

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

/** Steps the tool machine. Its actions beyond giving up calls, and telling of their ends, are returned. */
export function tellTools(step: Step<'setup' | 'conversation' | 'tools'>, event: ToolEvent): ToolAction[] {
  const { state, now, actions } = step;
  const decided = stepTools(state.tools, event, { settings: toolSettings(state), now });
  const rest: ToolAction[] = [];
  for (const action of decided) {
    if (action.type === 'tool.abandon') actions.push(action);
    else if (action.type === 'tool.ended') tell(step, action);
    else rest.push(action);
  }
  return rest;
}

/** A turn of the caller begins. */
export function beginEpoch(
  step: Step<'setup' | 'numbers' | 'speculation' | 'silence' | 'conversation' | 'tools'>,
): void {
  const { state } = step;
  nextEpoch(step);
  state.silence.idle.askAt = undefined;
  state.speculation.wasted = 0;
  tell(step, { type: 'turn.user_started', epoch: state.numbers.epoch });
}

export function nextEpoch(step: Step<'setup' | 'numbers' | 'conversation' | 'tools'>): void {
  const { numbers } = step.state;
  numbers.epoch += 1 + numbers.lostEpochs;
  numbers.lostEpochs = 0;
  // Nothing of an older turn can lead on by itself, so no other action comes of it.
  tellTools(step, { type: 'epoch.moved', epoch: numbers.epoch });
}
