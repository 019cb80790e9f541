/**
 * No dead air: while the agent owes speech, somebody is watched at every moment. As long as nothing is with TTS it is the LLM,
 * and a filler is spoken for it; then it is TTS, and its session is given up in time for another line to be heard within
 * `deadAirMs`. Time in which a candidate holds the output does not count, because then the caller is speaking.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { noteFlow } from '../delivery/heard.ts';
import { audibleWithin, onTtsFailed } from '../delivery/output.ts';
import { quietUntil } from '../tools/tools-run.ts';
import { endsInFiller, ttsOwes, type Response } from './response.ts';
import { fillSilence, onLlmStalled } from './answering.ts';
import { outputHeld, type Step, type Slices } from '../state.ts';

const watched = (state: Slices<'caller' | 'delivery'>): Response | undefined =>
  state.delivery.response === undefined ||
  state.delivery.response.playing.phase === 'draining' ||
  state.delivery.response.spoken.phase === 'broken' ||
  outputHeld(state)
    ? undefined
    : state.delivery.response;

/** Since when the caller waits for the agent and hears nothing; undefined while nothing is owed, or something goes out. */
export const silentSince = (state: Slices<'caller' | 'delivery'>): Millis | undefined =>
  watched(state)?.playing.silentAt;

/** How long the caller may wait in silence before something is done about it. */
function longestWait(
  state: Slices<'setup' | 'caller' | 'delivery' | 'silence' | 'faults'>,
  response: Response,
): Millis {
  const { limits, fillers } = state.setup.settings;
  if (ttsOwes(response, state.delivery)) return audibleWithin(state, response);
  if (!state.silence.readyLines.fillers) return limits.unreadyAfterMs;
  if (endsInFiller(response)) return limits.fillerAgainMs;
  return fillers.length > 0 ? limits.fillerAfterMs : limits.lateAfterMs;
}

/** When the silence has lasted for long enough. While tools run, theirs is the say in when it is filled first. */
function filledAt(
  state: Slices<'setup' | 'caller' | 'delivery' | 'silence' | 'faults' | 'tools'>,
  response: Response,
  silentAt: Millis,
): Millis {
  const at = silentAt + longestWait(state, response);
  return response.writing.phase === 'tools' && !ttsOwes(response, state.delivery)
    ? Math.max(at, quietUntil(state.tools))
    : at;
}

/** When something must be done about the silence. */
export function silenceDeadline(
  state: Slices<'setup' | 'caller' | 'delivery' | 'silence' | 'faults' | 'tools'>,
): Millis | undefined {
  const response = watched(state);
  if (response === undefined) return undefined;
  const { limits } = state.setup.settings;
  const llm = response.writing.phase === 'llm' ? response.writing.llmAt + limits.llmSilentMs : undefined;
  if (response.playing.silentAt === undefined) return llm;
  const silence = filledAt(state, response, response.playing.silentAt);
  return llm === undefined ? silence : Math.min(llm, silence);
}

/** The LLM is given up before one more filler would have passed: "one moment" right before an apology helps nobody. */
function isAllButGone({ state, now }: Step<'setup'>, response: Response): boolean {
  const { llmSilentMs, fillerAgainMs } = state.setup.settings.limits;
  if (response.writing.phase !== 'llm' || !endsInFiller(response)) return false;
  return response.writing.llmAt + llmSilentMs - now < fillerAgainMs;
}

export function onSilenceDeadline(step: Step): void {
  const { state, now } = step;
  const response = watched(state);
  if (response === undefined) return;
  const { limits } = state.setup.settings;
  if (response.writing.phase === 'llm' && now >= response.writing.llmAt + limits.llmSilentMs) {
    onLlmStalled(step, response);
    return;
  }
  if (response.playing.silentAt === undefined || now < filledAt(state, response, response.playing.silentAt))
    return;
  if (!ttsOwes(response, state.delivery)) {
    if (isAllButGone(step, response)) onLlmStalled(step, response);
    else fillSilence(step, response);
  } else {
    step.actions.push({ type: 'tts.cancel', context: response.context });
    onTtsFailed(step, 'stalled');
  }
}

/** The output goes on after it was held: the caller begins to wait now, if there is nothing to hear. */
export function resumeOutput(
  step: Step<'delivery' | 'silence'>,
  { softly = false }: { readonly softly?: boolean } = {},
): void {
  const { state, now } = step;
  step.actions.push({ type: softly ? 'playout.duck' : 'playout.resume' });
  const { response } = state.delivery;
  if (response === undefined || response.playing.phase === 'draining') return;
  if (response.playing.silentAt === undefined) {
    noteFlow(response.playing.heard, now);
    return;
  }
  response.playing.silentAt = now;
  state.silence.since = now;
}
