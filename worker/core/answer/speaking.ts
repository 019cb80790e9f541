/** The agent's side of the conversation: starting, writing, finishing and cutting its one response. */
import { endCourse, endSoon, isEnding } from '../course.ts';
import { unreachable } from '../../../shared/base/assert.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { ContextMessage } from '../actions.ts';
import { closeCommands } from '../commands.ts';
import {
  enterHeard,
  enterKeys,
  tellHeardEnd,
  enterToolResults,
  messagesFor,
  reachSafePoint,
  roundMessages,
  offeredTools,
} from '../delivery/context.ts';
import { applyEdits } from './edits.ts';
import { nextEpoch, tellTools } from '../epoch.ts';
import type { PlayoutPosition } from '../events.ts';
import { stepFlow } from '../flow/flow.ts';
import { heardChars, noteGap } from '../delivery/heard.ts';
import type { Said } from '../delivery/history.ts';
import {
  finishWriting,
  flush,
  newResponse,
  pauseWriting,
  speakFiller,
  speakRecording,
  unfilled,
  writeText,
  type AgentLine,
  type LineKind,
  type Response,
  type Voice,
} from './response.ts';
import { nextFiller, postponeRetry } from './silence-state.ts';
import { agentLeads } from '../operator.ts';
import { tell } from '../told.ts';
import {
  awaitsWord,
  greetingOf,
  mayStay,
  nobodySpeaks,
  outputDucked,
  outputHeld,
  type Slices,
  type Step,
} from '../state.ts';

export const voiceOf = (step: Step<'setup'>): Voice => ({
  pronounce: step.state.setup.pronounce,
  sentences: step.state.setup.vocabulary.sentences,
  actions: step.actions,
});

/** The same for words of the LLM, which may have a voice of its own. */
export const modelVoiceOf = (step: Step<'setup'>): Voice => ({
  ...voiceOf(step),
  atOnce: step.state.setup.settings.modelSpeaks === true,
});

/** Since when the caller waits for what comes next. A line that is ready has the time to be heard in any case. */
function stillOwedSince({ state, now }: Step<'setup' | 'silence'>): Millis {
  const { audibleWithinMs, firstSoundMs } = state.setup.settings.limits;
  return Math.max(state.silence.since ?? now, now - (audibleWithinMs - firstSoundMs));
}

/**
 * Starts a response in the present epoch. The caller of this has made sure that none is running. A caller who heard nothing of the
 * last one goes on waiting, unless `owedSince` says better.
 */
export function openResponse(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence'>,
  source: Response['source'],
  options: { owedSince?: Millis; interruptible?: boolean; isSilent?: boolean } = {},
): Response {
  const { state, now } = step;
  state.numbers.context += 1;
  state.silence.idle.askAt = undefined;
  state.delivery.cutOff = '';
  const owedSince = options.owedSince ?? stillOwedSince(step);
  state.silence.since = owedSince;
  const response = newResponse({
    epoch: state.numbers.epoch,
    context: state.numbers.context,
    source,
    interruptible: options.interruptible ?? source !== 'farewell',
    owedSince,
    msPerChar: state.delivery.msPerChar,
    isSilent: options.isSilent ?? false,
    now,
  });
  const former = state.delivery.response;
  // A line that stands in for a response that broke down goes on with it.
  if (former !== undefined) {
    response.recovery.wasAudible = former.recovery.wasAudible || former.playing.phase !== 'waiting';
    response.recovery.heardText =
      former.recovery.heardText + former.writing.text.slice(0, former.recovery.heardTo);
    response.recovery.hadText = former.recovery.hadText || former.writing.text.trim() !== '';
    response.recovery.isStandIn = former.recovery.isStandIn || former.source !== source;
  }
  state.delivery.response = response;
  step.actions.push({ type: 'playout.open', context: response.context });
  // A candidate holds whatever plays, also an answer that TTS has to speak again.
  if (outputHeld(state)) {
    step.actions.push({ type: 'playout.pause' });
    noteGap(response.playing.heard, now);
  } else if (outputDucked(state)) step.actions.push({ type: 'playout.duck' });
  return response;
}

