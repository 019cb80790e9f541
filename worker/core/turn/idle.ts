/** A caller who says nothing is asked whether somebody is there, and in the end taken leave of (spec 03, idle). */
import type { Millis } from '../../../shared/base/units.ts';
import { isOpen } from '../course.ts';
import { startBotTurn } from '../answer/speaking.ts';
import type { Step, Slices } from '../state.ts';

/** Nobody speaks and nothing is owed: from now on the caller's silence counts. */
export function beginIdle({ state, now }: Step<'setup' | 'silence'>): void {
  const { askAfterMs } = state.setup.settings.idle;
  if (askAfterMs > 0) state.silence.idle.askAt ??= now + askAfterMs;
}

export const idleDeadline = ({ silence }: Slices<'silence'>): Millis | undefined => silence.idle.askAt;

/** Nobody has said anything for a while. */
export function onIdleDeadline(step: Step): void {
  const { course, silence, delivery, caller, setup } = step.state;
  const { idle } = silence;
  idle.askAt = undefined;
  if (!isOpen(course) || delivery.response !== undefined || caller.turn.phase !== 'idle') return;
  idle.asks += 1;
  startBotTurn(step, idle.asks > setup.settings.idle.endAfter ? 'farewell' : 'question');
}
