/**
 * Handing the caller over to another agent of the same team, within the call (docs/agents.md, Handing a call over). Speech before it is
 * heard to its end; then the shell gets the other agent ready, and the core takes it at once or, where the caller has spoken meanwhile, not at all.
 * A caller who speaks stays with the agent that has the call.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallAction } from '../actions.ts';
import { isEnding } from '../course.ts';
import { applyEdits, newEdits } from './edits.ts';
import { nextEpoch, tellTools } from '../epoch.ts';
import type { CallEvent } from '../events.ts';
import { newFlow } from '../flow/flow.ts';
import { addMessages, clearHistory } from '../delivery/history.ts';
import { newSetup } from '../setup.ts';
import { greetingOf, nobodySpeaks, type Slices, type Step } from '../state.ts';
import { tell } from '../told.ts';
import type { ToolAction, ToolOutcome } from '../tools/tools-state.ts';
import type { AgentRequest, TeamSettings } from './agent-claim.ts';
import { speakSentence } from './response.ts';
import {
  closeResponse,
  openAnswer,
  sayOnEntry,
  startRound,
  startText,
  stopLlm,
  voiceOf,
} from './speaking.ts';
import { heardBy, isHeard, spokeFirst } from './transfer.ts';

/** More in one call is two agents who send the caller to and fro. */
const mostChanges = 12;
const settleMs: Millis = 12_000;
const readyWithinMs: Millis = 8_000;

type Run = Extract<ToolAction, { type: 'tool.run' }>;
type Prepared = Extract<CallEvent, { type: 'agent.prepared' }>;

const failed = (message: string): ToolOutcome => ({ kind: 'failed', message, transport: false });

/** Which agent, and what it is told. */
export interface WantedAgent {
  readonly agent: string;
  readonly summary?: string;
}

/** The tool was called. Its outcome, where that is known at once. */
export function beginAgentChange(
  step: Step<'setup' | 'numbers' | 'commands' | 'delivery'>,
  { call, key, attempt, idempotencyKey: commandId }: Run,
  { agent, summary = '' }: WantedAgent,
): ToolOutcome | undefined {
  const { state, now } = step;
  const { team } = state.setup.settings;
  const { agentChange, transfer } = state.commands;
  if (team === undefined) return failed('this call cannot be handed to another agent');
  if (agentChange.claim.phase !== 'none' || transfer.phase !== 'none')
    return failed('the caller is being handed over already: do not repeat it');
  if (agentChange.count >= mostChanges)
    return failed('the caller was handed over too often in this call: go on with the caller yourself');
  const { response } = state.delivery;
  if (team.farewell !== '' && response !== undefined) speakSentence(response, team.farewell, voiceOf(step));
  const request = { commandId, agent, summary, callId: call.id, key, attempt, epoch: state.numbers.epoch };
  agentChange.claim = { phase: 'settling', request, by: now + settleMs };
  return undefined;
}

/** When it is time to look again; undefined while nothing waits. */
export function agentChangeDeadline(state: Slices<'commands' | 'delivery' | 'tools'>): Millis | undefined {
  const { claim } = state.commands.agentChange;
  if (claim.phase === 'none') return undefined;
  const isWaiting = claim.phase === 'settling' && !othersRun(state, claim.request);
  return isWaiting ? Math.min(claim.by, heardBy(state) ?? Infinity) : claim.by;
}

/** Tools that were called beside it: what they find goes along. */
const othersRun = ({ tools }: Slices<'tools'>, request: AgentRequest): boolean =>
  tools.records.some(
    ({ key, phase }) => key !== request.key && (phase.type === 'running' || phase.type === 'retrying'),
  );

/** What came of a request that is over without another agent. */
export interface AgentRefusal {
  readonly request: AgentRequest;
  readonly outcome: ToolOutcome;
}

/** Has the other agent made ready once the sentence was heard. Returns what has stopped it before. */
export function settleAgentChange(step: Step): AgentRefusal | undefined {
  const { state, now, actions } = step;
  const { agentChange } = state.commands;
  const { claim } = agentChange;
  if (claim.phase === 'none') return undefined;
  const { request, by } = claim;
  if (state.numbers.epoch > request.epoch || isEnding(state.course)) {
    if (claim.phase === 'asked') actions.push({ type: 'agent.dismiss', commandId: request.commandId });
    agentChange.claim = { phase: 'none' };
    return { request, outcome: spokeFirst };
  }
  if (claim.phase === 'asked') {
    if (now < by) return undefined;
    actions.push({ type: 'agent.dismiss', commandId: request.commandId });
    agentChange.claim = { phase: 'none' };
    return { request, outcome: failed('the other agent is not ready; go on with the caller yourself') };
  }
  if (now < by && (othersRun(state, request) || !isHeard(state, now))) return undefined;
  agentChange.claim = { phase: 'asked', request, by: now + readyWithinMs };
  actions.push(orderOf(request));
  return undefined;
}

