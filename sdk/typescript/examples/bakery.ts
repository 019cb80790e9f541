import { Agent } from '@voice-agent-service/agent';
import { z } from 'zod';

const agent = new Agent({ name: 'bakery', systemPrompt: 'You answer the phone of a bakery. Be brief.' });
const parameters = z.object({ order: z.string() });
agent.tool({ name: 'order_status', description: 'Where an order is.', parameters }, ({ order }) =>
  order === '427' ? 'ready' : 'in the oven',
);
agent.onUserText((text, session) => (/goodbye/i.test(text) ? session.end({ say: 'Goodbye!' }) : undefined));
await agent.listen();
