/**
 * Both SDKs against the real service: calls of a caller who types, an LLM that says what the test wants, and the conformance agents of
 * `sdk/conformance` behind one route each. They are judged by what the LLM is asked, what is spoken, and how calls end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../cli/commands/call/caller.ts';
import { toolCall } from '../support/fakes/fake-chat.ts';
import { Providers, TestService } from '../support/process/service.ts';
import { conformanceToken } from './conformance.ts';
import {
  sdks,
  startConformanceAgent,
  stopConformanceAgent,
  type ConformanceAgent,
} from './conformance-agents.ts';

type Json = Readonly<Record<string, unknown>>;
interface Message {
  readonly role: string;
  readonly content: string;
}

const paths = { '': '/', '-reject': '/reject', '-broken': '/broken', '-tenant': '/tenant?name=Anna' };
const agents = new Map<string, ConformanceAgent>();
const problems = new Map<string, string>();
let service: TestService;
let providers: Providers;
const calls: CallClient[] = [];

beforeAll(async () => {
  for (const [name, programOf] of sdks) {
    const started = await startConformanceAgent(programOf);
    if ('problem' in started) problems.set(name, started.problem);
    else agents.set(name, started);
  }
  providers = await new Providers().start();
  const routes = [...agents].flatMap(([name, { port }]) =>
    Object.entries(paths).map(
      ([suffix, path]) => `[[agent_link.routes]]
name = "${name}${suffix}"
url = "ws://127.0.0.1:${port}${path}"
token_env = "SVC_AGENT_TOKEN"
`,
    ),
  );
  service = await TestService.start({
    agentText: `${providers.agentText({ greeting: 'From the file.', agent: 'fillers = ["One moment."]\n[agent.confirm]\nask = "Shall I do it?"' })}\n${routes.join('\n')}`,
    workers: 2,
    env: { SVC_AGENT_TOKEN: conformanceToken, SVC_LOG_LEVEL: 'debug' },
  });
}, 300_000);

afterAll(async () => {
  await service.stop();
  await providers.close();
  for (const agent of agents.values()) await stopConformanceAgent(agent);
});

const messagesOf = (request: { readonly body: Json } | undefined): readonly Message[] =>
  (request?.body['messages'] ?? []) as readonly Message[];

const toolsOf = (request: { readonly body: Json } | undefined): string[] =>
  ((request?.body['tools'] ?? []) as readonly { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );

describe.each(sdks)('the %s SDK', (name) => {
  let said = 0;

  /** A call by this route; speech before it does not count. */
  async function ring(suffix: keyof typeof paths = ''): Promise<CallClient> {
    said = providers.tts.requests.length;
    const call = await service.call({ metadata: { agent_route: `${name}${suffix}` }, follow: true });
    calls.push(call);
    return call;
  }

  async function spoken(text: string): Promise<void> {
    const { tts } = providers;
    await tts.until(() => tts.requests.slice(said).some(({ body }) => String(body['input']).includes(text)));
  }

  /** The caller types, and the LLM is asked. */
  async function ask(call: CallClient, text: string) {
    const { llm } = providers;
    const before = llm.requests.length;
    call.sendText(text);
    await llm.until(() => llm.requests.length > before);
    return llm.requests[before];
  }

  /** The same, once the agent has done what it was asked for: it takes orders one after the other. */
  async function askBehind(call: CallClient, order: string) {
    await ask(call, order);
    call.sendText(`interrupt Done: ${order}.`);
    await spoken(`Done: ${order}.`);
    return await ask(call, 'and now');
  }

  /** Resolves when the agent says one of these from now on, also where the sound of it was made ahead of time. */
  const says = (call: CallClient, ...lines: readonly string[]) =>
    call.next(
      (event) =>
        event.type === 'told' &&
        event.message.type === 'bot.tts_text' &&
        lines.includes(event.message.text.trim()),
    );

  /** An answer was heard to its end; a caller who cuts it has the agent process speak of it. */
  const played = (call: CallClient) => call.next(({ type }) => type === 'mark-played');

  /** The LLM calls the tool that needs the caller's word, and the caller has heard the question. */
  async function question(call: CallClient, id: string): Promise<void> {
    const asked = says(call, 'Shall I do it?');
    use(call, 'hold', id);
    expect(await asked).toBeDefined();
    expect(await played(call)).toBeDefined();
  }

  /** The LLM calls a tool. */
  function use(call: CallClient, tool: string, id: string): void {
    providers.llm.script.push(toolCall(tool, {}, id));
    call.sendText('use it');
  }

  /** What the LLM is told of a call of a tool. */
  async function resultOf(call: CallClient, tool: string, args: Json = {}): Promise<string> {
    const { llm } = providers;
    llm.script.push(toolCall(tool, args));
    const before = llm.requests.length;
    call.sendText('use it');
    await llm.until(() => llm.requests.length > before + 1);
    const last = messagesOf(llm.requests[before + 1]).at(-1);
    expect(last?.role).toBe('tool');
    return String(last?.content);
  }

  const test = (what: string, run: () => Promise<void>): void =>
    it(what, async (context) => {
      const problem = problems.get(name);
      context.skip(problem !== undefined, problem);
      await run();
      for (const call of calls.splice(0)) call.abandon();
      providers.llm.script.length = 0;
    });

  test('session.accept: prompt, context, greeting and tools are those of the call', async () => {
    const call = await ring();
    await spoken('Conformance.');
    const request = await ask(call, 'hello');
    const texts = messagesOf(request).map(({ content }) => content);
    expect(texts[0]).toContain('You are the conformance agent.');
    expect(texts.join('\n')).toContain('Be exact.');
    expect(toolsOf(request)).toEqual(
      expect.arrayContaining(['echo', 'add', 'fail', 'sorry', 'slow', 'hold', 'release', 'log', 'large']),
    );
  });

  test('say, an interrupting one, and what the service or the SDK refuses', async () => {
    const call = await ring();
    // A handler that throws leaves the call as it is.
    call.sendText('throw');
    call.sendText('say Spoken by the agent.');
    await spoken('Spoken by the agent.');
    call.sendText('interrupt Now this.');
    await spoken('Now this.');
    call.sendText('transfer');
    await spoken('refused unsupported');
    call.sendText('long');
    await spoken('refused invalid_message');
  });

  test('context.update is in force from the next response on', async () => {
    const messages = messagesOf(await askBehind(await ring(), 'context'));
    expect(messages[0]?.content).toContain('New prompt.');
    expect(messages).toContainEqual({
      role: 'user',
      content: expect.stringContaining('Remember this.') as string,
    });
  });

  test('tools.set narrows what is offered, and null restores it', async () => {
    const call = await ring();
    expect(toolsOf(await askBehind(call, 'tools'))).toEqual(['echo']);
    expect(toolsOf(await askBehind(call, 'all tools')).length).toBeGreaterThan(8);
  });

  test('tool.call and tool.result: a text as it is, JSON in compact form, errors as tool_failed', async () => {
    const call = await ring();
    expect(await resultOf(call, 'echo', { text: 'as it is' })).toBe('as it is');
    expect(await resultOf(call, 'add', { a: 1, b: 2 })).toBe('{"sum":3}');
    expect(await resultOf(call, 'fail')).toMatch(/tool_failed.*the tool failed/);
    expect(await resultOf(call, 'sorry')).toMatch(/tool_failed.*no such order/);
    expect(await resultOf(call, 'large')).toMatch(/tool_failed.*the result of the tool cannot be sent/);
    expect(await resultOf(call, 'add', { a: 'one', b: 2 })).toMatch(/invalid_arguments/);
  });

  test('filler_after_ms and tool.cancel: a slow tool is bridged, and stops when the caller goes on', async () => {
    const call = await ring();
    const filled = says(call, 'One moment.');
    use(call, 'slow', 'call_a');
    expect(await filled).toBeDefined();
    await ask(call, 'never mind');
    expect(await resultOf(call, 'log')).toBe('["slow cancelled"]');
  });

  test('confirm: a tool runs behind a clear yes and not behind a no, and an interruption leaves it to run on', async () => {
    const call = await ring();
    await played(call);
    await question(call, 'call_a');
    const refused = played(call);
    await ask(call, 'no');
    await refused;
    const logged = played(call);
    expect(await resultOf(call, 'log')).toBe('[]');
    await logged;
    await question(call, 'call_b');
    // It runs without a filler, for which it does not ask.
    call.sendText('yes');
    // A side effect runs on while the caller does, and the LLM hears of its end.
    await ask(call, 'and something else');
    expect(await resultOf(call, 'release')).toBe('true');
    while (!/\bheld\b/.test(JSON.stringify(messagesOf(await ask(call, 'is it done')))));
  });

  test('end: the farewell is spoken, and the call is over', async () => {
    const call = await ring();
    await spoken('Conformance.');
    call.sendText('end');
    expect((await call.closed).reason).toBe('ended');
    await spoken('Bye.');
    await service.says('the agent process ends the call', (line) => line['call'] === call.callId);
  });

  test('session.reject, and a start handler that breaks, leave the call to the agent file', async () => {
    for (const suffix of ['-reject', '-broken'] as const) {
      const call = await ring(suffix);
      await service.says(
        'the agent process does not take the call: it starts by the agent file alone',
        (line) => line['call'] === call.callId,
      );
      const request = await ask(call, 'hello');
      expect(messagesOf(request)[0]?.content).toContain('You are under test.');
    }
  });

  test('a call may begin with something else than the agent says', async () => {
    const call = await ring('-tenant');
    await spoken('Hello Anna.');
    expect(toolsOf(await ask(call, 'hello')).filter((tool) => tool !== 'end_call')).toEqual(['echo']);
  });

  test('session.resume: the session goes on where the worker of a call dies', async () => {
    const call = await ring();
    await spoken('Conformance.');
    process.kill(await service.workerOf(call), 'SIGKILL');
    await service.says('the agent process is back', (line) => line['call'] === call.callId);
    call.sendText('say After the worker.');
    await spoken('After the worker.');
    expect(await resultOf(call, 'echo', { text: 'still' })).toBe('still');
  });

  test('a process that is killed leaves the call to go on', async () => {
    const call = await ring();
    await spoken('Conformance.');
    agents.get(name)?.child.kill('SIGKILL');
    await service.says('the agent process is lost: the service connects again');
    expect(messagesOf(await ask(call, 'are you there'))[0]?.content).toContain(
      'You are the conformance agent.',
    );
  });
});
