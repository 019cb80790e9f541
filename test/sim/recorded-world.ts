/** A simulated call whose facts are written down as those of a real one are. */
import type { CallState } from '../../worker/core/state.ts';
import { headLine, stepLine, WatchedTools } from '../../worker/recording/facts.ts';
import { realCore, type Core } from '../support/core/core.ts';
import { runWorld } from './world/world.ts';

/** The facts of the call of a seed, as text. */
export function factsOfWorld(seed: number): string {
  const lines: string[] = [];
  let tools: WatchedTools | undefined;
  let known: CallState | undefined;
  const begin = (state: CallState, isTaken: boolean): void => {
    const { settings } = state.setup;
    lines.push(
      headLine({
        ...{ call: '', agent: 'sim', metadata: {}, settings, state, startedAt: 0, isTaken },
      }),
    );
    known = state;
  };
  const core: Core = {
    nextDeadline: realCore.nextDeadline,
    newCall: (settings, given) => {
      tools = new WatchedTools(settings.tools);
      const state = realCore.newCall({ ...settings, tools }, given);
      begin(state, false);
      return state;
    },
    step: (state, fact, now) => {
      if (state !== known) {
        tools = new WatchedTools(state.setup.settings.tools);
        Object.assign(state.setup, { settings: { ...state.setup.settings, tools } });
        begin(state, true);
      }
      const orders = realCore.step(state, fact, now);
      lines.push(stepLine({ fact, orders, now }, { state, asked: tools?.takeAsked() ?? [] }));
      return orders;
    },
  };
  runWorld(core, seed, { commands: seed % 3 === 0 });
  return `${lines.join('\n')}\n`;
}
