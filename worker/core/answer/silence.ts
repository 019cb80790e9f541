/**
 * No dead air: while the bot owes speech, somebody is watched at every moment. As long as nothing is with TTS it is the LLM,
 * and a filler is spoken for it; then it is TTS, and its session is given up in time for another line to be heard within
 * `deadAirMs`. Time in which a candidate holds the output does not count, because then the caller is speaking.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { fastestMsPerChar, noteFlow } from '../delivery/heard.ts';
import { audibleWithin, onTtsFailed } from '../delivery/output.ts';
import { endsInFiller, type Response } from './response.ts';
import { fillSilence, onLlmStalled } from './answering.ts';
import { outputHeld, type Step, type Slices } from '../state.ts';

/** TTS has text, or an end, of which it has not delivered everything. */
function ttsOwes(state: Slices<'delivery'>, response: Response): boolean {
  if (!response.writing && !response.flushed) return true;
  if (response.said <= response.spokenSaid) return false;
  if (state.delivery.ttsReports || response.said > response.starvedSaid) return true;
  return response.starvedMs < response.said * fastestMsPerChar;
}

const watched = (state: Slices<'caller' | 'delivery'>): Response | undefined =>
  state.delivery.response === undefined ||
  state.delivery.response.phase === 'draining' ||
  state.delivery.response.broken ||
  outputHeld(state)
    ? undefined
    : state.delivery.response;

/** How long the caller may wait in silence before something is done about it. */
function longestWait(
  state: Slices<'setup' | 'caller' | 'delivery' | 'silence' | 'faults'>,
  response: Response,
): Millis {
  const { limits, fillers } = state.setup.settings;
  if (ttsOwes(state, response)) return audibleWithin(state, response);
  if (!state.silence.readyLines.fillers) return limits.unreadyAfterMs;
  if (endsInFiller(response)) return limits.fillerAgainMs;
  return fillers.length > 0 ? limits.fillerAfterMs : limits.lateAfterMs;
}

/** When something must be done about the silence. */
export function silenceDeadline(
  state: Slices<'setup' | 'caller' | 'delivery' | 'silence' | 'faults'>,
): Millis | undefined {
  const response = watched(state);
  if (response === undefined) return undefined;
  const { limits } = state.setup.settings;
  const llm = response.writing && !response.inTools ? response.llmAt + limits.llmSilentMs : undefined;
  if (response.silentAt === undefined) return llm;
  const silence = response.silentAt + longestWait(state, response);
  return llm === undefined ? silence : Math.min(llm, silence);
}

/** The LLM is given up before one more filler would have passed: "one moment" right before an apology helps nobody. */
function isAllButGone({ state, now }: Step<'setup'>, response: Response): boolean {
  const { llmSilentMs, fillerAgainMs } = state.setup.settings.limits;
  if (!response.writing || response.inTools || !endsInFiller(response)) return false;
  return response.llmAt + llmSilentMs - now < fillerAgainMs;
}

export function onSilenceDeadline(step: Step): void {
  const { state, now } = step;
  const response = watched(state);
  if (response === undefined) return;
  const { limits } = state.setup.settings;
  if (response.writing && !response.inTools && now >= response.llmAt + limits.llmSilentMs) {
    onLlmStalled(step, response);
    return;
  }
  if (response.silentAt === undefined || now < response.silentAt + longestWait(state, response)) return;
  if (!ttsOwes(state, response)) {
    if (isAllButGone(step, response)) onLlmStalled(step, response);
    else fillSilence(step, response);
  } else {
    step.actions.push({ type: 'tts.cancel', context: response.context });
    onTtsFailed(step, 'stalled');
  }
}

/** The output goes on after it was held: the caller begins to wait now, if there is nothing to hear. */
export function resumeOutput(step: Step<'delivery' | 'silence'>): void {
  const { state, now } = step;
  step.actions.push({ type: 'playout.resume' });
  const { response } = state.delivery;
  if (response === undefined || response.phase === 'draining') return;
  if (response.silentAt === undefined) {
    noteFlow(response.heard, now);
    return;
  }
  response.silentAt = now;
  state.silence.since = now;
}
