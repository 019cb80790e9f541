/** The agent of `sdk/conformance`: it does what the README there says, and nothing else. */
import { Agent, CommandRefused, RejectCall, ToolError, type Session } from '@voice-agent-service/agent';
import * as z from 'zod';

interface Memory {
  log: string[];
  readonly release: () => void;
  readonly released: Promise<void>;
}

const memories = new WeakMap<Session, Memory>();

function memoryOf(session: Session): Memory {
  const known = memories.get(session);
  if (known !== undefined) return known;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const memory: Memory = { log: [], release, released };
  memories.set(session, memory);
  return memory;
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));

const orders: Readonly<Record<string, (session: Session, rest: string) => Promise<void>>> = {
  say: (session, rest) => session.say(rest),
  interrupt: (session, rest) => session.say(rest, { interrupt: true }),
  end: (session) => session.end({ say: 'Bye.', reason: 'asked' }),
  transfer: (session) => session.transfer('+15550100000', { summary: 'a summary', reason: 'a reason' }),
  context: (session) =>
    session.updateContext({
      systemPrompt: 'New prompt.',
      append: [{ role: 'user', text: 'Remember this.' }],
    }),
  tools: (session) => session.setTools(['echo']),
  all: (session) => session.setTools(null),
  long: (session) => session.say('a'.repeat(4097)),
  throw: () => Promise.reject(new Error("the agent's own fault")),
  wait: (session) => never(session.signal),
};

const agent = new Agent({
  name: 'conformance',
  systemPrompt: 'You are the conformance agent.',
  greeting: 'Conformance.',
  context: [{ role: 'system', text: 'Be exact.' }],
  logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
});

agent.onStart((session) => {
  const { path, query } = session;
  if (path === '/reject') throw new RejectCall('closed', 'we are closed');
  if (path === '/broken') throw new Error("the agent's own fault");
  if (path !== '/tenant') return undefined;
  return { greeting: `Hello ${query['name'] ?? ''}.`, tools: ['echo'] };
});

agent.onUserText(async (text, session) => {
  const [order = '', ...rest] = text.split(' ');
  try {
    await orders[order]?.(session, rest.join(' '));
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    await session.say(`refused ${error.code}`);
  }
});

agent.on('turn.interrupted', ({ epoch }, session) => session.say(`interrupted ${epoch}`));

agent.tool(
  { name: 'echo', description: 'Returns the text.', parameters: z.object({ text: z.string() }) },
  ({ text }) => text,
);
agent.tool(
  { name: 'add', description: 'Adds two numbers.', parameters: z.object({ a: z.int(), b: z.int() }) },
  ({ a, b }) => ({ sum: a + b }),
);
agent.tool({ name: 'fail', description: 'Fails.' }, () => {
  throw new Error("the agent's own fault");
});
agent.tool({ name: 'sorry', description: 'Finds nothing.' }, () => {
  throw new ToolError('no such order');
});
agent.tool({ name: 'slow', description: 'Takes for ever.' }, (_, { session, signal }) => {
  signal.addEventListener('abort', () => memoryOf(session).log.push('slow cancelled'));
  return never(signal);
});
agent.tool(
  {
    name: 'hold',
    description: 'Waits for `release`.',
    kind: 'side_effect',
    confirm: true,
    repeatable: true,
    timeoutMs: 20_000,
    fillerAfterMs: 0,
  },
  async (_, call) => {
    const memory = memoryOf(call.session);
    call.cancellation.addEventListener('abort', () => memory.log.push(`hold told ${String(call.cancelled)}`));
    await memory.released;
    return 'held';
  },
);
agent.tool({ name: 'release', description: 'Lets every `hold` go on.' }, (_, { session }) => {
  memoryOf(session).release();
  return true;
});
agent.tool({ name: 'log', description: 'What happened since the log was read last.' }, (_, { session }) => {
  const memory = memoryOf(session);
  const lines = memory.log;
  memory.log = [];
  return lines;
});
agent.tool({ name: 'large', description: 'More than a message can hold.' }, () => 'a'.repeat(70_000));

const server = await agent.listen({ graceMs: 0 });
console.log(`listening on ${server.port}`);
