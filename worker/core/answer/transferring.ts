/** Where a transfer, or another agent, meets the tools and the end of the call: outcomes go to the one who asked, and an accepted transfer ends the call. */
import { tellTools } from '../epoch.ts';
import type { CallEvent } from '../events.ts';
import type { Step } from '../state.ts';
import type { ToolOutcome } from '../tools/tools-state.ts';
import { followTools } from './answering.ts';
import { endCall } from './speaking.ts';
import { onAgentMissing, settleAgentChange, type AgentRefusal } from './agent-change.ts';
import { answerTransfer, lostAnswer, onCarrierAnswered, settleTransfer, spokeFirst } from './transfer.ts';
import type { TransferRequest } from './transfer-claim.ts';

/** After every step: the sentence may have been heard by now, or the caller may have spoken. */
export function settleHandOff(step: Step): void {
  const stopped = settleTransfer(step);
  if (stopped !== undefined) settleTool(step, stopped, spokeFirst);
}

export function onTransferDue(step: Step): void {
  const lost = lostAnswer(step.state);
  if (lost === undefined) settleHandOff(step);
  else onCarrier(step, lost);
}

export function onCarrier(step: Step, event: Extract<CallEvent, { type: 'carrier.answered' }>): void {
  const end = onCarrierAnswered(step, event);
  if (end === undefined) return;
  answerTransfer(step, end);
  settleTool(step, end.request, end.outcome);
  if (end.leaves) endCall(step, 'transferred');
}

/** The sentence before it may have been heard by now, or the caller may have spoken. */
export function settleAgent(step: Step): void {
  refuseAgent(step, settleAgentChange(step));
}

export function onMissing(step: Step, event: Extract<CallEvent, { type: 'agent.missing' }>): void {
  refuseAgent(step, onAgentMissing(step, event));
}

function refuseAgent(step: Step, refusal: AgentRefusal | undefined): void {
  if (refusal === undefined) return;
  const { key, attempt } = refusal.request;
  followTools(step, tellTools(step, { type: 'tool.settled', key, attempt, outcome: refusal.outcome }));
}

function settleTool(step: Step, { by }: TransferRequest, outcome: ToolOutcome): void {
  if (by.kind !== 'tool') return;
  const { key, attempt } = by;
  followTools(step, tellTools(step, { type: 'tool.settled', key, attempt, outcome }));
}
