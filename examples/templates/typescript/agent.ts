/** The agent: its prompt, its tools, and what it does during calls. The service hears and speaks; main.ts serves this. */
import { Agent } from '@voice-agent-service/agent';
import { z } from 'zod';

export const agent = new Agent({
  name: 'my-agent',
  systemPrompt: 'You answer the phone of a bakery. Answer in one or two short sentences, without markup.',
  greeting: 'Hello, this is the bakery. What can I do for you?',
});

agent.tool(
  {
    name: 'order_status',
    description: 'Where an order is, by its number.',
    parameters: z.object({ order_number: z.string().describe('digits only') }),
  },
  ({ order_number: order }) => (order === '427' ? 'ready' : 'still in the oven'),
);

agent.onUserText(async (text, session) => {
  if (/\bgoodbye\b/i.test(text)) await session.end({ say: 'Goodbye, see you soon!' });
});
