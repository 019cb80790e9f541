/** What operators are told of agents by the callback listener: `GET /agents`, and `POST /agents/reload`, which looks at the folder at once. */
import { refusals } from '../http/refusals.ts';
import { onlyBy } from '../http/refusals.ts';
import type { Reply } from '../telephony/callback/calls.ts';
import type { Agents } from './agents.ts';

/** Undefined for another path. */
export async function answerOfAgents(
  path: string,
  method: string | undefined,
  agents: Agents | undefined,
): Promise<Reply | undefined> {
  if (path !== '/agents' && path !== '/agents/reload') return undefined;
  if (agents === undefined) return refusals.one_agent;
  const wanted = path === '/agents' ? 'GET' : 'POST';
  if (method !== wanted) return onlyBy(wanted);
  const views = wanted === 'GET' ? agents.views : await agents.reload();
  return { status: 200, value: { agents: views, problems: agents.problems } };
}
