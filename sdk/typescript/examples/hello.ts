import { Agent } from '@voice-agent-service/agent';
import { z } from 'zod';

const agent = new Agent({
  name: 'hello',
  systemPrompt: 'You tell callers the time, in one short sentence.',
  greeting: 'Hello! Which city do you want to know the time of?',
});

agent.tool(
  {
    name: 'get_time',
    description: 'The local time of a city.',
    parameters: z.object({ timeZone: z.string().describe('IANA name, such as Europe/Paris') }),
  },
  ({ timeZone }) => new Date().toLocaleTimeString('en', { timeZone, timeStyle: 'short' }),
);

agent.onUserText(async (text, session) => {
  if (/goodbye/i.test(text)) await session.end({ say: 'Goodbye!' });
});

await agent.listen();
