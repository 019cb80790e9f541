/**
 * The call as a pure state machine. It owns every decision of the conversation and performs none: `step` takes one
 * fact and returns the orders that follow. Time is an argument, timers are data. Results of an older epoch or of a
 * context that is over end at the gate at the top of `step`.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from './actions.ts';
import type { CallEvent } from './events.ts';
import { noteMarkSent } from './heard.ts';
import {
  adoptSpeech,
  onDtmf,
  onDtmfDeadline,
  onSpeechConfirmed,
  onSpeechStarted,
  onSpeechStopped,
  onSttFailed,
  onSttFinalized,
  onSttText,
  onTurnDeadline,
  onVoiceResumed,
} from './listening.ts';
import { onCallResumed, unexpectedText } from './resume.ts';
import {
  completeResponse,
  endCall,
  onLlmDone,
  onLlmFailed,
  onLlmText,
  onMarkPlayed,
  onPlayoutDrained,
  onPlayoutStarted,
  onResponseStalled,
  onTtsFailed,
  onTtsSpoken,
  startBotTurn,
} from './speaking.ts';
import type { CallState, Step } from './state.ts';

/** After its time limit a call may finish what it is doing for this long before it is ended outright. */
const overtimeMs = 30_000;

/** Takes one fact. Returns the orders that follow, in the order in which they must be performed. */
export function step(state: CallState, event: CallEvent, now: Millis): CallAction[] {
  if (state.phase === 'ended') return [];
  const context: Step = { state, now, actions: [] };
  const hadResponse = state.response !== undefined;
  take(context, event);
  settle(context, hadResponse);
  return context.actions;
}

function take(step: Step, event: CallEvent): void {
  switch (event.type) {
    case 'call.opened':
      open(step);
      return;
    case 'call.resumed':
      onCallResumed(step, event);
      return;
    case 'call.closed':
      step.state.phase = 'ended';
      return;
    case 'call.shutdown':
      endCall(step, 'shutdown');
      return;
    case 'deadline.reached':
      onDeadline(step);
      return;
    case 'speech.started':
      onSpeechStarted(step);
      return;
    case 'speech.confirmed':
      onSpeechConfirmed(step, event.position);
      return;
    case 'speech.stopped':
      onSpeechStopped(step);
      return;
    case 'voice.resumed':
      onVoiceResumed(step);
      return;
    case 'stt.partial':
    case 'stt.final':
      onSttText(step, event.text, event.type === 'stt.final');
      return;
    case 'stt.finalized':
      onSttFinalized(step);
      return;
    case 'stt.failed':
      onSttFailed(step);
      return;
    case 'mark.played':
      onMarkPlayed(step, event.id);
      return;
    case 'mark.sent':
      step.state.client.newestMark = { id: event.id, sentAt: step.now };
      if (step.state.response !== undefined) noteMarkSent(step.state.response.heard, event.id, step.now);
      return;
    case 'dtmf.pressed':
      onDtmf(step, event.digit, event.position);
      return;
    case 'tts.failed':
      onTtsFailed(step, 'failed');
      return;
    case 'llm.text':
    case 'llm.done':
    case 'llm.failed':
      takeLlm(step, event);
      return;
    case 'tts.spoken':
    case 'tts.flushed':
    case 'playout.started':
    case 'playout.drained':
      takeOutput(step, event);
      return;
  }
}

/** The gate for results of the LLM: they count only for the epoch that asked and while it still waits for them. */
function takeLlm(step: Step, event: Extract<CallEvent, { type: `llm.${string}` }>): void {
  const { response } = step.state;
  if (response === undefined || response.epoch !== event.epoch || !response.writing) return;
  if (event.type === 'llm.text') {
    const text = unexpectedText(step, response, event.text);
    if (text !== undefined) onLlmText(step, response, text);
  } else if (event.type === 'llm.done') onLlmDone(step, response, event.toolCalls);
  else onLlmFailed(step, response);
}