/** Asks the LLM for the answer to a conversation, behind which stands `behind`. Returns the number of the request. */
export function requestAnswer(
  step: Step<'setup' | 'numbers' | 'conversation'>,
  history: Said,
  { behind = [], withTools = true }: { behind?: readonly ContextMessage[]; withTools?: boolean } = {},
): number {
  const { state } = step;
  state.numbers.round += 1;
  step.actions.push({
    type: 'llm.start',
    epoch: state.numbers.epoch,
    round: state.numbers.round,
    messages: messagesFor(state, history, behind),
    tools: withTools ? offeredTools(state) : [],
  });
  return state.numbers.round;
}

/** Asks the LLM to go on with the running answer, behind what the answer has done so far. */
export function startRound(
  step: Step<'setup' | 'numbers' | 'conversation'>,
  response: Response,
  { behind = [], withTools = true }: { behind?: readonly ContextMessage[]; withTools?: boolean } = {},
): void {
  const done = [...roundMessages(response), ...behind];
  response.writing.round = requestAnswer(step, step.state.conversation.history, { behind: done, withTools });
}

/** The LLM writes no more for this response. A request that runs is cancelled, unless it has ended by itself. */
export function stopLlm(step: Step<never>, response: Response, { cancels = true } = {}): void {
  if (response.writing.phase === 'llm') {
    if (cancels) step.actions.push({ type: 'llm.cancel' });
    tell(step, { type: 'bot.llm_stopped', epoch: response.epoch });
  }
  response.writing.phase = 'done';
}

/** Opens the answer to what the context now holds: results of older tool calls enter it, and the flow moves. `behind` is for the LLM. */
export function openAnswer(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools'>,
  owedSince: Millis,
  options: { readonly isSilent?: boolean } = {},
): { readonly response: Response; readonly behind: readonly ContextMessage[] } {
  step.state.conversation.owed = false;
  step.state.silence.retryAt = undefined;
  applyEdits(step.state.conversation.edits, step.state.conversation.history);
  enterKeys(step.state);
  enterToolResults(step);
  const say = reachSafePoint(step);
  const response = openResponse(step, 'answer', { owedSince, ...options });
  sayOnEntry(step, response, say);
  return { response, behind: behindEntry(say) };
}

/** The line of a flow's node, before the LLM goes on. */
export function sayOnEntry(step: Step<'setup'>, response: Response, say: string): void {
  if (say === '') return;
  response.writing.firstTextAt ??= step.now;
  writeText(response, say, voiceOf(step));
  pauseWriting(response, voiceOf(step));
}

/** What the LLM is told of that line, which would ask the same again. */
export const behindEntry = (say: string): readonly ContextMessage[] =>
  say === ''
    ? []
    : [
        { role: 'assistant', text: say },
        { role: 'system', text: afterEntry },
      ];

const afterEntry =
  'Your last message is being said. Repeat nothing of it. If it asks the caller something, answer with nothing.';

/** Asks the LLM for the answer to what the context now holds. */
export function startAnswer(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools'>,
  owedSince: Millis,
  options: { readonly isSilent?: boolean } = {},
): void {
  tellTools(step, { type: 'question.left' });
  const { response, behind } = openAnswer(step, owedSince, options);
  tell(step, { type: 'bot.llm_started', epoch: response.epoch });
  startRound(step, response, { behind });
}

/** Speaks a text of the agent's own in the present epoch. */
export function startText(
  step: Step,
  kind: LineKind,
  options: { text: string; interruptible?: boolean; owedSince?: Millis },
): void {
  applyEdits(step.state.conversation.edits, step.state.conversation.history);
  const response = openResponse(step, kind, options);
  writeText(response, options.text, voiceOf(step));
  if (finishWriting(response, voiceOf(step))) flush(response, voiceOf(step));
  else completeResponse(step);
}

