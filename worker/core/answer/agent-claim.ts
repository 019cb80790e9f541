/** The other agent that a caller is to be handed to: nobody has asked for one, what is said before it is still being heard, or it is made ready. */
import { number, opaque, record, time, union } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** The agents to which the caller can be handed, and what the other one is told. */
export interface TeamSettings {
  /** Of the conversation: all of it, what the LLM sums up of it, or nothing. */
  readonly context: 'full' | 'summary' | 'none';
  /** Said before the other agent has the call; empty: what the LLM says of its own. */
  readonly farewell: string;
}

export interface AgentRequest {
  /** Names it towards the shell; the same in each worker that has the call. */
  readonly commandId: string;
  readonly agent: string;
  readonly summary: string;
  readonly callId: string;
  readonly key: number;
  readonly attempt: number;
  readonly epoch: number;
}

export type AgentClaim =
  | { readonly phase: 'none' }
  /** The sentence before it is still being heard; it is gone on with at `by` in any case. */
  | { readonly phase: 'settling'; readonly request: AgentRequest; readonly by: Millis }
  /** The shell gets the agent ready; at `by` it is given up. */
  | { readonly phase: 'asked'; readonly request: AgentRequest; readonly by: Millis };

export interface AgentChange {
  claim: AgentClaim;
  /** How often the call has got another agent. */
  count: number;
}

export const newAgentChange = (): AgentChange => ({ claim: { phase: 'none' }, count: 0 });

const request = opaque<AgentRequest>();

export const agentChangeCodec = record<AgentChange>({
  claim: union<AgentClaim, 'phase'>('phase', {
    none: {},
    settling: { request, by: time },
    asked: { request, by: time },
  }),
  count: number,
});
