/**
 * An answer that a broken stage has kept from the caller. The caller has been told that something is wrong; as long as nobody
 * speaks the answer is tried again from time to time, so that a caller who waits hears of it when the stage is back.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { ContextMessage } from '../actions.ts';
import { isEnding } from '../course.ts';
import { nextEpoch, tellTools } from '../epoch.ts';
import { nobodySpeaks, type Slices, type Step } from '../state.ts';
import { tell } from '../told.ts';
import { postponeRetry, retryAfterMs, uncountedMs } from './silence-state.ts';
import { openAnswer, startRound } from './speaking.ts';

/** The answer will be tried again, unless the caller or somebody else speaks first. */
export function loseAnswer({ state, now }: Step<'silence'>): void {
  state.silence.retryAt = now;
  postponeRetry(state.silence, now);
}

export function retryDeadline(
  state: Slices<'course' | 'caller' | 'delivery' | 'silence'>,
): Millis | undefined {
  const isFree = state.delivery.response === undefined && nobodySpeaks(state) && !isEnding(state.course);
  return isFree ? state.silence.retryAt : undefined;
}

/** Asks the LLM once more for the answer that is missing. */
export function onRetryDeadline(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools'>,
): void {
  const { state } = step;
  tellTools(step, { type: 'question.left' });
  nextEpoch(step);
  const { response, behind } = openAnswer(step, step.now - (retryAfterMs - uncountedMs));
  response.recovery.again = true;
  response.recovery.retried = true;
  tell(step, { type: 'bot.llm_started', epoch: response.epoch });
  const note: ContextMessage = { role: 'user', text: state.setup.settings.outage.unheardNote };
  startRound(step, response, { behind: [...behind, note] });
}
