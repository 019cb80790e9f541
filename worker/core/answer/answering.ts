/**
 * The LLM's side of an answer: its text, the tools that it calls between its rounds, and what the caller hears when it fails.
 */
import { agentTool } from '../../../shared/agents/team.ts';
import { parseJson } from '../../../shared/base/exact-json.ts';
import { forgetFaults } from '../faults.ts';
import { endSoon, isEnding } from '../course.ts';
import { enterToolResults, pairMessages, reachSafePoint, offeredTools } from '../delivery/context.ts';
import { tellTools, toolSettings } from '../epoch.ts';
import type { CallEvent, LlmFinish } from '../events.ts';
import { fitsFlow, movesToOther, stepFlow, toolOf } from '../flow/flow.ts';
import { addMessages } from '../delivery/history.ts';
import { loseAnswer } from './outage.ts';
import { isSentence, wholeSentence } from './sentences.ts';
import {
  finishWriting,
  flush,
  pauseWriting,
  speakPending,
  speakSentence,
  ttsOwes,
  unfilled,
  writeText,
  type Response,
} from './response.ts';
import {
  answerOwed,
  completeResponse,
  endCall,
  openAnswer,
  openResponse,
  behindEntry,
  sayOnEntry,
  speakForSilence,
  startOwedAnswer,
  startRound,
  modelVoiceOf,
  stopLlm,
  voiceOf,
} from './speaking.ts';
import { awaitsWord, mayStay, nobodySpeaks, noticeFault, type Step } from '../state.ts';
import { tell } from '../told.ts';
import { callsAskedAbout, nextToolDeadline } from '../tools/tools.ts';
import { resumeTools } from '../tools/tools-cut.ts';
import { beginAgentChange, type WantedAgent } from './agent-change.ts';
import { beginToolTransfer } from './transfer.ts';
import type { ToolAction, ToolOutcome } from '../tools/tools-state.ts';

/** The built-in tool by which the LLM ends the call (docs/tools.md, Built-in tools). */
const endCallToolName = 'end_call';
const transferToolName = 'transfer_call';
const keysToolName = 'send_dtmf';
const pauseToolName = 'pause_recording';
const resumeToolName = 'resume_recording';

/** The caller has waited long enough: a sentence that the LLM stopped behind is said, or something meanwhile. */
export function fillSilence(step: Step<'setup' | 'silence'>, response: Response): void {
  if (isSentence(response.writing.splitter, step.state.setup.vocabulary.sentences)) {
    response.writing.firstTextAt = step.now;
    speakPending(response, voiceOf(step));
    return;
  }
  // An agent that has nothing to say wants the silence.
  if (speakForSilence(step, response)) response.writing.firstTextAt ??= step.now;
  else {
    response.playing.silentAt = step.now;
    step.state.silence.since = step.now;
  }
}

// ---- text ----

export function onLlmText(step: Step<'setup'>, response: Response, text: string): void {
  response.writing.llmAt = step.now;
  if (text === '') return;
  response.writing.firstTextAt ??= step.now;
  // A caller who was told to hold on hears that the wait is over.
  const back = response.recovery.again ? step.state.setup.settings.outage.back : '';
  response.recovery.again = false;
  const isApart = back !== '' && step.state.setup.settings.modelSpeaks === true;
  if (isApart) writeText(response, `${back} `, voiceOf(step));
  writeText(response, back === '' || isApart ? text : `${back} ${text}`, modelVoiceOf(step));
}

export function onLlmDone(
  step: Step,
  response: Response,
  event: Extract<CallEvent, { type: 'llm.done' }>,
): void {
  tell(step, { type: 'bot.llm_stopped', epoch: response.epoch });
  if (event.toolCalls.length > 0) {
    runTools(step, response, event);
    return;
  }
  const isRefused = dropHalfSentence(response, event.finish);
  if (!finishWriting(response, voiceOf(step)) || isRefused) {
    speakInstead(step, response, 'empty');
    return;
  }
  forgetFaults(step.state.faults, 'llm');
  finishOrComplete(step, response);
}

/**
 * The LLM was stopped in the middle of a sentence. At its limit the sentences before that are the answer, where there are any. True where
 * it was told to write no more of it: a caller who is left with half a sentence would wait for the rest.
 */
