/**
 * The agent link on the running service (docs/reference/agent-link.md, How a call goes): an agent process without an SDK, as it should be and as it
 * should not.
 */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { toolCall } from '../../support/fakes/fake-chat.ts';
import { accepting, RawAgent, type AgentSession } from '../../support/raw-agent.ts';
import { TestService } from '../../support/process/service.ts';

let agent: RawAgent;
let service: TestService;

beforeAll(async () => {
  agent = await RawAgent.start();
  service = await TestService.start({
    greeting: 'Hello from the file.',
    env: { SVC_AGENT_URL: agent.url, SVC_AGENT_TOKEN: 'a-token', SVC_LOG_LEVEL: 'debug' },
  });
});
afterAll(async () => {
  await service.stop();
  await agent.close();
});

interface Linked {
  readonly call: CallClient;
  readonly session: AgentSession;
}

/** A call, and its agent that does so. */
async function linked(onEvent = accepting()): Promise<Linked> {
  agent.onEvent = onEvent;
  const at = agent.sessions.length;
  const call = await service.call();
  return { call, session: await agent.session(at) };
}

async function ended({ call, session }: Linked): Promise<AgentSession> {
  call.abandon();
  await session.closed();
  return session;
}

const answered = (session: AgentSession, id: string) =>
  session.says('command.result', (event) => event['id'] === id);

const noAgent = 'the agent process does not take the call: it starts by the agent file alone';

describe('session.start body', () => {
  it('carries every field of the table, and the token as a bearer token', async () => {
    const one = await linked();
    const { session, call } = one;
    const [first] = session.events;
    expect(first).toEqual({
      seq: 1,
      t_ms: expect.any(Number) as number,
      type: 'session.start',
      protocol: 'svc.agent',
      versions: [1],
      session_id: call.callId,
      agent: 'test',
      capabilities: { transfer: false, tools: true },
    });
    expect(session.headers.authorization).toBe('Bearer a-token');
    await session.says('turn.bot_started');
    await ended(one);
    expect(session.events.map(({ seq }) => seq)).toEqual(session.events.map((_, at) => at + 1));
    expect(session.said('bot.heard')).toMatchObject({ complete: false, ended: 'call_ended' });
    const last = session.events.at(-1);
    expect([last?.type, last?.['reason'], session.closeCode]).toEqual([
      'session.end',
      expect.stringMatching(/^(hangup|disconnected)$/),
      1000,
    ]);
  });

  it('names no more of the address than scheme, host and port in any log', () => {
    const lines = service.log.map((line) => JSON.stringify(line));
    expect(lines.some((line) => line.includes(`ws://127.0.0.1:${agent.port}"`))).toBe(true);
    expect(lines.filter((line) => /canary|a-token/.test(line))).toEqual([]);
  });
});

describe('session.accept body', () => {
  it('prompt, context and greeting apply from the first word', async () => {
    const one = await linked(
      accepting({
        greeting: 'Hello from {{the}} agent.',
        system_prompt: 'You are the agent.',
        context: [{ role: 'user', text: 'Earlier words.' }],
      }),
    );
    await one.session.says('bot.tts_text', (event) => event['text'] === 'Hello from {{the}} agent.');
    await one.session.says('turn.bot_ended');
    const before = service.providers.llm.requests.length;
    one.call.sendDtmf('5');
    one.call.sendDtmf('#');
    await service.providers.llm.until(() => service.providers.llm.requests.length > before);
    const messages = service.providers.llm.requests.at(-1)?.body['messages'] as { content: string }[];
    expect(messages.map(({ content }) => content).slice(0, 2)).toEqual([
      expect.stringContaining('You are the agent.'),
      'Earlier words.',
    ]);
    await ended(one);
  });

  it('events: only these are sent, beside those that always are', async () => {
    const one = await linked(accepting({ events: ['turn.bot_ended', 'no.such'] }));
    await one.session.says('turn.bot_ended');
    const session = await ended(one);
    expect([...new Set(session.events.map(({ type }) => type))]).toEqual([
      'session.start',
      'error',
      'turn.bot_ended',
      'session.end',
    ]);
    expect(session.said('error')).toMatchObject({
      stage: 'agent_link',
      message: 'unknown_event: events[1] is not part of the protocol',
      fatal: false,
    });
  });
});

