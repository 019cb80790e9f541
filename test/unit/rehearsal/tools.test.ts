import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { openAgent, type CallWish, type OpenAgent } from '../../../cli/rehearsal/agent.ts';
import type { Conversation, ConversationEvent } from '../../../cli/rehearsal/conversation.ts';
import type { CannedTool } from '../../../cli/rehearsal/scenarios/scenario.ts';
import { answer, FakeChat, toolCall } from '../../support/fakes/fake-chat.ts';
import { agentText } from './agent-text.ts';

const chat = new FakeChat();
const asked: string[] = [];
let held: (() => void) | undefined;
let server: Server;
const agents: OpenAgent[] = [];
const calls: Conversation[] = [];
beforeAll(async () => {
  await chat.start();
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/pay') {
      held = () => void response.setHeader('content-type', 'text/plain').end('paid');
      return;
    }
    response.setHeader('content-type', 'application/json').end('{"degrees":20}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const call of calls.splice(0)) call.close();
  for (const agent of agents.splice(0)) await agent.close();
  chat.script.length = 0;
  chat.requests.length = 0;
  asked.length = 0;
});
afterAll(async () => {
  await chat.close();
  await new Promise((resolve) => server.close(resolve));
});

const tools = (port: number): string => `
[[tools]]
name = "weather"
description = "Weather of a city."
[tools.parameters]
type = "object"
required = ["city"]
properties = { city = { type = "string" } }
[tools.http]
url = "http://127.0.0.1:${port}/weather?city={city}"
allow_private = true
headers_env = { Authorization = "WEATHER_AUTH" }
[[tools]]
name = "book"
description = "Books a table."
kind = "side_effect"
confirm = true
[tools.http]
method = "POST"
url = "http://127.0.0.1:${port}/book"
allow_private = true
[[tools]]
name = "pay"
description = "Pays."
kind = "side_effect"
[tools.http]
method = "POST"
url = "http://127.0.0.1:${port}/pay"
allow_private = true
`;

const flow = `
[flow]
start = "identify"
[flow.nodes.identify]
prompt = "Find out who calls."
[[flow.nodes.identify.next]]
to = "help"
when = "the caller has said a name"
collect = { name = { type = "string" } }
[flow.nodes.help]
prompt = "Help the caller."
say = "Thank you."
tools = ["end_call"]
`;

interface Given {
  readonly more?: string;
  readonly stand?: Partial<CallWish['stand']>;
  readonly realTools?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly seen?: (event: ConversationEvent) => void;
}

async function newCall(given: Given = {}) {
  const { more, stand, realTools = true, env = { WEATHER_AUTH: 'w' }, seen } = given;
  const events: ConversationEvent[] = [];
  const missing: string[] = [];
  const notices: string[] = [];
  const own = agentText(chat.baseUrl);
  const text =
    (more === flow ? own.replace(/^prompt = .*$/m, '') : own) +
    (more ?? tools((server.address() as AddressInfo).port));
  const { agent, problems } = await openAgent(
    'agent.toml',
    {
      env,
      readFile: () => text,
      readBytes: () => undefined,
      clock: systemClock,
      writeError: (line) => void notices.push(line),
    },
    { realTools },
  );
  if (agent === undefined) throw new Error(problems.map(({ message }) => message).join());
  agents.push(agent);
  const call = agent.newCall({
    pace: 'none',
    sink: (event) => {
      events.push(event);
      seen?.(event);
    },
    ...(stand && { stand: { tools: [], realTools, missing: (name) => missing.push(name), ...stand } }),
  });
  calls.push(call);
  const texts = (): string[] =>
    events.flatMap((event) => (event.type === 'bot.text' ? [event.text.trim()] : []));
  const toolEvents = (): unknown[] =>
    events.flatMap((event) => {
      if (!event.type.startsWith('tool.')) return [];
      const { type, ...rest } = event;
      return [
        {
          [type.slice('tool.'.length)]: 'name' in rest ? rest.name : '',
          ...('text' in rest && { text: rest.text }),
        },
      ];
    });
  return { call, events, missing, notices, texts, toolEvents };
}

const canned = (name: string, text: string): CannedTool => ({
  name,
  description: 'd',
  parameters: { type: 'object' },
  outcome: { kind: 'result', text },
});

