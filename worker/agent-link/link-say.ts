/** One step of a link, and what it tells the agent on the way. Pure. */
import { faultText, type AgentLinkFault } from '../../shared/agent-link/errors.ts';
import { isConversationEventType } from '../../shared/agent-link/events.ts';
import type { ServiceMessage } from '../../shared/agent-link/service-messages.ts';
import type { LinkAction, LinkState } from './link-state.ts';
import { wait, write, type Outcome, type WriteSite } from './outbox.ts';

export interface LinkStep extends WriteSite {
  readonly state: LinkState;
  readonly actions: LinkAction[];
}

/** Gives the agent a message, now or when it is there again. */
export function say(step: LinkStep, message: ServiceMessage): Outcome {
  const { phase, outbox, broken } = step.state;
  if (phase.type === 'active') return write(outbox, message, step);
  if (broken !== undefined) wait(outbox, message);
  return 'left_out';
}

/** Whether the agent is there, or may come back, and gets messages of this type. */
export function wants({ phase, terms }: LinkState, type: ServiceMessage['type']): boolean {
  if (terms === undefined || phase.type === 'gone') return false;
  return terms.events === undefined || !isConversationEventType(type) || terms.events.includes(type);
}

/** Reports what was wrong, where no command asked for it. */
export function report(step: LinkStep, fault: AgentLinkFault): void {
  say(step, { type: 'error', stage: 'agent_link', message: faultText(fault), fatal: false });
}
