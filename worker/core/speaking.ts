/** The bot's side of the conversation: starting, writing, finishing and cutting its one response. */
import { unreachable } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CompletedToolCall, PlayoutPosition } from './events.ts';
import { heardChars, noteGap } from './heard.ts';
import { addHeard, contextFor, type History } from './history.ts';
import type { ContextMessage } from './actions.ts';
import {
  finishWriting,
  flush,
  newResponse,
  speakFiller,
  unfilled,
  writeText,
  type LineKind,
  type Response,
  type Voice,
} from './response.ts';
import { nobodySpeaks, noticeFault, outputHeld, type Step } from './state.ts';

/** The built-in tool by which the LLM ends the call (spec 03, Telephony tools). */
export const endCallToolName = 'end_call';

export const voiceOf = (step: Step): Voice => ({ pronounce: step.state.pronounce, actions: step.actions });

/** Starts a response in the present epoch. The caller of this has made sure that none is running. */
export function openResponse(
  step: Step,
  source: Response['source'],
  options: { owedSince?: Millis; interruptible?: boolean } = {},
): Response {
  const { state, now } = step;
  state.lastContext += 1;
  state.idle.askAt = undefined;
  state.cutOff = '';
  const response = newResponse({
    epoch: state.epoch,
    context: state.lastContext,
    source,
    interruptible: (options.interruptible ?? true) && source !== 'farewell',
    owedSince: options.owedSince ?? now,
    now,
  });
  state.response = response;
  step.actions.push({ type: 'playout.open', context: response.context });
  // A candidate holds whatever plays, also an answer that TTS has to speak again.
  if (outputHeld(state)) {
    step.actions.push({ type: 'playout.pause' });
    noteGap(response.heard, now);
  }
  return response;
}

/** Asks the LLM for the answer to a conversation. Returns the number of the request. */
export function requestAnswer(step: Step, history: History): number {
  const { state } = step;
  state.lastRound += 1;
  const messages: readonly ContextMessage[] = contextFor(history, {
    prompt: state.settings.prompt,
    budgetTokens: state.settings.contextWindowTokens,
  });
  step.actions.push({
    type: 'llm.start',
    epoch: state.epoch,
    round: state.lastRound,
    messages,
    endCallTool: state.settings.endCallTool,
  });
  return state.lastRound;
}

/** Asks the LLM for the answer to what the context now holds. */
export function startAnswer(step: Step, owedSince: Millis): void {
  step.state.answerOwed = false;
  const response = openResponse(step, 'answer', { owedSince });
  response.round = requestAnswer(step, step.state.history);
}

/** Speaks a text of the bot's own in the present epoch. */
export function startText(
  step: Step,
  kind: LineKind,
  options: { text: string; interruptible?: boolean; owedSince?: Millis },
): void {
  const response = openResponse(step, kind, options);
  writeText(response, options.text, voiceOf(step));
  if (finishWriting(response, voiceOf(step))) flush(response, voiceOf(step));
  else completeResponse(step);
}

/** Speaks a line of the agent definition in the present epoch. */
export function startLine(
  step: Step,
  kind: Exclude<LineKind, 'line' | 'rest'>,
  options: { owedSince?: Millis } = {},
): void {
  startText(step, kind, { text: lineText(step, kind), ...options });
}

/** Speaks a line on the bot's own initiative: a bot turn of its own (spec 02, Behaviour rules 1). */
export function startBotTurn(step: Step, kind: Exclude<LineKind, 'line' | 'rest'>): void {
  step.state.epoch += 1;
  startLine(step, kind);
}

function lineText(step: Step, kind: Exclude<LineKind, 'line' | 'rest'>): string {
  const { settings } = step.state;
  switch (kind) {
    case 'greeting':
      return settings.greeting;
    case 'question':
      return settings.idle.ask;
    case 'apology':
      return settings.apology;
    case 'farewell':
      return settings.farewell;
    default:
      return unreachable(kind);
  }
}

/** The next filler of the agent definition. */
export function nextFiller(step: Step): string {
  const { settings } = step.state;
  const { fillers } = settings;
  const filler = fillers[step.state.fillersSpoken % Math.max(1, fillers.length)] ?? settings.apology;
  step.state.fillersSpoken += 1;
  return filler;
}

