/**
 * The call as a pure state machine. It owns every decision of the conversation and performs none: `step` takes one
 * event and returns the actions that follow. Time is an argument, timers are data. It conducts two machines, the caller's turn
 * (`turn/step-turn.ts`) and the agent's response (`answer/step-response.ts`), which do not know each other.
 */
import { endCourse, endSoon, isEnding, isOpen, openCourse } from './course.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { CallAction } from './actions.ts';
import { answer, closeCommands, dropLines, dropTexts } from './commands.ts';
import { nextEpoch, tellTools } from './epoch.ts';
import type { CallEvent } from './events.ts';
import { onDtmf } from './dialogue/keys.ts';
import { onCommand, speakWaiting } from './dialogue/lines.ts';
import { hear } from './dialogue/hear.ts';
import { onPieceSent, settleOperator } from './dialogue/takeover.ts';
import { answerTyped } from './dialogue/turn-ended.ts';
import { measureTurn } from './dialogue/measured.ts';
import { onCallResumed } from './resume.ts';
import { completeResponse, startBotTurn, startText, tellCutShort } from './answer/speaking.ts';
import { stepResponse, type ResponseEvent } from './answer/step-response.ts';
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

/** A command is answered also when the call is over. */
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
    case 'dtmf.pressed':
    case 'command.given':
    case 'carrier.answered':
    case 'agent.prepared':
    case 'agent.missing':
    case 'node.equipped':
    case 'words.written':
    case 'lines.ready':
      takeOthers(step, event);
      return;
    default:
      respond(step, event);
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
        | 'lines.ready';
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
  else onCarrier(step, event);
}

/** Something happens to the response that runs. */
function respond(step: Step, event: ResponseEvent): void {
  const { running: speculation } = step.state.speculation;
  if ('round' in event && speculation?.round === event.round) {
    onSpeculativeLlm(step, speculation, event);
    return;
  }
  for (const action of stepResponse(step, event)) {
    if (action.type === 'response.audible') measureTurn(step, action.response, action);
    else step.actions.push(action);
  }
  if (event.type === 'mark.sent') onPieceSent(step, event);
}

function open(
  step: Step,
  { afterWords = false, message, sttStreams = false }: Extract<CallEvent, { type: 'call.opened' }>,
): void {
  const { state, now } = step;
  if (!openCourse(state.course, now + state.setup.settings.maxCallMs)) return;
  if (sttStreams) state.caller.stt.streamed = true;
  if (message !== undefined) {
    // The agent talks with no machine, whatever becomes of the call.
    endSoon(state.course, 'machine');
    nextEpoch(step);
    startText(step, 'closing', { text: message, interruptible: false });
    return;
  }
  const quiet = state.caller.turn.phase === 'idle' && state.delivery.response === undefined;
  if (state.delivery.response !== undefined || greetingOf(state.setup.settings).trim() === '') return;
  // A caller who speaks already is heard first, and greeted in answer.
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
  if (isEnding(state.course) && state.course.parting !== 'cut') dropTexts(step, state.commands);
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