function dropHalfSentence(response: Response, finish: LlmFinish): boolean {
  if (finish !== 'length' && finish !== 'content_filter') return false;
  const { splitter, rounds } = response.writing;
  const text = unfilled(response, rounds.at(-1)?.endChars ?? 0);
  if (wholeSentence.test(text + splitter.pending)) return false;
  if (finish === 'content_filter' || wholeSentence.test(text)) splitter.pending = '';
  return finish === 'content_filter';
}

/**
 * The LLM failed: what it had written is spoken as far as it makes sentences, and the apology says that this was not all. A caller
 * who is left with half a sentence would wait for the rest of it.
 */
export function onLlmFailed(step: Step, response: Response): void {
  const { splitter } = response.writing;
  if (!wholeSentence.test(splitter.pending)) splitter.pending = '';
  stopLlm(step, response, { cancels: false });
  speakInstead(step, response, 'failed');
}

/** The LLM is silent for too long. Text that is not yet a piece is dropped: it would be glued to the apology. */
export function onLlmStalled(step: Step, response: Response): void {
  stopLlm(step, response);
  response.writing.splitter.pending = '';
  speakInstead(step, response, 'stalled');
}

function speakInstead(
  step: Step,
  response: Response,
  what: 'empty' | 'failed' | 'stalled' | 'given_up',
): void {
  if (noticeFault(step, 'llm', what)) endSoon(step.state.course);
  response.writing.firstTextAt ??= step.now;
  const { apology, outage } = step.state.setup.settings;
  const before = response.writing.text + response.writing.splitter.pending;
  // Behind the beginning of an answer the caller decides what to ask; and a model that calls too many tools would call them again.
  const isDown = what === 'failed' || what === 'stalled';
  if (isDown && (unfilled(response, 0) + response.writing.splitter.pending).trim() === '') loseAnswer(step);
  const space = before === '' || /\s$/.test(before) ? '' : ' ';
  writeText(response, space + (response.recovery.again ? outage.hold : apology), voiceOf(step));
  finishOrComplete(step, response);
}

function finishOrComplete(step: Step, response: Response): void {
  const said = finishWriting(response, voiceOf(step)) || response.writing.text !== '';
  if (said) flush(response, voiceOf(step));
  else completeResponse(step);
}

// ---- tools ----

/** The round ended in tool calls: what it wrote is spoken while they run. */
function runTools(step: Step, response: Response, event: Extract<CallEvent, { type: 'llm.done' }>): void {
  const { state } = step;
  const { finish, toolCalls, reasoning } = event;
  forgetFaults(state.faults, 'llm');
  pauseWriting(response, voiceOf(step));
  response.writing.phase = 'tools';
  response.writing.llmAt = step.now;
  state.tools.reasoning = reasoning;
  const offered = offeredTools(state).map(({ name }) => name);
  const { epoch } = state.numbers;
  followTools(
    step,
    tellTools(step, {
      type: 'round.completed',
      epoch,
      finish,
      offered,
      calls: toolCalls,
    }),
  );
}

/** Does what the tool machine decides, until nothing more follows at once. */
export function followTools(step: Step, actions: readonly ToolAction[]): void {
  const queue = [...actions];
  for (let action = queue.shift(); action !== undefined; action = queue.shift()) {
    switch (action.type) {
      case 'tool.run':
        if (action.attempt === 1) tell(step, { type: 'tool.started', call: action.call });
        if (step.state.setup.settings.tools.performerOf(action.call.name) !== 'core')
          step.actions.push(action);
        else {
          const { key, attempt } = action;
          const outcome = perform(step, action);
          if (outcome !== undefined)
            queue.push(...tellTools(step, { type: 'tool.settled', key, attempt, outcome }));
        }
        break;
      case 'tool.abandon':
        step.actions.push(action);
        break;
      case 'tool.ended':
        tell(step, action);
        break;
      case 'caller.ask':
        askCaller(step, action.key);
        break;
      case 'filler.speak': {
        const { response } = step.state.delivery;
        const waits = response?.writing.phase === 'tools' && response.playing.silentAt !== undefined;
        if (!waits) break;
        if (action.wasQuiet) beginWait(step, response);
        if (action.wasQuiet || step.state.setup.settings.fillers.length > 0) fillSilence(step, response);
        break;
      }
      case 'outcome.late':
        tellOutcome(step);
        break;
      case 'round.next':
      case 'rounds.exhausted':
        onRoundOver(step, action);
        break;
    }
  }
}

