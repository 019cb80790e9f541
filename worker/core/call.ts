/**
 * The call as a pure state machine. It owns every decision of the conversation and performs none: `step` takes one
 * event and returns the actions that follow. Time is an argument, timers are data. Results of an older epoch or of a
 * context that is over end at the gate at the top of `step`.
 */
import { endCourse, endSoon, isEnding, isOpen, openCourse } from './course.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from './actions.ts';
import { answer, closeCommands, dropLines, dropTexts } from './commands.ts';
import { nextEpoch, tellTools } from './epoch.ts';
import type { CallEvent } from './events.ts';
import { onLlmDone, onLlmFailed, onLlmText, onToolSettled } from './answer/answering.ts';
import { noteAcknowledged, noteWord } from './delivery/heard.ts';
import { onDtmf } from './dialogue/keys.ts';
import { onCommand, speakWaiting } from './dialogue/lines.ts';
import { hear } from './dialogue/hear.ts';
import { onPieceSent, settleOperator } from './dialogue/takeover.ts';
import { answerTyped } from './dialogue/turn-ended.ts';
import {
  onMarkPlayed,
  onMarkSent,
  onPlayoutDrained,
  onPlayoutFed,
  onPlayoutStarted,
  onPlayoutStarved,
  onTtsFailed,
  onTtsSpoken,
} from './delivery/output.ts';
import type { Response } from './answer/response.ts';
import { measureTurn } from './dialogue/measured.ts';
import { onCallResumed, unexpectedText } from './resume.ts';
import { completeResponse, startBotTurn, startText, tellCutShort } from './answer/speaking.ts';
import { onSpeculativeLlm } from './dialogue/speculation.ts';
import { beginIdle } from './dialogue/idle.ts';
import { leave, settleParting } from './dialogue/parting.ts';
import { onDeadline } from './timers.ts';
import { onWordsWritten } from './delivery/written.ts';
import { onShutdown } from './dialogue/shutdown.ts';
import { onCarrier, onMissing, settleAgent, settleHandOff } from './answer/transferring.ts';
import { onAgentPrepared } from './answer/agent-change.ts';
import { onNodeEquipped } from './answer/node-change.ts';
import { brokenRule } from './rules.ts';
import { greetingOf, nobodySpeaks, type CallState, type Step } from './state.ts';
import { tell } from './told.ts';

/** Takes one event. Returns the actions that follow, in the order in which they must be performed. */
export function step(state: CallState, event: CallEvent, now: Millis): CallAction[] {
  if (state.course.phase === 'ended') return tooLate(event);
  const position = 'position' in event ? event.position : undefined;
  const context: Step = { state, now, position, actions: [] };
  const hadResponse = state.delivery.response !== undefined;
  take(context, event);
  settle(context, hadResponse);
  if (state.delivery.response === undefined) state.silence.since = undefined;
  const rule = brokenRule(state);
  if (rule !== undefined) tell(context, { type: 'rule.broken', rule });
  return context.actions;
}

/** Whoever gives a command is answered also when the call is over. */
function tooLate(event: CallEvent): CallAction[] {
  const actions: CallAction[] = [];
  if (event.type === 'command.given') {
    const { id, command } = event;
    answer({ actions }, { id, type: command.type }, { kind: 'refused', code: 'call_over' });
  }
  return actions;
}

function take(step: Step, event: CallEvent): void {
  switch (event.type) {
    case 'call.opened':
      open(step, event);
      return;
    case 'call.resumed':
      onCallResumed(step, event);
      return;
    case 'call.closed':
      tellCutShort(step);
      endCourse(step.state.course);
      tellTools(step, { type: 'call.ended' });
      closeCommands(step, step.state.commands, { ended: false });
      return;
    case 'call.shutdown':
      onShutdown(step, event.withinMs);
      return;
    case 'deadline.reached':
      onDeadline(step);
      return;
    case 'speech.started':
    case 'speech.confirmed':
    case 'speech.stopped':
    case 'voice.resumed':
    case 'voice.paused':
    case 'voice.lasted':
    case 'voice.caught_up':
    case 'turn.judged':
    case 'stt.partial':
    case 'stt.final':
    case 'stt.finalized':
    case 'stt.failed':
      hear(step, event);
      return;
    case 'mark.played':
    case 'mark.sent':
      takeMark(step, event);
      return;
    case 'tool.settled':
      onToolSettled(step, event);
      return;
    case 'dtmf.pressed':
    case 'command.given':
    case 'carrier.answered':
    case 'agent.prepared':
    case 'agent.missing':
    case 'node.equipped':
    case 'words.written':
    case 'lines.ready':
    case 'tts.failed':
      takeOthers(step, event);
      return;
    case 'llm.text':
    case 'llm.done':
    case 'llm.failed':
      takeLlm(step, event);
      return;
    case 'tts.spoken':
    case 'tts.word':
    case 'tts.flushed':
    case 'playout.started':
    case 'playout.starved':
    case 'playout.fed':
    case 'playout.acknowledged':
    case 'playout.drained':
      if (step.state.delivery.response?.context === event.context)
        takeOutput(step, step.state.delivery.response, event);
      return;
  }
}

