/** The bot's side of the conversation: starting, feeding, finishing and cutting its one response. */
import { unreachable } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CompletedToolCall, PlayoutPosition } from './events.ts';
import { heardChars, newClientPlayout, newHeardState, noteMarkPlayed, noteSpoken } from './heard.ts';
import { addHeard, contextFor } from './history.ts';
import { finishWriting, newResponse, writeText, type LineKind, type Response } from './response.ts';
import { noticeFault, type CallState, type Step } from './state.ts';

/** The built-in tool by which the LLM ends the call (spec 03, Telephony tools). */
export const endCallToolName = 'end_call';

/** How long a client that never echoed a mark is assumed to play on after the last frame. */
const unconfirmedPlayoutMs = 500;

/** Starts a response in the present epoch. The caller has made sure that none is running. */
function openResponse(step: Step, source: Response['source']): Response {
  const { state, now } = step;
  state.lastContext += 1;
  state.idle.askAt = undefined;
  const response = newResponse({
    epoch: state.epoch,
    context: state.lastContext,
    source,
    stallAt: now + state.settings.limits.responseStallMs,
  });
  state.response = response;
  step.actions.push({ type: 'playout.open', context: response.context });
  // A candidate holds whatever plays, also an answer that TTS has to speak again.
  if (state.turn.phase === 'candidate' || state.turn.phase === 'fading')
    step.actions.push({ type: 'playout.pause' });
  return response;
}

/** Asks the LLM for the answer to what the context now holds. */
export function startAnswer(step: Step): void {
  const { state } = step;
  state.answerOwed = false;
  openResponse(step, 'answer');
  step.actions.push({
    type: 'llm.start',
    epoch: state.epoch,
    messages: contextFor(state.history, {
      prompt: state.settings.prompt,
      budgetTokens: state.settings.contextWindowTokens,
    }),
    endCallTool: state.settings.endCallTool,
  });
}

/** Speaks a line of the bot's own in the present epoch. */
export function startLine(step: Step, kind: LineKind): void {
  const text = lineText(step, kind);
  const response = openResponse(step, kind);
  writeText(response, text, { pronounce: step.state.pronounce, actions: step.actions });
  if (!finishWriting(response, { pronounce: step.state.pronounce, actions: step.actions }))
    completeResponse(step);
}

/** Speaks a line on the bot's own initiative: a bot turn of its own (spec 02, Behaviour rules 1). */
export function startBotTurn(step: Step, kind: LineKind): void {
  step.state.epoch += 1;
  startLine(step, kind);
}

