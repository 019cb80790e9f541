/** The call core as tests take it: the real one, or one that was broken on purpose. */
import { step } from '../../../worker/core/call.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { decodeState, encodeHistory, encodeState } from '../../../worker/core/snapshot.ts';
import { newCall, type CallState } from '../../../worker/core/state.ts';
import { nextDeadline } from '../../../worker/core/timers.ts';

export interface Core {
  readonly newCall: typeof newCall;
  readonly step: typeof step;
  readonly nextDeadline: typeof nextDeadline;
}

export const realCore: Core = { newCall, step, nextDeadline };

/** The state as another worker gets it: written down and read again. */
export function takenOver(state: CallState, settings: CallSettings): CallState {
  const written = {
    state: JSON.parse(encodeState(state)) as unknown,
    history: encodeHistory(state.conversation.history, 100_000),
    shiftMs: 0,
  };
  return decodeState(written, settings);
}