/** The caller has waited long enough for the LLM: something is said meanwhile. */
export function fillSilence(step: Step, response: Response): void {
  const filler = nextFiller(step);
  if (filler.trim() === '') {
    // An agent without fillers and apology wants the silence.
    response.silentAt = step.now;
    return;
  }
  response.firstTextAt ??= step.now;
  speakFiller(response, filler, voiceOf(step));
}

export function onLlmText(step: Step, response: Response, text: string): void {
  response.llmAt = step.now;
  if (text !== '') response.firstTextAt ??= step.now;
  writeText(response, text, voiceOf(step));
}

export function onLlmDone(step: Step, response: Response, toolCalls: readonly CompletedToolCall[]): void {
  const hangUp = step.state.settings.endCallTool && toolCalls.some((call) => call.name === endCallToolName);
  response.hangUpAfter ||= hangUp;
  const voice = voiceOf(step);
  const wrote = finishWriting(response, voice);
  if (!wrote && !hangUp) {
    speakInstead(step, response, 'empty');
    return;
  }
  step.state.failuresInARow.llm = 0;
  if (!wrote) writeText(response, step.state.settings.farewell, voice);
  finishOrComplete(step, response);
}

/** The LLM failed: what it had written is spoken; without any text the caller hears the apology. */
export function onLlmFailed(step: Step, response: Response): void {
  if (!finishWriting(response, voiceOf(step))) {
    speakInstead(step, response, 'failed');
    return;
  }
  flush(response, voiceOf(step));
  if (noticeFault(step, 'llm', 'failed')) step.state.endingSoon = true;
}

/** The LLM is silent for too long. What is not yet a piece is dropped: it would be glued to the apology. */
export function onLlmStalled(step: Step, response: Response): void {
  step.actions.push({ type: 'llm.cancel' });
  response.writing = false;
  response.splitter.pending = '';
  speakInstead(step, response, 'stalled');
}

function speakInstead(step: Step, response: Response, what: 'empty' | 'failed' | 'stalled'): void {
  if (noticeFault(step, 'llm', what)) step.state.endingSoon = true;
  response.firstTextAt ??= step.now;
  const space = response.text === '' || /\s$/.test(response.text) ? '' : ' ';
  writeText(response, space + step.state.settings.apology, voiceOf(step));
  finishOrComplete(step, response);
}

function finishOrComplete(step: Step, response: Response): void {
  if (finishWriting(response, voiceOf(step)) || response.fillers.length > 0) flush(response, voiceOf(step));
  else completeResponse(step);
}

/** The response was played to its end. */
export function completeResponse(step: Step): void {
  const { state } = step;
  const { response } = state;
  if (response === undefined) return;
  state.response = undefined;
  if (response.phase !== 'waiting') {
    addHeard(state.history, response.text);
    state.lastSaid = { text: response.text, endedAt: step.now };
  }
  if (response.hangUpAfter) endCall(step, 'ended');
  else if (state.answerOwed && !state.endingSoon && nobodySpeaks(state)) startOwedAnswer(step);
}

/** Answers what entered the context without a spoken turn. */
export function startOwedAnswer(step: Step): void {
  step.state.epoch += 1;
  startAnswer(step, step.now);
}

/** Somebody took over: the call moves to a new epoch, and the context keeps only what was heard. */
export function cutResponse(step: Step, position: PlayoutPosition | undefined): void {
  const { state, now, actions } = step;
  const { response } = state;
  state.epoch += 1;
  if (response === undefined) return;
  state.response = undefined;
  state.turnClock = undefined;
  const onTheWire = response.phase !== 'waiting';
  let chars = 0;
  if (onTheWire) {
    chars = heardChars(response.heard, {
      text: response.text,
      position: position?.context === response.context ? position : undefined,
      client: state.client,
      now,
    });
    addHeard(state.history, response.text.slice(0, chars));
    state.lastSaid = { text: response.text, endedAt: now };
  }
  state.cutOff = unfilled(response, chars) + response.splitter.pending;
  actions.push({ type: 'playout.clear', epoch: state.epoch, wire: onTheWire });
  if (response.writing) actions.push({ type: 'llm.cancel' });
  actions.push({ type: 'tts.cancel', context: response.context });
}

export function endCall(step: Step, reason: 'ended' | 'shutdown'): void {
  const { state } = step;
  if (state.phase === 'ended') return;
  state.phase = 'ended';
  state.response = undefined;
  state.speculation = undefined;
  state.lines.length = 0;
  state.turn = { phase: 'idle' };
  step.actions.push({ type: 'call.end', reason });
}