/** Takes keys, and what is neither of the caller nor of a stage. */
function takeOthers(
  step: Step,
  event: Extract<
    CallEvent,
    {
      type:
        | 'dtmf.pressed'
        | 'command.given'
        | 'carrier.answered'
        | 'agent.prepared'
        | 'agent.missing'
        | 'node.equipped'
        | 'words.written'
        | 'lines.ready'
        | 'tts.failed';
    }
  >,
): void {
  if (event.type === 'dtmf.pressed') onDtmf(step, event.digit, event.position);
  else if (event.type === 'command.given') onCommand(step, event);
  else if (event.type === 'words.written') onWordsWritten(step, event.text);
  else if (event.type === 'lines.ready')
    step.state.silence.readyLines = { fillers: event.fillers, farewell: event.farewell };
  else if (event.type === 'agent.prepared') onAgentPrepared(step, event);
  else if (event.type === 'agent.missing') onMissing(step, event);
  else if (event.type === 'node.equipped') onNodeEquipped(step, event);
  else if (event.type === 'tts.failed') onTtsFailed(step, 'failed');
  else onCarrier(step, event);
}

function takeMark(step: Step, event: Extract<CallEvent, { type: `mark.${string}` }>): void {
  if (event.type === 'mark.played') onMarkPlayed(step, event.id);
  else {
    onMarkSent(step, event);
    onPieceSent(step, event);
  }
}

/** The gate for results of the LLM: they count only for the request that is the newest and still waited for. */
function takeLlm(step: Step, event: Extract<CallEvent, { type: `llm.${string}` }>): void {
  const {
    delivery: { response },
    speculation: { running: speculation },
  } = step.state;
  if (speculation?.round === event.round) {
    onSpeculativeLlm(step, speculation, event);
    return;
  }
  if (response === undefined || response.writing.round !== event.round) return;
  if (response.writing.phase !== 'llm') return;
  if (event.type === 'llm.text') {
    const text = unexpectedText(step, response, event.text);
    if (text !== undefined) onLlmText(step, response, text);
  } else if (event.type === 'llm.done') onLlmDone(step, response, event);
  else onLlmFailed(step, response);
}

type OutputEvent = Extract<CallEvent, { type: `tts.${string}` | `playout.${string}`; context: number }>;

/** Takes what happened to the audio of the running response. */
function takeOutput(step: Step, response: Response, event: OutputEvent): void {
  const { saidBefore } = response.spoken;
  switch (event.type) {
    case 'tts.spoken':
      step.state.delivery.ttsReports = true;
      onTtsSpoken(step, response, { chars: saidBefore + event.chars, audioMs: event.audioMs });
      return;
    case 'tts.word':
      noteWord(response.playing.heard, { chars: saidBefore + event.chars, startMs: event.startMs });
      return;
    case 'tts.flushed':
      if (response.spoken.phase !== 'broken') response.spoken.phase = 'flushed';
      tell(step, { type: 'bot.tts_stopped', epoch: response.epoch });
      // A provider that does not report single pieces still gets one mark, at the end of the response.
      if (event.audioMs > 0)
        onTtsSpoken(step, response, { chars: response.spoken.said, audioMs: event.audioMs });
      return;
    case 'playout.started':
      if (onPlayoutStarted(step, response)) measureTurn(step, response, event);
      return;
    case 'playout.starved':
      onPlayoutStarved(step, response, event.sentMs);
      return;
    case 'playout.fed':
      onPlayoutFed(step, response);
      return;
    case 'playout.acknowledged':
      noteAcknowledged(response.playing.heard, event.playedMs, step.now);
      return;
    case 'playout.drained':
      onPlayoutDrained(step, response, event.sentMs);
      return;
  }
}

function open(
  step: Step,
  { afterWords = false, message }: Extract<CallEvent, { type: 'call.opened' }>,
): void {
  const { state, now } = step;
  if (!openCourse(state.course, now + state.setup.settings.maxCallMs)) return;
  if (message !== undefined) {
    // Whatever becomes of it, nobody talks with a machine.
    endSoon(state.course, 'machine');
    nextEpoch(step);
    startText(step, 'closing', { text: message, interruptible: false });
    return;
  }
  const quiet = state.caller.turn.phase === 'idle' && state.delivery.response === undefined;
  if (state.delivery.response !== undefined || greetingOf(state.setup.settings).trim() === '') return;
  // Who speaks already is heard first, and greeted in answer.
  if (afterWords || !quiet) state.conversation.greets = true;
  else startBotTurn(step, 'greeting');
}

/** What holds after every step, whatever the event was. */
function settle(step: Step, hadResponse: boolean): void {
  const { state } = step;
  if (!isOpen(state.course)) return;
  const { response } = state.delivery;
  if (response?.isSilent === true && response.writing.phase === 'done') completeResponse(step);
  settleOperator(step);
  if (hadResponse && state.delivery.response === undefined) hear(step, { type: 'response.ended' });
  hear(step, { type: 'step.settled' });
  settleHandOff(step);
  settleAgent(step);
  if (!isOpen(state.course)) return;
  if (isEnding(state.course)) dropTexts(step, state.commands);
  // A TTS that was given up says no line.
  if (state.faults.lastWords) dropLines(step, state.commands);
  answerTyped(step);
  settleParting(step);
  if (!isOpen(state.course)) return;
  if (state.commands.lines.length > 0) speakWaiting(step);
  if (state.delivery.response !== undefined || state.caller.turn.phase !== 'idle') {
    state.silence.idle.askAt = undefined;
    return;
  }
  if (isEnding(state.course) && nobodySpeaks(state)) {
    leave(step);
    return;
  }
  beginIdle(step);
}
