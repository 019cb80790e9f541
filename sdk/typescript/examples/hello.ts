import { Agent } from '@voice-agent-service/agent';
import { z } from 'zod';

const agent = new Agent({
  name: 'hello',
  systemPrompt: 'You tell callers the time, in one short sentence.',
  greeting: 'Hello! Ask me what time it is.',
});

agent.tool(
  {
    name: 'get_time',
    description: 'The time in a time zone, or here.',
    parameters: z.object({ timeZone: z.string().optional().describe('IANA name, such as Europe/Paris') }),
  },
  ({ timeZone }) => new Date().toLocaleTimeString('en', { timeZone, timeStyle: 'short' }),
);

agent.onUserText(async (text, session) => {
  if (/goodbye/i.test(text)) await session.end({ say: 'Goodbye!' });
});

await agent.listen();
