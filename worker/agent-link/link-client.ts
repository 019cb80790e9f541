/** Messages between the program of a caller and the agent, beside the conversation: the core knows nothing of them. Pure. */
import { isDeeperThan } from '../../shared/base/nesting.ts';
import { clientMessageShape } from '../../shared/agent-link/fields.ts';
import { agentLinkLimits as limits } from '../../shared/agent-link/limits.ts';
import type { AgentMessageOf } from '../../shared/agent-link/agent-messages.ts';
import type { ServiceMessageOf } from '../../shared/agent-link/service-messages.ts';
import type { AgentLinkFault } from '../../shared/agent-link/errors.ts';
import type { MessageToAgent } from '../../shared/protocol/beside-the-call.ts';
import { say, wants, type LinkStep } from './link-say.ts';

/** A message that no agent gets leaves no action: its client is told so. */
export function onClientSaid(step: LinkStep, { name, id, data = null }: MessageToAgent): void {
  const { state, actions } = step;
  const isShort = [name, id].every((text) => clientMessageShape.name.safeParse(text).success);
  if (!isShort || isDeeperThan(data, limits.nestedLevels) || !wants(state, 'client.message')) return;
  const outcome = say(step, {
    type: 'client.message',
    name,
    message_id: id,
    data: data as ServiceMessageOf<'client.message'>['data'],
  });
  const isKept = outcome === 'written' || state.broken !== undefined;
  if (isKept) actions.push({ type: 'client.heard' });
}

/** What is wrong with it, if anything. */
export function sendToClient(
  { state, actions }: LinkStep,
  { data, answers, name = '' }: AgentMessageOf<'client.send'>,
): AgentLinkFault | undefined {
  if (!state.settings.takesMessages)
    return { code: 'unsupported', message: 'the client of this call takes no messages' };
  actions.push({
    type: 'client.send',
    message: { data, ...(answers !== undefined && { answers: { id: answers, name } }) },
  });
  return undefined;
}
