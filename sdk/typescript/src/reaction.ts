/** Which event a piece of code reacts to, so that commands can say so (`re`; docs/reference/agent-link.md, Agent to service). */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Reaction {
  /** Identity of the session; an event of one call is no reason for a command to another. */
  readonly session: object;
  readonly seq: number;
}

const reactions = new AsyncLocalStorage<Reaction>();

export const reacting = <T>(reaction: Reaction, action: () => T): T => reactions.run(reaction, action);

/** `seq` of the event that this session reacts to right now. */
export function reactionOf(session: object): number | undefined {
  const reaction = reactions.getStore();
  return reaction?.session === session ? reaction.seq : undefined;
}