/**
 * Speaks a line of the agent definition in the present epoch. For a farewell that a TTS which was given up would have to say, the
 * announcement stands in.
 */
export function startLine(step: Step, kind: AgentLine, options: { owedSince?: Millis } = {}): void {
  const {
    faults: { lastWords },
    silence: { readyLines },
    commands,
  } = step.state;
  if (kind === 'farewell' && lastWords && !readyLines.farewell) startAnnouncement(step, kind);
  else if (kind === 'farewell' && !lastWords && commands.end !== undefined)
    sayClosing(step, commands.end, options);
  else {
    const { greeting } = step.state.setup.settings.interrupt;
    const interruptible = kind === 'greeting' ? greeting : kind !== 'farewell' || mayStay(step.state);
    startText(step, kind, { text: lineText(step, kind), interruptible, ...options });
  }
}

/** The farewell that a command wants, or what is left of it; it may want none. */
function sayClosing(step: Step, end: { farewell: string }, options: { owedSince?: Millis }): void {
  const text = end.farewell;
  end.farewell = '';
  if (text === '') endCall(step, 'ended');
  else startText(step, 'closing', { text, ...options });
}

/** Plays the announcement, which is heard whatever becomes of TTS, as a line of its own: in place of an apology or of a farewell. */
export function startAnnouncement(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation'>,
  kind: 'apology' | 'farewell',
  { standIns = 0 } = {},
): void {
  applyEdits(step.state.conversation.edits, step.state.conversation.history);
  const response = openResponse(step, kind);
  response.recovery.standIns = standIns;
  announce(step, response);
  response.writing.phase = 'done';
  flush(response, voiceOf(step));
}

/** Plays the announcement in front of everything else in a response. */
export function announce(step: Step<'setup'>, response: Response): void {
  speakRecording(response, step.state.setup.settings.announcement, voiceOf(step));
}

/** Speaks a line on the agent's own initiative: an agent turn of its own (docs/reference/agent-link.md, Lines). */
export function startBotTurn(step: Step, kind: AgentLine): void {
  // Of a call that is on its way to its end, the cause is known.
  if (kind === 'farewell' && !isEnding(step.state.course)) step.state.course.cause = 'silence';
  nextEpoch(step);
  startLine(step, kind);
}

function lineText(step: Step<'setup' | 'tools'>, kind: AgentLine): string {
  const { settings } = step.state.setup;
  switch (kind) {
    case 'greeting':
      return greetingOf(step.state.setup.settings);
    case 'question':
      // A yes to another question would be taken for the answer.
      return awaitsWord(step.state) ? settings.confirmQuestion : settings.idle.ask;
    case 'apology':
      return settings.apology;
    case 'misheard':
      return settings.misheard;
    case 'farewell':
      return settings.farewell;
    default:
      return unreachable(kind);
  }
}

/** Says something for a silence in the response: the next filler. False when there is none. */
export function speakForSilence(step: Step<'setup' | 'silence'>, response: Response): boolean {
  const { state } = step;
  const { fillers, lateLines } = state.setup.settings;
  const lines = fillers.length > 0 ? fillers : lateLines;
  const line = nextFiller(state.silence, lines);
  if (line !== undefined) speakFiller(response, line, voiceOf(step));
  return line !== undefined;
}

/** A mark takes no longer on its way to the caller and back over a near line; a far one takes this much longer. */
const nearMs: Millis = 100;
const farMs: Millis = 400;

