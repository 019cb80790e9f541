/** Calls of remote tools on one link: each is settled exactly once, by its result, by being given up, or with the link. Pure. */
import { writeJson } from '../../shared/base/exact-json.ts';
import { agentLinkErrors } from '../../shared/agent-link/errors.ts';
import type { AgentMessageOf } from '../../shared/agent-link/agent-messages.ts';
import type { AbandonReason, ToolOutcome } from '../core/tools/tools-state.ts';
import { report, say, type LinkStep } from './link-say.ts';
import type { PendingCall, RemoteCall } from './link-state.ts';

/** The id of the call is the one that `nextCall` was before. */
export function onToolRun(step: LinkStep, call: RemoteCall): void {
  const { state, actions } = step;
  const id = state.nextCall;
  state.nextCall += 1;
  const pending: PendingCall = { call, isWritten: false };
  state.calls.set(id, pending);
  const mayWait = state.phase.type === 'active' || state.broken !== undefined;
  if (!mayWait) {
    settle(step, id, unavailable(pending));
    return;
  }
  const outcome = say(step, { type: 'tool.call', id, ...call });
  pending.isWritten = outcome === 'written';
  if (outcome === 'too_large' && state.calls.delete(id)) {
    const message = 'the arguments are larger than a message may be';
    actions.push({ type: 'tool.settled', id, outcome: { kind: 'failed', message, transport: false } });
  }
}

/** A call that was sent may have had its effect. */
const unavailable = ({ isWritten }: PendingCall): ToolOutcome => ({
  kind: 'failed',
  message: agentLinkErrors.unavailable,
  transport: true,
  ...(!isWritten && { unsent: true as const }),
});

function settle({ state, actions }: LinkStep, id: number, outcome: ToolOutcome): void {
  if (state.calls.delete(id)) actions.push({ type: 'tool.settled', id, outcome });
}

export function onToolResult(step: LinkStep, { id, result, error }: AgentMessageOf<'tool.result'>): void {
  const { state } = step;
  if (id < 1 || id >= state.nextCall) {
    report(step, { code: 'unknown_call' });
    return;
  }
  // Of a call that is settled already a later result is ignored (docs/reference/agent-link.md, The order of events).
  if (error !== undefined) settle(step, id, { kind: 'failed', message: error, transport: false });
  else settle(step, id, { kind: 'result', text: typeof result === 'string' ? result : writeJson(result) });
}

/** The core waits no more. */
export function onToolAbandoned(
  step: LinkStep,
  { id, reason }: { readonly id: number; readonly reason: AbandonReason },
): void {
  const { state } = step;
  const pending = state.calls.get(id);
  if (pending === undefined) return;
  state.calls.delete(id);
  if (pending.isWritten) say(step, { type: 'tool.cancel', id, reason });
  else {
    const { waiting } = state.outbox;
    const at = waiting.findIndex((message) => message.type === 'tool.call' && message.id === id);
    if (at !== -1) waiting.splice(at, 1);
  }
}

/** The link is gone for good. */
export function giveUpCalls(step: LinkStep): void {
  for (const [id, pending] of [...step.state.calls]) settle(step, id, unavailable(pending));
}