const orderOf = ({ commandId, agent }: AgentRequest): Extract<CallAction, { type: 'agent.prepare' }> => ({
  type: 'agent.prepare',
  commandId,
  agent,
});

/** Another worker had asked for it, or had it ready. */
export function resumeAgentChange({ state, now, actions }: Step<'commands'>): void {
  const { agentChange } = state.commands;
  const { claim } = agentChange;
  if (claim.phase !== 'asked') return;
  agentChange.claim = { ...claim, by: now + readyWithinMs };
  actions.push(orderOf(claim.request));
}

export function onAgentMissing(
  { state }: Step<'commands'>,
  { commandId }: Extract<CallEvent, { type: 'agent.missing' }>,
): AgentRefusal | undefined {
  const { agentChange } = state.commands;
  const { claim } = agentChange;
  if (claim.phase !== 'asked' || claim.request.commandId !== commandId) return undefined;
  agentChange.claim = { phase: 'none' };
  return {
    request: claim.request,
    outcome: failed('the other agent is not there; go on with the caller yourself'),
  };
}

/** The other agent is ready: it has the call from here on, unless nobody wants it any more. */
export function onAgentPrepared(step: Step, { commandId, agent, settings }: Prepared): void {
  const { state, actions } = step;
  const { agentChange } = state.commands;
  const { claim } = agentChange;
  if (claim.phase !== 'asked' || claim.request.commandId !== commandId) {
    actions.push({ type: 'agent.dismiss', commandId });
    return;
  }
  const { request } = claim;
  agentChange.claim = { phase: 'none' };
  agentChange.count += 1;
  // This agent says what the other one is told of the conversation.
  const context = state.setup.settings.team?.context ?? 'full';
  leaveFormer(step, request);
  actions.push({ type: 'agent.enter', commandId });
  state.setup = newSetup(settings);
  applyEdits(state.conversation.edits, state.conversation.history);
  state.conversation.edits = newEdits();
  state.conversation.flow = settings.flow && newFlow(settings.flow, step.now);
  state.silence.readyLines = { fillers: false, farewell: false };
  tell(step, { type: 'agent.changed', agent });
  enterContext(step, context, request.summary);
  // A new session of STT knows nothing of a turn that is being heard.
  if (state.caller.turn.phase !== 'idle') actions.push({ type: 'stt.replay' });
  if (nobodySpeaks(state)) begin(step, context);
}

/** What the former agent has said is in the history as it was heard, with what its tools have found beside this one. */
function leaveFormer(step: Step, { key, attempt, callId }: AgentRequest): void {
  const { state } = step;
  const outcome: ToolOutcome = { kind: 'result', text: '{"ok":true}' };
  const pairs = tellTools(step, { type: 'tool.settled', key, attempt, outcome })
    .flatMap((action) =>
      action.type === 'round.next' || action.type === 'rounds.exhausted' ? action.pairs : [],
    )
    .filter(({ call }) => call.id !== callId);
  state.tools.reasoning = undefined;
  state.conversation.owed = false;
  const { response } = state.delivery;
  if (response === undefined) return;
  if (pairs.length > 0)
    response.writing.rounds.push({ endChars: response.writing.text.length, pairs, reasoning: undefined });
  stopLlm(step, response);
  closeResponse(step, response);
}

function enterContext(
  { state: { conversation } }: Step<'conversation'>,
  context: TeamSettings['context'],
  summary: string,
): void {
  if (context !== 'full') clearHistory(conversation.history);
  if (context === 'none') return;
  const told = context === 'summary' ? `${handedOver} It says of the conversation: ${summary}` : handedOver;
  addMessages(conversation.history, [{ role: 'system', text: told }]);
}

const handedOver = 'Another agent has handed the caller over to you.';

/** The other agent's first words: its greeting, behind which it goes on with what it knows. */
function begin(step: Step, context: TeamSettings['context']): void {
  const { state, now } = step;
  const { settings } = state.setup;
  // Words of consent were said when the call began.
  const greeting = greetingOf({ ...settings, consent: '' });
  nextEpoch(step);
  if (context === 'none' && greeting !== '') {
    startText(step, 'greeting', { text: greeting, interruptible: settings.interrupt.greeting });
    return;
  }
  const { response, behind } = openAnswer(step, now);
  sayOnEntry(step, response, greeting);
  tell(step, { type: 'bot.llm_started', epoch: response.epoch });
  startRound(step, response, {
    behind: [
      ...behind,
      ...(greeting === ''
        ? []
        : ([
            { role: 'assistant', text: greeting },
            { role: 'system', text: afterGreeting },
          ] as const)),
    ],
  });
}

const afterGreeting =
  'Your last message is being said. Repeat nothing of it. If you know what the caller wants, go on with that. If not, answer with nothing.';