/** A response is over as far as it was played: the conversation has what was heard of it. */
export function closeResponse(step: Step<'delivery' | 'silence' | 'conversation'>, response: Response): void {
  const { state, now } = step;
  state.delivery.response = undefined;
  const { delayMs } = state.delivery.client;
  // A client that echoes nothing is waited for, and what it was sent is over for the caller all the same. Over a far line the caller hears the
  // next sound late, too: the wait for the mark would be a silence of its own.
  const playedAt =
    response.playing.phase === 'draining'
      ? Math.min(now, response.playing.drainedAt + Math.max(Math.min(delayMs, nearMs), delayMs - farMs))
      : now;
  postponeRetry(state.silence, playedAt);
  const to = response.playing.phase !== 'waiting' || response.isSilent ? response.writing.text.length : 0;
  const isWhole = to >= response.writing.text.length && !response.recovery.isStandIn;
  tellHeardEnd(step, response, { to, how: isWhole ? 'finished' : 'failed' });
  if (response.playing.phase !== 'waiting' || response.recovery.wasAudible)
    tell(step, { type: 'turn.bot_ended', epoch: response.epoch });
  if (response.playing.phase !== 'waiting') {
    enterHeard(state.conversation.history, response, response.writing.text.length);
    state.delivery.lastSaid = { text: response.writing.text, endedAt: playedAt };
  } else {
    enterHeard(state.conversation.history, response, response.isSilent ? response.writing.text.length : 0);
  }
}

/** The response was played to its end. */
export function completeResponse(step: Step): void {
  const { state } = step;
  const { response } = state.delivery;
  if (response === undefined) return;
  closeResponse(step, response);
  if (response.writing.asks !== undefined)
    tellTools(step, { type: 'question.heard', key: response.writing.asks.key });
  const isLast = response.hangUpAfter || response.source === 'closing' || endsWithNode(step, response);
  if (isLast && response.interruptible && mayAnswer(state, response) && !nobodySpeaks(state)) {
    state.course.parting = 'heard';
    return;
  }
  if (response.source === 'answer') state.course.parting = 'none';
  if (isLast && !leavesMore(step, response)) endCall(step, 'ended');
  // A caller who heard nothing has been waiting all the time.
  else answerOwed(step, stillOwedSince(step));
}

/** A caller who speaks into this farewell may have more to say: a farewell of the LLM, or that of `end`. */
const mayAnswer = (state: Slices<'course' | 'faults'>, { source }: Response): boolean =>
  mayStay(state) || (source === 'closing' && !state.faults.lastWords);

/** Behind the last words of the agent there are lines that wait, and the farewell of an agent process that ends the call: that goes first. */
function leavesMore(
  { state: { course, commands, faults } }: Step<'course' | 'commands' | 'faults'>,
  response: Response,
): boolean {
  const isOwed = commands.end !== undefined && commands.end.farewell !== '';
  if (faults.lastWords || (commands.lines.length === 0 && !isOwed)) return false;
  endSoon(course, course.cause);
  const wasSaid = response.playing.phase !== 'waiting' || (response.isSilent && response.writing.text !== '');
  if (wasSaid && !isOwed) course.parting = 'said';
  return true;
}

/** Answers what entered the context while a response ran, unless somebody speaks or the call is on its way to its end. */
export function answerOwed(
  step: Step<
    'setup' | 'course' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools' | 'operator'
  >,
  owedSince: Millis,
): void {
  const { state } = step;
  if (state.conversation.owed && !isEnding(state.course) && nobodySpeaks(state))
    startOwedAnswer(step, owedSince);
}

/** The flow's node ends the call after its answer. */
function endsWithNode(
  { state, now }: Step<'setup' | 'course' | 'conversation'>,
  response: Response,
): boolean {
  const {
    conversation: { flow },
    setup: { settings },
  } = state;
  if (flow === undefined || settings.flow === undefined) return false;
  if (response.source !== 'answer' || response.writing.asks !== undefined) return false;
  const actions = stepFlow(flow, { type: 'answer.completed' }, { settings: settings.flow, now });
  const ends = actions.some(({ type }) => type === 'call.end');
  if (ends && !isEnding(state.course)) state.course.cause = 'flow';
  return ends;
}

/** Answers what entered the context without a spoken turn, unless an operator speaks: what is there then is known when the agent goes on. */
export function startOwedAnswer(
  step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools' | 'operator'>,
  owedSince: Millis = step.now,
): void {
  if (!agentLeads(step.state)) return;
  tellTools(step, { type: 'question.left' });
  nextEpoch(step);
  startAnswer(step, owedSince);
}

