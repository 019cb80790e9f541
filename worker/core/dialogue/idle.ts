/** A caller who says nothing is asked whether somebody is there, and in the end taken leave of (docs/reference/agent-file.md, `[turn.idle]`). */
import type { Millis } from '../../../shared/base/units.ts';
import { isOpen } from '../course.ts';
import { agentLeads } from '../operator.ts';
import { startBotTurn } from '../answer/speaking.ts';
import type { Step, Slices } from '../state.ts';

/** Words from before the call are heard by then, eight times as fast as they were spoken; where VAD finds none in them, the agent speaks. */
const wordsKnownMs: Millis = 1_500;

/** A caller who looks something up is left in peace for so long. */
const patientMs: Millis = 60_000;

/** Nobody speaks and nothing is owed: from now on the caller's silence counts. */
export function beginIdle({ state, now }: Step<'setup' | 'silence' | 'conversation' | 'operator'>): void {
  if (!agentLeads(state)) return;
  const { greets } = state.conversation;
  const { idle } = state.setup.settings;
  const isPatient = state.silence.idle.isPatient && idle.askAfterMs > 0;
  const ownMs = isPatient ? Math.max(patientMs, idle.askAfterMs) : idle.askAfterMs;
  const askAfterMs = greets ? wordsKnownMs : ownMs;
  if (askAfterMs > 0) state.silence.idle.askAt ??= now + askAfterMs;
}

export const idleDeadline = ({ silence }: Slices<'silence'>): Millis | undefined => silence.idle.askAt;

/** Nobody has said anything for a while. */
export function onIdleDeadline(step: Step): void {
  const { course, silence, delivery, caller, setup, conversation } = step.state;
  const { idle } = silence;
  idle.askAt = undefined;
  if (!isOpen(course) || delivery.response !== undefined || caller.turn.phase !== 'idle') return;
  if (conversation.greets) {
    conversation.greets = false;
    startBotTurn(step, 'greeting');
    return;
  }
  // A caller who has asked for time is asked from time to time, and never hung up on for being silent.
  if (!idle.isPatient) idle.asks += 1;
  startBotTurn(step, idle.asks > setup.settings.idle.endAfter ? 'farewell' : 'question');
}
