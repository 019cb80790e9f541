/** One step of a link, and what it tells the agent on the way. */
import { faultText, type AgentLinkFault } from '../../shared/protocol/agent-link/errors.ts';
import type { ServiceMessage } from '../../shared/protocol/agent-link/service-messages.ts';
import type { LinkOrder, LinkState } from './link-state.ts';
import { wait, write, type Outcome, type WriteSite } from './outbox.ts';

export interface LinkStep extends WriteSite {
  readonly state: LinkState;
  readonly orders: LinkOrder[];
}

/** Gives the agent a message, now or when it is there again. */
export function say(step: LinkStep, message: ServiceMessage): Outcome {
  const { phase, outbox, broken } = step.state;
  if (phase.type === 'active') return write(outbox, message, step);
  if (broken !== undefined) wait(outbox, message);
  return 'left_out';
}

/** Reports what was wrong, where no command asked for it. */
export function report(step: LinkStep, fault: AgentLinkFault): void {
  say(step, { type: 'error', stage: 'agent_link', message: faultText(fault), fatal: false });
}