/** All of it is on the wire, also where another worker sent it. */
const drainedPosition = (response: Response): PlayoutPosition | undefined =>
  response.playing.phase === 'draining'
    ? { context: response.context, sentMs: response.playing.sentMs }
    : undefined;

/** How much of its text was heard by now. */
function heardOf(
  { state, now }: Step<'setup' | 'delivery'>,
  response: Response,
  position: PlayoutPosition | undefined,
): number {
  if (response.playing.phase === 'waiting') return response.isSilent ? response.writing.text.length : 0;
  return heardChars(response.playing.heard, {
    text: response.writing.text,
    pronounce: state.setup.pronounce,
    position: position?.context === response.context ? position : drainedPosition(response),
    client: state.delivery.client,
    now,
  });
}

/** The call ends in a response: what was heard of it is told. */
export function tellCutShort(step: Step<'setup' | 'delivery'>): void {
  const { response } = step.state.delivery;
  if (response === undefined) return;
  const to = Math.max(response.recovery.heardTo, heardOf(step, response, step.position));
  tellHeardEnd(step, response, { to, how: 'call_ended' });
}

/**
 * Somebody took over: the call moves to a new epoch, and the context keeps only what was heard. With `heardTo` that is known, and the client
 * plays what it has.
 */
export function cutResponse(
  step: Step<'setup' | 'course' | 'numbers' | 'caller' | 'delivery' | 'commands' | 'conversation' | 'tools'>,
  position: PlayoutPosition | undefined,
  { heardTo }: { readonly heardTo?: number } = {},
): void {
  const { state, now, actions } = step;
  const { response } = state.delivery;
  state.delivery.response = undefined;
  if (response === undefined) {
    nextEpoch(step);
    return;
  }
  state.caller.clock = undefined;
  const { end } = state.commands;
  if (response.hangUpAfter || end !== undefined || state.course.parting === 'said')
    state.course.parting = 'cut';
  const onTheWire = response.playing.phase !== 'waiting';
  const chars = heardTo ?? heardOf(step, response, position);
  if (onTheWire) state.delivery.lastSaid = { text: response.writing.text, endedAt: now };
  tellHeardEnd(step, response, { to: chars, how: 'interrupted' });
  enterHeard(state.conversation.history, response, chars);
  const { asks } = response.writing;
  // A caller who answers before the question is quite over has heard it.
  if (asks !== undefined && chars >= (asks.from + response.writing.text.length) / 2)
    tellTools(step, { type: 'question.heard', key: asks.key });
  nextEpoch(step);
  tell(step, { type: 'turn.interrupted', epoch: state.numbers.epoch });
  enterToolResults(step);
  state.delivery.cutOff = unfilled(response, chars) + response.writing.splitter.pending;
  if (end !== undefined && response.source === 'closing') end.farewell = state.delivery.cutOff.trim();
  actions.push({
    type: 'playout.clear',
    epoch: state.numbers.epoch,
    wire: onTheWire && heardTo === undefined,
  });
  stopLlm(step, response);
  actions.push({ type: 'tts.cancel', context: response.context });
}

export function endCall(
  step: Step<
    'setup' | 'course' | 'caller' | 'speculation' | 'delivery' | 'commands' | 'conversation' | 'tools'
  >,
  reason: 'ended' | 'shutdown' | 'transferred',
): void {
  const { state } = step;
  if (!endCourse(state.course)) return;
  if (reason === 'ended' && state.course.shutdown !== undefined) reason = 'shutdown';
  tellCutShort(step);
  state.delivery.response = undefined;
  state.speculation.running = undefined;
  state.caller.turn = { phase: 'idle' };
  tellTools(step, { type: 'call.ended' });
  closeCommands(step, state.commands, { ended: true });
  const { cause } = state.course;
  step.actions.push({
    type: 'call.end',
    reason,
    ...(reason === 'ended' && cause !== undefined && { cause }),
  });
}
