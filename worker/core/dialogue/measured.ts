/** How long the caller has waited for an answer, and that it was right to answer: known when its first sound goes out. */
import type { Response } from '../answer/response.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { Step } from '../state.ts';
import { tell } from '../told.ts';
import { noteRightEnd } from '../turn/end-of-turn.ts';

/** `audioAt` is when TTS delivered the first audio of it. */
export function measureTurn(
  step: Step<'caller'>,
  { epoch, writing }: Response,
  { audioAt }: { readonly audioAt: Millis },
): void {
  const { caller } = step.state;
  noteRightEnd(caller.patience);
  const { clock } = caller;
  caller.clock = undefined;
  if (clock?.epoch !== epoch || !clock.hasWords) return;
  const firstTextAt = Math.max(writing.firstTextAt ?? clock.finalAt, clock.finalAt);
  tell(step, {
    type: 'turn.measured',
    epoch,
    times: {
      endOfTurnMs: clock.decidedAt - clock.soundEndAt,
      sttFinalMs: clock.finalAt - clock.decidedAt,
      llmTtftMs: firstTextAt - clock.finalAt,
      ttsTtfbMs: audioAt - firstTextAt,
      wireMs: step.now - audioAt,
      responseMs: step.now - clock.soundEndAt,
      filled: writing.fillers[0]?.from === 0,
    },
  });
}
