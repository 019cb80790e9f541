/** An LLM of a package, which leaks as the models of all interfaces do: what it gives passes the same guard. */
import type { LlmStage } from '../stage.ts';
import { syntheticIds } from './call-ids.ts';
import { habitOf } from './leak-filter.ts';
import { OfferedTools } from './leaked-calls.ts';
import { newRoundGuard, type RoundGuard } from './round-guard.ts';

/** @param model its name, where the options tell one. */
export function guardedLlm(stage: LlmStage, model: string): LlmStage {
  const habit = habitOf(model);
  return {
    provider: stage.provider,
    open: (context, call) => {
      const session = stage.open(context, call);
      let guard: RoundGuard | undefined;
      return {
        start: (request, sink) => {
          guard?.close();
          const own = newRoundGuard(
            {
              tools: new OfferedTools(request.tools, request.messages),
              habit,
              nextId: syntheticIds(request.messages),
              emit: sink,
              // The contract has no thoughts: a package that gets them apart keeps them.
              thinksApart: () => false,
            },
            context,
          );
          guard = own;
          const round = session.start(request, (event) => own.take(event));
          return {
            cancel: () => {
              own.close();
              round.cancel();
            },
          };
        },
        close: () => {
          guard?.close();
          session.close();
        },
      };
    },
    close: () => stage.close(),
  };
}
