/**
 * Commands by the ids that the agent gave them: a command that comes twice is done once and answered twice alike (docs/reference/agent-link.md,
 * How a call goes). Of commands that are answered the newest are remembered, but for one whose outcome was lost: it may be given again.
 * Pure.
 */
import { faultMessage, type AgentLinkFault } from '../../shared/agent-link/errors.ts';
import { agentLinkLimits } from '../../shared/agent-link/limits.ts';
import type { ServiceMessageOf } from '../../shared/agent-link/service-messages.ts';

/** Undefined: it was done. */
export type CommandOutcome = AgentLinkFault | undefined;

interface Known {
  /** Messages that wait for the answer. */
  asked: number;
  /** Absent while it is under way. */
  outcome?: { readonly fault: CommandOutcome };
}

export type CommandIds = Map<string, Known>;

export const newCommandIds = (): CommandIds => new Map();

type CommandResult = ServiceMessageOf<'command.result'>;

export function resultOf(id: string, fault: CommandOutcome): CommandResult {
  if (fault === undefined) return { type: 'command.result', id, ok: true };
  return {
    type: 'command.result',
    id,
    ok: false,
    error: { code: fault.code, message: faultMessage(fault) },
  };
}

/** A command of this id arrived. `new`: it is to be done; else it waits for the first one's answer, or has it already. */
export function admit(ids: CommandIds, id: string): 'new' | 'waits' | CommandResult {
  const known = ids.get(id);
  if (known === undefined) {
    ids.set(id, { asked: 1 });
    return 'new';
  }
  if (known.outcome !== undefined) return resultOf(id, known.outcome.fault);
  known.asked += 1;
  return 'waits';
}

/** The command was answered: the results to send, one for each message of its id. */
export function settle(ids: CommandIds, id: string, fault: CommandOutcome): CommandResult[] {
  const known = ids.get(id);
  if (known === undefined || known.outcome !== undefined) return [];
  const { asked } = known;
  // The newest answer stands last.
  ids.delete(id);
  if (fault?.code !== 'outcome_unknown') ids.set(id, { asked: 0, outcome: { fault } });
  forgetOldest(ids);
  return Array.from({ length: asked }, () => resultOf(id, fault));
}

function forgetOldest(ids: CommandIds): void {
  if (ids.size <= agentLinkLimits.rememberedCommands) return;
  for (const [id, { outcome }] of ids) {
    if (outcome === undefined) continue;
    ids.delete(id);
    return;
  }
}

/** As plain data, for another worker. */
export type SavedCommandIds = readonly (readonly [string, Known])[];

export const saveCommandIds = (ids: CommandIds): SavedCommandIds => [...ids];

export const loadCommandIds = (saved: SavedCommandIds): CommandIds =>
  new Map(saved.map(([id, known]) => [id, { ...known }]));
