/** One process for several businesses: each route of the service leads to a path, and each path to an agent. */
import { Agent, serve } from '@voice-agent-service/agent';
import { z } from 'zod';

interface Tenant {
  readonly title: string;
  readonly hours: string;
}

const tenants: Readonly<Record<string, Tenant>> = {
  '/pizza': { title: 'Pizza Corner', hours: 'from noon to ten in the evening' },
  '/salon': { title: 'the hair salon', hours: 'from nine to six, and never on Mondays' },
};

function agentOf({ title, hours }: Tenant): Agent {
  const agent = new Agent({
    name: title,
    systemPrompt: `You answer the phone of ${title}. Answer in one or two short sentences.`,
    greeting: `Welcome to ${title}. How can I help?`,
  });
  agent.tool({ name: 'opening_hours', description: `When ${title} is open.` }, () => `We are open ${hours}.`);
  // What a caller says here is seen by this tenant's handlers alone.
  agent.onUserText(async (text, session) => {
    if (/\bopen\b/i.test(text)) await session.say(`We are open ${hours}.`, { interrupt: true });
  });
  return agent;
}

/** Calls that name no route, or one that does not exist. */
const reception = new Agent({
  name: 'reception',
  greeting: 'You have reached the reception of all our shops.',
});
reception.tool(
  {
    name: 'find_shop',
    description: 'Finds a shop by what it sells.',
    parameters: z.object({ what: z.string() }),
  },
  ({ what }) =>
    /pizza/i.test(what) ? 'Pizza Corner, on the ground floor.' : 'The hair salon, on the first floor.',
);

const shops = Object.entries(tenants).map(([path, tenant]) => [path, agentOf(tenant)] as const);
await serve({ '/': reception, ...Object.fromEntries(shops) });