/** The tools that move the conversation itself, and those of the carrier, whose outcome comes later. */
function perform(
  step: Step<'setup' | 'course' | 'numbers' | 'delivery' | 'faults' | 'conversation' | 'commands'>,
  action: Extract<ToolAction, { type: 'tool.run' }>,
): ToolOutcome | undefined {
  const { state, now } = step;
  const { name } = action.call;
  const done: ToolOutcome = { kind: 'result', text: '{"ok":true}' };
  if (name === transferToolName) return beginToolTransfer(step, action);
  if (name === agentTool)
    return beginAgentChange(step, action, JSON.parse(action.call.arguments) as WantedAgent);
  if (name === keysToolName) {
    const { key, attempt, idempotencyKey: commandId } = action;
    const { digits } = JSON.parse(action.call.arguments) as { readonly digits: string };
    step.actions.push({ type: 'carrier.keys', commandId, digits, key, attempt });
    return undefined;
  }
  if (name === pauseToolName || name === resumeToolName) {
    state.conversation.isUnrecorded = name === pauseToolName;
    return done;
  }
  if (name === endCallToolName) {
    const { response } = state.delivery;
    if (response !== undefined) {
      response.hangUpAfter = true;
      if (!isEnding(state.course)) state.course.cause = 'agent';
      response.interruptible = mayStay(state);
    }
    return done;
  }
  const {
    conversation: { flow },
    setup: { settings },
  } = state;
  const taken = flow && settings.flow?.nodes[flow.node]?.next.find((next) => toolOf(next) === name);
  if (flow === undefined || settings.flow === undefined || taken === undefined)
    return { kind: 'failed', message: 'this call cannot do that', transport: false };
  const data = parseJson(action.call.arguments === '' ? '{}' : action.call.arguments) as Record<
    string,
    unknown
  >;
  if (taken.isAgent === true) {
    const { summary } = data;
    const given = { agent: taken.to, ...(typeof summary === 'string' && { summary }) };
    return beginAgentChange(step, action, given);
  }
  if (!fitsFlow(flow, data))
    return { kind: 'failed', message: 'the values are too large; give shorter ones', transport: false };
  stepFlow(flow, { type: 'transition.called', tool: name, data }, { settings: settings.flow, now });
  return done;
}

/** A tool with effects waits for the caller's word: the answer ends with the question. */
function askCaller(step: Step<'setup' | 'numbers' | 'caller' | 'delivery' | 'silence'>, key: number): void {
  const { state } = step;
  const response = state.delivery.response ?? openResponse(step, 'answer');
  const from = response.writing.text.length;
  response.writing.firstTextAt ??= step.now;
  speakSentence(response, state.setup.settings.confirmQuestion, voiceOf(step));
  response.writing.asks = { key, from };
  // Nobody hangs up on a question; with its answer the LLM decides again.
  response.hangUpAfter = false;
  response.interruptible = true;
  response.writing.phase = 'done';
  flush(response, voiceOf(step));
}

/** The caller, who asked for it, hears what came of it; a question that waits for its answer goes first. */
function tellOutcome(step: Step): void {
  const { state, now } = step;
  const { response } = state.delivery;
  if (awaitsWord(state) || response?.writing.asks !== undefined) return;
  state.conversation.owed = true;
  if (response === undefined) answerOwed(step, now);
}

/** Every call of the round has its result: the LLM goes on with them. */
function onRoundOver(
  step: Step,
  action: Extract<ToolAction, { type: 'round.next' | 'rounds.exhausted' }>,
): void {
  const { state } = step;
  const { pairs } = action;
  tell(step, { type: 'tools.answered', pairs });
  // The caller is somebody else's: nothing more is said.
  if (state.commands.transfer.phase === 'accepted') {
    endCall(step, 'transferred');
    return;
  }
  const { response } = state.delivery;
  if (response?.writing.phase !== 'tools') {
    addMessages(state.conversation.history, pairMessages(pairs, { reasoning: state.tools.reasoning }));
    state.tools.reasoning = undefined;
    if (response === undefined && nobodySpeaks(state)) startOwedAnswer(step);
    else state.conversation.owed = true;
    return;
  }
  response.writing.rounds.push({
    endChars: response.writing.text.length,
    pairs,
    reasoning: state.tools.reasoning,
  });
  response.writing.phase = 'llm';
  state.tools.reasoning = undefined;
  if (action.wasQuiet) beginWait(step, response);
  response.writing.llmAt = step.now;
  if (response.hangUpAfter) {
    sayGoodbye(step, response);
  } else if (action.type === 'rounds.exhausted') {
    speakInstead(step, response, 'given_up');
  } else if (response.writing.text + response.writing.splitter.pending !== '' && leavesOwn(state)) {
    // The text so far is heard in the voice that it was said with, and an answer of its own follows.
    response.writing.phase = 'done';
    state.conversation.owed = true;
    finishOrComplete(step, response);
  } else {
    enterToolResults(step);
    const say = reachSafePoint(step);
    sayOnEntry(step, response, say);
    tell(step, { type: 'bot.llm_started', epoch: response.epoch });
    startRound(step, response, { behind: behindEntry(say), withTools: action.withTools });
  }
}

