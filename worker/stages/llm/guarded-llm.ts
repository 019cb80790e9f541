/** An LLM of a package, which leaks as the models of all interfaces do: what it gives passes the same guard. */
import type { LlmStage } from '../stage.ts';
import { syntheticIds } from './call-ids.ts';
import { habitOf } from './leak-filter.ts';
import { LeakGuard } from './leak-guard.ts';
import { OfferedTools } from './leaked-calls.ts';

/** @param model its name, where the options tell one. */
export function guardedLlm(stage: LlmStage, model: string): LlmStage {
  const habit = habitOf(model);
  return {
    provider: stage.provider,
    open: (context, call) => {
      const session = stage.open(context, call);
      return {
        start: (request, sink) => {
          const guard = new LeakGuard({
            tools: new OfferedTools(request.tools, request.messages),
            habit,
            nextId: syntheticIds(request.messages),
            emit: sink,
            // The contract has no thoughts: a package that gets them apart keeps them.
            thinksApart: () => false,
          });
          return session.start(request, (event) => guard.take(event));
        },
        close: () => session.close(),
      };
    },
    close: () => stage.close(),
  };
}
