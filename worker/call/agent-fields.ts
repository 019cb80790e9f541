/** What the log says of how a call came to its agent. Pure. */
import type { ChosenAgent } from '../../shared/agents/choose.ts';

/** Nothing in a service of one agent. */
export function chosenFields(chosen: ChosenAgent | undefined): Readonly<Record<string, string>> {
  if (chosen === undefined) return {};
  const { hash, by, insteadOf } = chosen;
  return { agentBy: by, agentVersion: hash, ...(insteadOf !== undefined && { insteadOf }) };
}
