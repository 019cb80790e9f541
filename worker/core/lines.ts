/**
 * Lines that somebody outside the conversation wants the bot to say (spec 02, Behaviour rules 1 and 2). Each is a bot turn of
 * its own. It waits, in order, while the caller speaks or a response runs; an interrupting one cuts the response, never the
 * caller.
 */
import { nextEpoch, tellTools } from './epoch.ts';
import type { CallEvent } from './events.ts';
import { cutResponse, startText } from './speaking.ts';
import { nobodySpeaks, type Step } from './state.ts';
import { tell } from './told.ts';

const mostWaiting = 8;
/** A line that is longer would not fit into what is written down of the call (spec 02, Limits). */
export const longestLineChars = 4_096;

export function onLineRequested(step: Step, event: Extract<CallEvent, { type: 'line.requested' }>): void {
  const { state } = step;
  const text = event.text.slice(0, longestLineChars).trim();
  if (text === '' || state.endingSoon || state.phase !== 'open') return;
  const { interrupt, interruptible } = event;
  if (interrupt) state.lines.length = 0;
  if (state.lines.length >= mostWaiting) {
    tell(step, { type: 'line.refused' });
    return;
  }
  state.lines.push({ text, interruptible, cuts: interrupt });
  speakWaiting(step);
}

/** Speaks the line that is next, when it may be spoken now. */
export function speakWaiting(step: Step): void {
  const { state } = step;
  const line = state.lines[0];
  const { response, turn } = state;
  // What was said into the response is answered behind the line.
  const quiet = nobodySpeaks(state) || (response !== undefined && turn.phase === 'aside');
  if (line === undefined || !quiet || state.endingSoon) return;
  if (response !== undefined) {
    if (!line.cuts || response.hangUpAfter) return;
    // What the caller asked is answered after the line, when nobody has heard anything of the answer.
    state.answerOwed ||= response.source === 'answer' && response.phase === 'waiting';
    cutResponse(step, step.position);
  } else {
    nextEpoch(step);
  }
  tellTools(step, { type: 'question.left' });
  state.lines.shift();
  const { text, interruptible } = line;
  startText(step, 'line', { text, interruptible });
}