describe('States: an agent that', () => {
  const fileGreeting = async (call: CallClient): Promise<void> => {
    await call.next((event) => event.type === 'audio');
  };

  it.each([
    ['rejects', { type: 'session.reject', code: 'busy', message: 'no room' }, 'rejected: busy no room'],
    [
      'picks a version that was not offered',
      { type: 'session.accept', version: 2 },
      'unsupported_version: session.accept.version must be one of 1',
    ],
    ['says something else first', { type: 'say', text: 'Hi' }, 'invalid_message: the first message must be'],
  ])('%s leaves the call to the agent file', async (_what, answer, why) => {
    const one = await linked((event, session) => {
      if (event.type === 'session.start') session.send(answer);
    });
    await fileGreeting(one.call);
    await service.says(
      noAgent,
      (line) => line['call'] === one.call.callId && String(line['why']).startsWith(why),
    );
    await ended(one);
    expect(one.session.events.map(({ type }) => type)).toEqual(['session.start']);
  });

  it('never answers costs the caller the handshake timeout and no more', async () => {
    const one = await linked(() => undefined);
    await fileGreeting(one.call);
    const line = await service.says(noAgent, (said) => said['call'] === one.call.callId);
    expect(line['why']).toBe('no answer to the handshake in time');
    await one.session.closed();
    one.call.abandon();
  });

  it('answers late is not listened to any more', async () => {
    const one = await linked(() => undefined);
    await one.session.closed();
    expect(one.session.closeCode).toBe(1008);
    await fileGreeting(one.call);
    one.call.abandon();
  });

  it('sends a binary frame first leaves the call to the agent file', async () => {
    const one = await linked((_event, session) => session.socket.send(Buffer.from([1, 2])));
    await fileGreeting(one.call);
    expect(await one.session.closed()).toBe(1008);
    one.call.abandon();
  });

  it('closes in the middle of a call leaves it to go on', async () => {
    const one = await linked(accepting({ greeting: 'From the agent.' }));
    await one.session.says('turn.bot_started');
    one.session.socket.terminate();
    await service.says(
      'the agent process is lost: the call goes on by itself',
      (line) => line['call'] === one.call.callId,
    );
    const before = service.providers.llm.requests.length;
    one.call.sendDtmf('7');
    one.call.sendDtmf('#');
    await service.providers.llm.until(() => service.providers.llm.requests.length > before);
    one.call.abandon();
  });
});