/** The gate for what happens to audio: it counts only for the running response. */
function takeOutput(
  step: Step,
  event: Extract<CallEvent, { type: 'tts.spoken' | 'tts.flushed' | 'playout.started' | 'playout.drained' }>,
): void {
  const { response } = step.state;
  if (response === undefined || response.context !== event.context) return;
  switch (event.type) {
    case 'tts.spoken':
      onTtsSpoken(step, response, {
        chars: response.saidBefore + event.chars,
        audioMs: event.audioMs,
      });
      return;
    case 'tts.flushed':
      // A provider that does not report single pieces still gets one mark, at the end of the response.
      if (event.audioMs > 0) onTtsSpoken(step, response, { chars: response.said, audioMs: event.audioMs });
      return;
    case 'playout.started':
      onPlayoutStarted(step, response, event.audioAt);
      return;
    case 'playout.drained':
      onPlayoutDrained(step, response, event.sentMs);
      return;
  }
}

function open(step: Step): void {
  const { state, now } = step;
  if (state.phase !== 'opening') return;
  state.phase = 'open';
  state.callEndsAt = now + state.settings.maxCallMs;
  const quiet = state.turn.phase === 'idle' && state.response === undefined;
  if (quiet && state.settings.greeting.trim() !== '') startBotTurn(step, 'greeting');
}

function onDeadline(step: Step): void {
  const { state, now } = step;
  onTurnDeadline(step);
  onDtmfDeadline(step);
  const { response } = state;
  if (response?.phase === 'waiting' && now >= response.stallAt && state.turn.phase === 'idle')
    onResponseStalled(step, response);
  if (response?.phase === 'draining' && now >= response.endsBy) completeResponse(step);
  if (state.idle.askAt !== undefined && now >= state.idle.askAt) askOrEnd(step);
  if (state.callEndsAt !== undefined && now >= state.callEndsAt) endForTime(step, state.callEndsAt);
}

/** Nobody has said anything for a while. */
function askOrEnd(step: Step): void {
  const { state } = step;
  state.idle.askAt = undefined;
  if (state.phase !== 'open' || state.response !== undefined || state.turn.phase !== 'idle') return;
  state.idle.asks += 1;
  startBotTurn(step, state.idle.asks > state.settings.idle.endAfter ? 'farewell' : 'question');
}

function endForTime(step: Step, endedAt: Millis): void {
  const { state, now } = step;
  if (now >= endedAt + overtimeMs) endCall(step, 'ended');
  else state.endingSoon = true;
}

/** What holds after every step, whatever the fact was. */
function settle(step: Step, hadResponse: boolean): void {
  const { state, now } = step;
  if (state.phase !== 'open') return;
  if (hadResponse && state.response === undefined) adoptSpeech(step);
  if (state.response !== undefined || state.turn.phase !== 'idle') {
    state.idle.askAt = undefined;
    return;
  }
  if (state.endingSoon) {
    startBotTurn(step, 'farewell');
    return;
  }
  const { askAfterMs } = state.settings.idle;
  if (askAfterMs > 0) state.idle.askAt ??= now + askAfterMs;
}

/** When the shell must deliver `deadline.reached`; undefined when nothing waits for time. */
export function nextDeadline(state: CallState): Millis | undefined {
  if (state.phase !== 'open') return undefined;
  let earliest = earlier(turnDeadline(state), responseDeadline(state));
  earliest = earlier(earliest, state.dtmf.completeAt);
  earliest = earlier(earliest, state.idle.askAt);
  if (state.callEndsAt === undefined) return earliest;
  return earlier(earliest, state.endingSoon ? state.callEndsAt + overtimeMs : state.callEndsAt);
}

function turnDeadline(state: CallState): Millis | undefined {
  const { turn } = state;
  if (turn.phase === 'fading') return turn.resumeAt;
  if (turn.phase === 'pausing') return turn.decideAt;
  return turn.phase === 'finalizing' ? turn.giveUpAt : undefined;
}

function responseDeadline(state: CallState): Millis | undefined {
  const { response } = state;
  // A candidate interruption holds the output, so waiting for it proves nothing.
  if (response?.phase === 'waiting') return state.turn.phase === 'idle' ? response.stallAt : undefined;
  return response?.phase === 'draining' ? response.endsBy : undefined;
}

const earlier = (a: Millis | undefined, b: Millis | undefined): Millis | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);
