import { agent } from './agent.ts';

await agent.listen();
