/** The call core as tests take it: the real one, or one that was broken on purpose. */
import { nextDeadline, step } from '../../worker/core/call.ts';
import { newCall } from '../../worker/core/state.ts';

export interface Core {
  readonly newCall: typeof newCall;
  readonly step: typeof step;
  readonly nextDeadline: typeof nextDeadline;
}

export const realCore: Core = { newCall, step, nextDeadline };