describe('tools in a call without sound', () => {
  it('are run, and their results answered', async () => {
    chat.script.push(toolCall('weather', { city: 'Rome' }), answer('It is 20 degrees.'));
    const { call, texts, toolEvents } = await newCall();
    call.say('How is the weather in Rome?');
    await call.run({ until: 'quiet' });
    expect(asked).toEqual(['/weather?city=Rome']);
    expect(texts().at(-1)).toBe('It is 20 degrees.');
    expect(toolEvents()).toEqual([
      { called: 'weather' },
      { started: '' },
      { result: 'weather', text: '{"degrees":20}' },
    ]);
  });

  it('are not run where a scenario answers for them', async () => {
    chat.script.push(toolCall('weather', { city: 'Rome' }), answer('It is cold.'));
    const { call, toolEvents } = await newCall({ stand: { tools: [canned('weather', 'cold')] } });
    call.say('How is the weather in Rome?');
    await call.run({ until: 'quiet' });
    expect(asked).toEqual([]);
    expect(toolEvents()).toContainEqual({ result: 'weather', text: 'cold' });
    expect(JSON.stringify(chat.requests[1]?.body['messages'])).toContain('cold');
  });

  it('are known by their own names, whatever the LLM calls them', async () => {
    chat.script.push(toolCall('calendar_update', {}), answer('Done.'));
    const more = '[[mcp]]\nname = "c"\ncommand = ["no-such-program"]\ntools = ["calendar.update"]\n';
    const stand = { tools: [canned('calendar.update', 'moved')] };
    const { call, toolEvents, missing } = await newCall({ more, stand, realTools: false });
    call.say('Move it to Monday.');
    await call.run({ until: 'quiet' });
    expect(toolEvents()).toEqual([
      { called: 'calendar.update' },
      { started: '' },
      { result: 'calendar.update', text: 'moved' },
    ]);
    expect(missing).toEqual([]);
  });

  it('need no key and are reported where no real tool may be run', async () => {
    chat.script.push(toolCall('weather', { city: 'Rome' }), answer('Sorry.'));
    const { call, missing } = await newCall({ stand: {}, realTools: false, env: {} });
    call.say('How is the weather in Rome?');
    await call.run({ until: 'quiet' });
    expect(missing).toEqual(['weather']);
    expect(asked).toEqual([]);
    await expect(newCall({ env: {} })).rejects.toThrow(/WEATHER_AUTH, which is not set/);
  });

  it('of servers that are not there are declared by the scenario', async () => {
    chat.script.push(toolCall('lookup', { id: 1 }), answer('Found.'));
    const more = '[[mcp]]\nname = "crm"\ncommand = ["no-such-program"]\n';
    const { call, toolEvents } = await newCall({
      more,
      realTools: false,
      stand: { tools: [canned('lookup', 'somebody')] },
    });
    call.say('Look me up, please.');
    await call.run({ until: 'quiet' });
    expect(toolEvents()).toContainEqual({ result: 'lookup', text: 'somebody' });
  });

  it('of a server that cannot be reached are missing, which is said in a line for people', async () => {
    const { call, notices, texts } = await newCall({
      more: '[[mcp]]\nname = "crm"\ncommand = ["no-such-program"]\n',
    });
    call.say('Are you there?');
    await call.run({ until: 'quiet' });
    expect(texts()).toEqual(['All right.']);
    expect(notices[0]).toMatch(
      /^tools: a provider or server has failed \(stage mcp, provider crm, .*not there: check command of \[\[mcp\]\] crm/,
    );
  });

  it('wait for the word of the caller, and are not run without it', async () => {
    chat.script.push(toolCall('book', {}), answer('I have not booked it.'));
    const { call, texts, toolEvents } = await newCall();
    call.say('Book a table, please.');
    await call.run({ until: 'quiet' });
    expect(texts().at(-1)).toBe('Shall I go ahead with that?');
    call.say('No.');
    await call.run({ until: 'quiet' });
    expect(asked).toEqual([]);
    expect(texts().at(-1)).toBe('I have not booked it.');
    expect(toolEvents().map((event) => Object.keys(event as object)[0])).toEqual(['called', 'result']);
  });

  it('with effects go on when the caller breaks in, and their outcome is told', async () => {
    chat.script.push(toolCall('pay', {}), answer('Paid.'));
    const { call, toolEvents } = await newCall({
      seen: ({ type }) => {
        if (type === 'tool.started') setImmediate(() => void breakIn());
      },
    });
    const breakIn = async (): Promise<void> => {
      expect(call.interrupt()).toBe(true);
      while (held === undefined) await new Promise((resolve) => setImmediate(resolve));
      held();
    };
    call.say('Pay for me, please.');
    await call.run({ until: 'quiet' });
    expect(toolEvents()).toEqual([{ called: 'pay' }, { started: '' }, { result: 'pay', text: 'paid' }]);
    call.say('Has it been paid?');
    await call.run({ until: 'quiet' });
    expect(JSON.stringify(chat.requests[1]?.body['messages'])).toContain('paid');
  });

  it('are run once the caller says yes', async () => {
    chat.script.push(toolCall('book', {}), answer('Booked.'));
    const { call, texts } = await newCall();
    call.say('Book a table, please.');
    await call.run({ until: 'quiet' });
    call.say('Yes, please.');
    await call.run({ until: 'quiet' });
    expect(asked).toEqual(['/book']);
    expect(texts().at(-1)).toBe('Booked.');
  });
});

describe('a flow in a call without sound', () => {
  it('shows the node it begins in and every one that it moves to', async () => {
    chat.script.push(
      answer('Who is calling?'),
      toolCall('go_to_help', { name: 'Ada' }),
      answer('What can I do?'),
    );
    const { call, events, texts } = await newCall({ more: flow });
    await call.run({ until: 'quiet' });
    call.say('Hello.');
    await call.run({ until: 'quiet' });
    call.say('I am Ada.');
    await call.run({ until: 'quiet' });
    expect(events.flatMap((event) => (event.type === 'node.entered' ? [event.node] : []))).toEqual([
      'identify',
      'help',
    ]);
    expect(texts()).toEqual(['Who is calling?', 'Thank you.', 'What can I do?']);
    expect(JSON.stringify(chat.requests[2]?.body['messages'])).toContain('Help the caller.');
  });
});