/** The flow is about to move to or from a node with something of its own. */
const leavesOwn = ({
  conversation: { flow },
  setup: { settings },
}: Step<'conversation' | 'setup'>['state']): boolean =>
  flow !== undefined && settings.flow !== undefined && movesToOther(flow, settings.flow);

/** A long silence that a tool wanted is over. It was neither the LLM's nor that of TTS, which have as long as otherwise. */
function beginWait({ state, now }: Step<'setup' | 'delivery' | 'silence'>, response: Response): void {
  const { fillerAfterMs } = state.setup.settings.limits;
  if (response.playing.silentAt === undefined || now - response.writing.llmAt < fillerAfterMs) return;
  if (ttsOwes(response, state.delivery)) return;
  response.playing.silentAt = now;
  state.silence.since = now;
}

/** The LLM has ended the call: the farewell is spoken unless it said one. Waiting lines and the farewell of an agent process come in its place. */
function sayGoodbye(step: Step, response: Response): void {
  const {
    commands: { lines, end },
    faults: { lastWords },
  } = step.state;
  const voice = voiceOf(step);
  const said = response.isSilent ? response.writing.text : voice.pronounce(response.writing.text);
  const isLast = lastWords || (lines.length === 0 && end === undefined);
  if (said.trim() === '' && isLast) writeText(response, step.state.setup.settings.farewell, voice);
  finishOrComplete(step, response);
}

export function onToolSettled(step: Step, event: Extract<CallEvent, { type: 'tool.settled' }>): void {
  followTools(step, tellTools(step, event));
}

export function onToolDeadline(step: Step): void {
  const due = nextToolDeadline(step.state.tools);
  if (due !== undefined && step.now >= due) followTools(step, tellTools(step, { type: 'deadline.reached' }));
}

/** The caller has answered the question of a tool; the words are in the context already. */
export function answerQuestion(step: Step, text: string, owedSince: number): void {
  const { state } = step;
  const { response } = openAnswer(step, owedSince);
  response.writing.phase = 'tools';
  const verdict = state.setup.settings.tools.answerOf(text, callsAskedAbout(state.tools));
  followTools(step, tellTools(step, { type: 'caller.answered', verdict, epoch: state.numbers.epoch }));
}

/** Another worker had the call: what only reads is asked again, the outcome of what has effects is unknown. */
export function onToolsResumed(step: Step): void {
  const { state, now } = step;
  followTools(step, resumeTools(state.tools, { settings: toolSettings(state), now }));
}

/** The flow must move on because its time in the node is over. */
export function onFlowDeadline(
  step: Step<
    'setup' | 'course' | 'numbers' | 'caller' | 'delivery' | 'silence' | 'conversation' | 'tools' | 'operator'
  >,
): void {
  const { state, now } = step;
  const {
    conversation: { flow },
    setup: { settings },
  } = state;
  if (flow?.leavesAt === undefined || settings.flow === undefined || now < flow.leavesAt) return;
  stepFlow(flow, { type: 'deadline.reached' }, { settings: settings.flow, now });
  if (flow.pending === undefined || isEnding(state.course)) return;
  if (state.delivery.response === undefined && nobodySpeaks(state)) startOwedAnswer(step);
}

/** A turn of the caller in the present node. */
export function noteTurn({ state, now }: Step<'setup' | 'conversation'>): void {
  const {
    conversation: { flow },
    setup: { settings },
  } = state;
  if (flow !== undefined && settings.flow !== undefined)
    stepFlow(flow, { type: 'turn.taken' }, { settings: settings.flow, now });
}