function lineText(step: Step, kind: LineKind): string {
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

export function onLlmText(step: Step, response: Response, text: string): void {
  if (text !== '') response.firstTextAt ??= step.now;
  writeText(response, text, { pronounce: step.state.pronounce, actions: step.actions });
}

export function onLlmDone(step: Step, response: Response, toolCalls: readonly CompletedToolCall[]): void {
  const hangUp = step.state.settings.endCallTool && toolCalls.some((call) => call.name === endCallToolName);
  response.hangUpAfter ||= hangUp;
  const out = { pronounce: step.state.pronounce, actions: step.actions };
  const wrote = finishWriting(response, out);
  if (!wrote && !hangUp) {
    speakInstead(step, response, 'empty');
    return;
  }
  step.state.failuresInARow.llm = 0;
  if (wrote) return;
  writeText(response, step.state.settings.farewell, out);
  if (!finishWriting(response, out)) completeResponse(step);
}

/** The LLM failed: what it had written is spoken; without any text the caller hears the apology. */
export function onLlmFailed(step: Step, response: Response): void {
  const out = { pronounce: step.state.pronounce, actions: step.actions };
  if (finishWriting(response, out)) {
    if (noticeFault(step, 'llm', 'failed')) step.state.endingSoon = true;
    return;
  }
  speakInstead(step, response, 'failed');
}

function speakInstead(step: Step, response: Response, what: 'empty' | 'failed' | 'stalled'): void {
  if (noticeFault(step, 'llm', what)) step.state.endingSoon = true;
  const out = { pronounce: step.state.pronounce, actions: step.actions };
  response.firstTextAt ??= step.now;
  writeText(response, step.state.settings.apology, out);
  if (!finishWriting(response, out)) completeResponse(step);
}

/** No audio came in time. The stage that owes something is given up. */
export function onResponseStalled(step: Step, response: Response): void {
  if (response.writing && response.text === '') {
    step.actions.push({ type: 'llm.cancel' });
    response.writing = false;
    response.splitter.pending = '';
    if (response.phase === 'waiting')
      response.stallAt = step.now + step.state.settings.limits.responseStallMs;
    speakInstead(step, response, 'stalled');
    return;
  }
  step.actions.push({ type: 'tts.cancel', context: response.context });
  onTtsFailed(step, 'stalled');
}

export function onTtsSpoken(
  step: Step,
  response: Response,
  spoken: { chars: number; audioMs: number },
): void {
  const chars = noteSpoken(response.heard, spoken.chars, spoken.audioMs);
  // A mark behind no audio would be echoed at once and tell nothing.
  if (chars === undefined || spoken.audioMs === 0) return;
  step.state.lastMark += 1;
  const id = `m${step.state.lastMark}`;
  response.heard.marks.set(id, { chars, sentAt: undefined });
  step.actions.push({ type: 'playout.mark', context: response.context, id });
}

/**
 * The TTS session is dead. Nothing of the response was audible: it is spoken again from its start. Otherwise what
 * exists is played, and the text after it is spoken next.
 */
export function onTtsFailed(step: Step, what: 'failed' | 'stalled'): void {
  const { state, actions } = step;
  actions.push({ type: 'tts.reopen' });
  const hopeless = noticeFault(step, 'tts', what);
  const { response } = state;
  if (hopeless) {
    endCall(step, 'ended');
  } else if (response?.phase === 'waiting') {
    actions.push({ type: 'playout.clear', epoch: state.epoch, wire: false });
    speakAgain(step, response, response.text + response.splitter.pending);
  } else if (response?.phase === 'playing' && !response.broken) {
    response.broken = true;
    actions.push({ type: 'playout.finish', context: response.context });
  }
}

function speakAgain(step: Step, former: Response, text: string): void {
  const again = openResponse(step, former.source);
  again.firstTextAt = former.firstTextAt;
  again.hangUpAfter = former.hangUpAfter;
  again.writing = former.writing;
  const out = { pronounce: step.state.pronounce, actions: step.actions };
  writeText(again, text, out);
  if (!again.writing && !finishWriting(again, out)) completeResponse(step);
}

export function onPlayoutStarted(step: Step, response: Response, audioAt: number): void {
  const { state } = step;
  if (response.phase !== 'waiting') return;
  state.response = { ...response, phase: 'playing' };
  state.failuresInARow.tts = 0;
  const clock = state.turnClock;
  state.turnClock = undefined;
  if (clock?.epoch !== response.epoch) return;
  const firstTextAt = response.firstTextAt ?? clock.finalAt;
  step.actions.push({
    type: 'turn.measured',
    epoch: response.epoch,
    times: {
      endOfTurnMs: clock.decidedAt - clock.lastVoiceAt,
      sttFinalMs: clock.finalAt - clock.decidedAt,
      llmFirstMs: firstTextAt - clock.finalAt,
      ttsFirstMs: audioAt - firstTextAt,
      wireMs: step.now - audioAt,
    },
  });
}

/** All audio that exists is on the wire: `sentMs` of it. */
export function onPlayoutDrained(step: Step, response: Response, sentMs: Millis): void {
  const { state, now } = step;
  if (response.broken) {
    speakRest(step, response, sentMs);
    return;
  }
  if (response.phase === 'waiting') {
    if (noticeFault(step, 'tts', 'empty')) endCall(step, 'ended');
    else completeResponse(step);
    return;
  }
  const graceMs = state.client.echoesMarks
    ? state.client.delayMs + state.settings.limits.markGraceMs
    : unconfirmedPlayoutMs;
  response.heard.stoppedAt ??= now;
  state.response = { ...response, phase: 'draining', endsBy: now + graceMs };
  if (response.heard.marks.size === 0 && response.heard.echoedChars >= response.text.length)
    completeResponse(step);
}

export function onMarkPlayed(step: Step, id: string): void {
  const { state, now } = step;
  const { response } = state;
  const expected = noteMarkPlayed(response?.heard ?? newHeardState(), { id, client: state.client, now });
  if (response === undefined || !expected) return;
  if (response.phase === 'draining' && response.heard.marks.size === 0) completeResponse(step);
}

/** TTS failed in this response: what exists has been played, and the text after it is spoken next. */
function speakRest(step: Step, response: Response, sentMs: Millis): void {
  const position = { context: response.context, sentMs };
  const chars = heardChars(response.heard, {
    text: response.text,
    position,
    client: newClientPlayout(),
    now: step.now,
  });
  addHeard(step.state.history, response.text.slice(0, chars));
  speakAgain(step, response, response.text.slice(chars) + response.splitter.pending);
}

/** The response was played to its end. */
export function completeResponse(step: Step): void {
  const { state } = step;
  const { response } = state;
  if (response === undefined) return;
  state.response = undefined;
  if (response.phase !== 'waiting') addHeard(state.history, response.text);
  if (response.hangUpAfter) endCall(step, 'ended');
  else if (state.answerOwed && !state.endingSoon && nobodySpeaks(state)) startOwedAnswer(step);
}

/** A line or an answer of the bot's own waits while the caller speaks (spec 02, Behaviour rules 2). */
export const nobodySpeaks = (state: CallState): boolean =>
  state.turn.phase === 'idle' && state.voice === 'silent';

/** Answers what entered the context without a spoken turn. */
export function startOwedAnswer(step: Step): void {
  step.state.epoch += 1;
  startAnswer(step);
}

/** The caller took over: the call moves to a new epoch, and the context keeps only what was heard. */
export function cutResponse(step: Step, position: PlayoutPosition | undefined): void {
  const { state, now, actions } = step;
  const { response } = state;
  state.epoch += 1;
  if (response === undefined) return;
  state.response = undefined;
  state.turnClock = undefined;
  const onTheWire = response.phase !== 'waiting';
  if (onTheWire) {
    const chars = heardChars(response.heard, {
      text: response.text,
      position: position?.context === response.context ? position : undefined,
      client: state.client,
      now,
    });
    addHeard(state.history, response.text.slice(0, chars));
  }
  actions.push({ type: 'playout.clear', epoch: state.epoch, wire: onTheWire });
  if (response.writing) actions.push({ type: 'llm.cancel' });
  actions.push({ type: 'tts.cancel', context: response.context });
}

export function endCall(step: Step, reason: 'ended' | 'shutdown'): void {
  const { state } = step;
  if (state.phase === 'ended') return;
  state.phase = 'ended';
  state.response = undefined;
  state.turn = { phase: 'idle' };
  step.actions.push({ type: 'call.end', reason });
}