describe('Limits and errors', () => {
  it('a binary frame, no JSON, an unknown type, an unknown call: an error each, and the call goes on', async () => {
    const one = await linked();
    const { session } = one;
    await session.says('turn.bot_started');
    session.socket.send(Buffer.from('{}'), { binary: true });
    await session.says('error', (event) => String(event['message']).startsWith('binary_frame: '));
    session.socket.send('[1]');
    await session.says('error', (event) => String(event['message']).startsWith('invalid_json: '));
    session.send({ type: 'dance' });
    await session.says('error', (event) => String(event['message']).startsWith('unknown_type: '));
    session.socket.send(`{"type":"tool.result","id":1,"result":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
    await session.says('error', (event) => String(event['message']).startsWith('too_deep: '));
    session.send({ type: 'dance', id: 'd' });
    expect(await answered(session, 'd')).toMatchObject({ ok: false, error: { code: 'unknown_type' } });
    session.send({ type: 'tool.result', id: 99, result: 1 });
    await session.says('error', (event) => String(event['message']).startsWith('unknown_call: '));
    session.send({ type: 'context.update', id: 'c', append: Array(33).fill({ role: 'user', text: 'x' }) });
    expect(await answered(session, 'c')).toMatchObject({
      ok: false,
      error: { code: 'invalid_message', message: 'context.update.append must have at most 32 entries' },
    });
    session.send({ type: 'transfer', id: 't', destination: '+15550100000' });
    expect(await answered(session, 't')).toMatchObject({ ok: false, error: { code: 'unsupported' } });
    await ended(one);
  });

  it('a message of 65 KiB closes the link, and the call goes on', async () => {
    const one = await linked();
    await one.session.says('turn.bot_started');
    one.session.send({ type: 'say', text: 'x'.repeat(65 * 1024) });
    expect(await one.session.closed()).toBe(1009);
    await service.says(
      'the agent process is lost: the call goes on by itself',
      (line) => line['call'] === one.call.callId,
    );
    one.call.abandon();
  });

  it('the ninth line that waits is refused, an interrupting one drops those before it', async () => {
    const one = await linked(
      accepting({ greeting: 'One two three four five six seven eight nine ten. '.repeat(4) }),
    );
    const { session } = one;
    await session.says('turn.bot_started');
    for (let at = 1; at <= 9; at += 1) session.send({ type: 'say', id: `s${at}`, text: `Line ${at}.` });
    expect(await answered(session, 's9')).toMatchObject({ ok: false, error: { code: 'queue_full' } });
    session.send({ type: 'say', id: 'now', text: 'Now.', interrupt: true });
    expect(await answered(session, 's1')).toMatchObject({ ok: false, error: { code: 'dropped' } });
    expect(await answered(session, 'now')).toMatchObject({ ok: true });
    await session.says('bot.text', (event) => event['text'] === 'Now.');
    expect(session.said('turn.interrupted')).toBeDefined();
    // The same id again is answered alike, and nothing is said twice.
    session.send({ type: 'say', id: 'now', text: 'Now.', interrupt: true });
    const results = () => session.events.filter((event) => event['id'] === 'now').length;
    await agent.until(() => results() === 2);
    await ended(one);
    expect(
      session.events.filter((event) => event['text'] === 'Now.' && event.type === 'bot.text'),
    ).toHaveLength(1);
  });
});

/** Sends messages at once: they arrive in one packet. */
function sendTogether(
  { socket }: AgentSession,
  messages: readonly Readonly<Record<string, unknown>>[],
): void {
  const stream = Reflect.get(socket, '_socket') as Socket;
  stream.cork();
  for (const message of messages) socket.send(JSON.stringify(message));
  stream.uncork();
}

describe('Commands', () => {
  it('right behind the accept, in the same packet, are done', async () => {
    const one = await linked((event, session) => {
      if (event.type !== 'session.start') return;
      sendTogether(session, [
        { type: 'session.accept', version: 1 },
        { type: 'context.update', id: 'c', system_prompt: 'A new prompt.' },
        { type: 'say', id: 's', text: 'I speak at once.' },
      ]);
    });
    expect(await answered(one.session, 'c')).toMatchObject({ ok: true });
    expect(await answered(one.session, 's')).toMatchObject({ ok: true });
    await one.session.says('bot.text', (event) => event['text'] === 'I speak at once.');
    await ended(one);
  });

  it('tools.set: a name that is no tool is told, and the others are offered', async () => {
    const one = await linked(accepting({ tools: [{ name: 'lookup' }] }));
    const { session, call } = one;
    await session.says('turn.bot_ended');
    session.send({ type: 'tools.set', id: 't', enabled: ['lookup', 'no-such-tool'] });
    expect(await answered(session, 't')).toMatchObject({ ok: true });
    expect(session.said('error')).toMatchObject({
      stage: 'agent_link',
      message: 'unknown_tool: tools.set.enabled[1]: no tool of the call has this name',
    });
    const { llm } = service.providers;
    const before = llm.requests.length;
    for (const key of '5#') call.sendDtmf(key);
    await llm.until(() => llm.requests.length > before);
    const offered = llm.requests.at(-1)?.body['tools'] as { function: { name: string } }[];
    expect(offered.map((tool) => tool.function.name)).toEqual(['lookup']);
    await ended(one);
  });

  it('end: speaks the farewell, answers, and ends the session as ended_by_agent', async () => {
    const one = await linked();
    const { session } = one;
    await session.says('turn.bot_started');
    session.send({ type: 'end', id: 'e', say: 'EndMessage.', reason: 'done' });
    await answered(session, 'e');
    await session.closed();
    const types = session.events.map(({ type }) => type);
    expect(session.said('session.end')).toMatchObject({ reason: 'ended_by_agent' });
    expect(session.said('bot.tts_text')).toMatchObject({ text: 'EndMessage.' });
    expect(types.slice(-2)).toEqual(['command.result', 'session.end']);
    expect((await one.call.closed).reason).toBe('ended');
    await service.says('the agent process ends the call', (line) => line['reason'] === 'done');
  });
});

describe('Remote tools', () => {
  it('tool.call and tool.result: the engine asks, the answer reaches the LLM as it is', async () => {
    const tools = [
      {
        name: 'lookup',
        description: 'Looks up',
        parameters: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
      },
      { name: 'end_call' },
      { name: 'remote', parameters: { type: 'object', properties: { a: { $ref: 'https://a.example/x' } } } },
      { name: 'bad name' },
      { name: 'sure', confirm: true },
    ];
    const one = await linked(accepting({ tools }));
    const { session, call } = one;
    await session.says('turn.bot_ended');
    const refusals = session.events.filter(({ type }) => type === 'error').map((event) => event['message']);
    expect(refusals).toEqual([
      'tool_refused: tools[3].name must have 1 to 64 of A-Z a-z 0-9 _ -',
      'tool_refused: tools[4].confirm is for side_effect tools only',
      'tool_refused: end_call is the name of another tool',
      expect.stringMatching(/^tool_refused: remote has a schema that is refused/),
    ]);
    const { llm } = service.providers;
    llm.script.push(toolCall('lookup', { a: 1 }));
    call.sendDtmf('5');
    call.sendDtmf('#');
    const asked = await session.says('tool.call');
    expect(asked).toMatchObject({
      name: 'lookup',
      call_id: 'call_a',
      arguments: { a: 1 },
      kind: 'read_only',
      timeout_ms: 5000,
      idempotency_key: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
    const before = llm.requests.length;
    session.send({ type: 'tool.result', id: asked['id'], result: { found: true }, re: asked.seq });
    await llm.until(() => llm.requests.length > before);
    const messages = llm.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
    expect(messages.at(-1)).toMatchObject({ role: 'tool', content: '{"found":true}' });
    await ended(one);
    expect(await service.metric('svc_agent_hop_seconds_count')).toBeGreaterThan(0);
  });
});

describe('Resume', () => {
  it('a broken link is taken up again: what happened meanwhile is told, and commands go on', async () => {
    const one = await linked((event, session) => {
      if (event.type === 'session.start')
        session.send({
          type: 'session.accept',
          version: 1,
          resume: true,
          ...(event['resume'] === undefined ? { greeting: 'Hello again and again.' } : { last_seq: 1 }),
        });
    });
    const first = one.session;
    await first.says('turn.bot_started');
    const at = agent.sessions.length;
    first.socket.terminate();
    const second = await agent.session(at);
    const resumed = await second.says('session.start');
    expect(resumed).toMatchObject({
      ...{ seq: 1, session_id: one.call.callId },
      resume: { attempt: 1, pending: [], lost: 0 },
    });
    const epoch = first.said('turn.bot_started')?.['epoch'];
    expect(await second.says('turn.bot_started')).toMatchObject({ epoch });
    expect(second.events.map(({ seq }) => seq)).toEqual(second.events.map((_, nth) => nth + 1));
    second.send({ type: 'say', id: 's', text: 'Still here.' });
    expect(await answered(second, 's')).toMatchObject({ ok: true });
    await ended({ call: one.call, session: second });
    expect(second.events.at(-1)?.type).toBe('session.end');
  });
});

describe('when a worker dies', () => {
  it('an agent that resumes keeps its call and its tools', async () => {
    const tools = [{ name: 'lookup' }];
    const one = await linked((event, session) => {
      if (event.type === 'session.start')
        session.send({
          type: 'session.accept',
          version: 1,
          resume: true,
          ...(event['resume'] === undefined && { tools, system_prompt: 'The agent.' }),
        });
    });
    await one.session.says('turn.bot_ended');
    const at = agent.sessions.length;
    process.kill(await service.workerOf(one.call), 'SIGKILL');
    const second = await agent.session(at);
    const number = expect.any(Number) as number;
    expect(await second.says('session.start')).toMatchObject({
      ...{ seq: 1, session_id: one.call.callId },
      resume: { attempt: 1, previous_seq: number, down_ms: number, pending: [] },
    });
    const { llm } = service.providers;
    llm.script.push(toolCall('lookup', {}));
    one.call.sendDtmf('5');
    one.call.sendDtmf('#');
    const asked = await second.says('tool.call');
    const before = llm.requests.length;
    second.send({ type: 'tool.result', id: asked['id'], error: 'no such thing' });
    await llm.until(() => llm.requests.length > before);
    const messages = llm.requests.at(-1)?.body['messages'] as { role: string; content: string }[];
    expect(messages[0]?.content).toContain('The agent.');
    expect(messages.at(-1)?.content).toContain('tool_failed');
    await ended({ call: one.call, session: second });
  });
});
