/** What an application declares to the TypeScript SDK: each rule is the service's, and is told with its name. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  Agent,
  livekitTools,
  mintSessionToken,
  pipecatTool,
  type Session,
  type ToolOptions,
} from '@voice-agent-service/agent';
import { ScriptedCall } from '@voice-agent-service/agent/testing';
import { brokenRule, type Command } from '../../sdk/typescript/src/command-rules.ts';
import { verifySessionToken } from '../../shared/auth/session-token.ts';
import { agentMessageSchemas } from '../../shared/agent-link/agent-messages.ts';
import { isConversationEventType } from '../../shared/agent-link/events.ts';
import { isChosenEvent, isEventType } from '../../sdk/typescript/src/events.ts';
import { serviceMessageSchemas } from '../../shared/agent-link/service-messages.ts';
import { quietAgent } from './agents.ts';

const a = (length: number): string => 'a'.repeat(length);
const message = { role: 'user', text: 'Hello.' } as const;

describe('a command', () => {
  const commands: readonly Command[] = [
    { type: 'say', text: a(4096) },
    { type: 'say', text: a(4097) },
    { type: 'say', text: 'ä'.repeat(2049) },
    { type: 'say', text: ' ' },
    { type: 'say', text: 'Hello.', id: a(64) },
    { type: 'say', text: 'Hello.', id: a(65) },
    { type: 'end' },
    { type: 'end', say: '', reason: a(512) },
    { type: 'end', say: a(4097) },
    { type: 'end', reason: a(513) },
    { type: 'transfer', destination: '+12345678' },
    { type: 'transfer', destination: '+1234567' },
    { type: 'transfer', destination: '+1234567890123456' },
    { type: 'transfer', destination: '12345678' },
    { type: 'transfer', destination: '+12345678', summary: a(513) },
    { type: 'transfer', destination: '+12345678', reason: a(513) },
    { type: 'context.update', append: Array.from({ length: 32 }, () => message) },
    { type: 'context.update', append: Array.from({ length: 33 }, () => message) },
    { type: 'context.update', append: [{ role: 'user', text: ' ' }] },
    { type: 'context.update', system_prompt: a(65_536) },
    { type: 'context.update', system_prompt: a(65_537) },
    { type: 'tools.set', enabled: Array.from({ length: 128 }, () => 'x') },
    { type: 'tools.set', enabled: Array.from({ length: 129 }, () => 'x') },
    { type: 'tools.set', enabled: null },
    { type: 'client.send', data: { a: [null] }, answers: a(256), name: a(256) },
    { type: 'client.send', data: 1, answers: a(257) },
    { type: 'client.send', data: 1, name: a(257) },
  ];

  it.each(commands.map((command) => [JSON.stringify(command).slice(0, 60), command] as const))(
    'is judged as the service judges it: %s',
    (_, command) => {
      expect(brokenRule(command) === undefined).toBe(
        agentMessageSchemas[command.type].safeParse(command).success,
      );
    },
  );
});

describe('events', () => {
  it('are those of the service, by name', () => {
    const types = Object.keys(serviceMessageSchemas);
    expect(types.filter((type) => !isEventType(type))).toEqual([]);
    expect(types.filter(isChosenEvent)).toEqual(types.filter(isConversationEventType));
  });
});

describe('a tool', () => {
  const declared = (options: Partial<ToolOptions>): string => {
    try {
      quietAgent().agent.tool({ name: 'tool', description: '', ...options }, () => 1);
      return 'fine';
    } catch (error) {
      return error instanceof TypeError ? error.message : String(error);
    }
  };

  it.each([
    [{ name: '' }, /name must have 1 to 64/],
    [{ name: a(65) }, /name must have 1 to 64/],
    [{ name: 'two words' }, /name must have 1 to 64/],
    [{ confirm: true }, /^tool tool: confirm: is for side_effect/],
    [{ repeatable: true }, /^tool tool: repeatable: is for side_effect/],
    [{ timeoutMs: 0 }, /^tool tool: timeoutMs: must/],
    [{ timeoutMs: 30_001 }, /^tool tool: timeoutMs: must/],
    [{ fillerAfterMs: -1 }, /^tool tool: fillerAfterMs: must/],
    [{ parameters: { type: 'string' } }, /^tool tool: parameters: must be a schema of type object/],
    [{ parameters: z.string() }, /^tool tool: parameters: must be a schema of type object/],
    [
      {
        name: a(64),
        kind: 'side_effect',
        confirm: true,
        repeatable: true,
        timeoutMs: 30_000,
        fillerAfterMs: 0,
      },
      /^fine$/,
    ],
  ] as const)('%o: %s', (options, rule) => {
    expect(declared(options as Partial<ToolOptions>)).toMatch(rule);
  });

  it('is declared once, and at most 64 are', () => {
    const { agent } = quietAgent();
    for (let tool = 0; tool < 64; tool += 1) agent.tool({ name: `t${tool}`, description: '' }, () => 1);
    expect(() => agent.tool({ name: 't0', description: '' }, () => 1)).toThrow(/is declared twice/);
    expect(() => agent.tool({ name: 'more', description: '' }, () => 1)).toThrow(/at most 64 tools/);
  });

  it('asks for a newer zod where the one at hand cannot write JSON Schema', () => {
    const parameters = {
      '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) },
    } as const;
    expect(declared({ parameters })).toMatch(/zod cannot write JSON Schema \(zod can from 4\.2 on\)/);
  });

  it('has the shape that the service expects', async () => {
    const { agent } = quietAgent();
    const parameters = z.object({ people: z.int() });
    const options = { kind: 'side_effect', confirm: true, timeoutMs: 8000, fillerAfterMs: 0 } as const;
    agent.tool({ name: 'book', description: 'Books.', parameters, ...options }, () => 1);
    const { accept } = await ScriptedCall.start(agent);
    expect(agentMessageSchemas['session.accept'].parse(accept).tools).toMatchObject([
      {
        name: 'book',
        kind: 'side_effect',
        confirm: true,
        timeout_ms: 8000,
        filler_after_ms: 0,
        parameters: { type: 'object', required: ['people'] },
      },
    ]);
  });
});

describe('an agent', () => {
  it.each([
    [{ name: '' }, /^name: /],
    [{ name: 'x', greeting: a(4097) }, /^greeting: must be at most 4096 bytes/],
    [{ name: 'x', systemPrompt: a(65_537) }, /^systemPrompt: must be at most 65536 bytes/],
    [{ name: 'x', systemPrompt: a(65_500) }, /must be at most 65536 bytes together/],
    [{ name: 'x', context: Array.from({ length: 33 }, () => message) }, /^context: must have at most 32/],
    [{ name: 'x', events: ['turn.finished'] as never }, /^events: must be names/],
  ])('is refused as %o', (options, rule) => {
    expect(() => new Agent(options)).toThrow(rule);
  });
});

describe('tools of other frameworks', () => {
  it('LiveKit: execute gets arguments, user data, the id of the call and a signal', async () => {
    const { agent } = quietAgent();
    const execute = (
      { city }: { city: string },
      options: { ctx: { userData: Record<string, unknown> }; toolCallId: string; abortSignal: AbortSignal },
    ): unknown => [city, options.ctx.userData['plan'], options.toolCallId, options.abortSignal.aborted];
    const lookUp = { description: 'Weather.', parameters: z.object({ city: z.string() }), execute };
    agent.addTools(livekitTools({ lookUp }, { lookUp: { kind: 'side_effect' } }));
    agent.on('session.start', (_, session) => (session.data['plan'] = 'gold'));
    const call = await ScriptedCall.start(agent);
    expect(call.accept.tools).toMatchObject([
      { name: 'lookUp', description: 'Weather.', kind: 'side_effect' },
    ]);
    expect(await call.callTool('lookUp', { city: 'Rome' })).toEqual({
      result: ['Rome', 'gold', 'call_1', false],
    });
  });

  /** LiveKit's errors, which it tells by symbols. */
  const marked = (mark: string, message = ''): Error =>
    Object.defineProperty(new Error(message), Symbol(mark), { value: true });

  it('LiveKit: a list of tools with names and of toolsets', () => {
    const tool = (name: string) => ({ name, description: '', execute: () => name });
    const declared = livekitTools([tool('a'), { tools: [tool('b'), { tools: [tool('c')] }] }]);
    expect(declared.map(({ declaration }) => declaration.name)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['ToolError: its words reach the LLM', marked('tool_error', 'no such order'), { error: 'no such order' }],
    ['StopResponse: the tool has not failed', marked('StopResponse'), { result: null }],
    ['another error: the tool failed', new Error('secret'), { error: 'the tool failed' }],
  ])('LiveKit: %s', async (_, error, outcome) => {
    const { agent } = quietAgent();
    const execute = (): never => {
      throw error;
    };
    agent.addTools(livekitTools({ t: { description: '', execute } }));
    const call = await ScriptedCall.start(agent);
    expect(await call.callTool('t')).toEqual(outcome);
  });

  it('LiveKit: disallowInterruptions lets a tool run on', async () => {
    const { agent } = quietAgent();
    const signals: AbortSignal[] = [];
    const execute = async (
      { stays }: { stays: boolean },
      {
        ctx,
        abortSignal,
      }: { ctx: { session: Session; disallowInterruptions(): void }; abortSignal: AbortSignal },
    ) => {
      signals.push(abortSignal);
      if (stays) ctx.disallowInterruptions();
      await ctx.session.say('Wait.');
      await new Promise(() => undefined);
    };
    const parameters = z.object({ stays: z.boolean() });
    agent.addTools(livekitTools({ t: { description: '', parameters, execute } }));
    const call = await ScriptedCall.start(agent);
    for (const stays of [false, true]) {
      void call.callTool('t', { stays });
      await call.nextCommand();
    }
    for (const id of [1, 2]) call.send({ type: 'tool.cancel', id, reason: 'interrupted' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('Pipecat: the result is what the callback gets, or else what is returned', async () => {
    const { agent } = quietAgent();
    agent.addTools([
      pipecatTool({ name: 'called', description: '' }, async (params) => {
        await params.resultCallback({ name: params.functionName, ...params.arguments });
        return 'not this';
      }),
      pipecatTool({ name: 'returned', description: '' }, () => 'this'),
      pipecatTool({ name: 'thrown', description: '' }, () => {
        throw new Error('no');
      }),
    ]);
    const call = await ScriptedCall.start(agent);
    expect(await call.callTool('called', { a: 1 })).toEqual({ result: { name: 'called', a: 1 } });
    expect(await call.callTool('returned')).toEqual({ result: 'this' });
    expect(await call.callTool('thrown')).toEqual({ error: 'the tool failed' });
  });
});

describe('a session token', () => {
  const secret = 'a secret of more than thirty-two bytes';
  const nowS = 1_700_000_000;

  it('is what the service accepts', () => {
    const options = {
      secret,
      audience: 'svc-ws',
      sessionId: 'one',
      maxCallS: 600,
      agent: 'x',
      meta: { plan: 'gold' },
      nowS,
    } as const;
    const read = verifySessionToken(mintSessionToken(options), {
      secrets: [secret],
      audience: 'svc-ws',
      nowS,
    });
    expect(read).toMatchObject({ ok: true, value: { sid: 'one', expS: nowS + 60, maxS: 600, agent: 'x' } });
  });

  it('is a new one each time', () => {
    const mint = (): string => mintSessionToken({ secret, audience: 'svc-ws', nowS });
    expect(mint()).not.toBe(mint());
  });

  it.each([
    ['a short secret', { secret: 'short' }, /at least 32 bytes/],
    ['a TTL over 24 hours', { ttlS: 86_401 }, /TTL/],
    ['a TTL of a part of a second', { ttlS: 1.5 }, /TTL/],
    ['now in milliseconds', { nowS: Date.now() }, /milliseconds/],
    ['now with a fraction', { nowS: 1.5 }, /whole seconds/],
    ['a call of no length', { maxCallS: 0 }, /max_s/],
    ['a call of more than a day', { maxCallS: 86_401 }, /max_s/],
  ])('is refused with %s (Authentication 6)', (_, options, rule) => {
    const mint = (): string => mintSessionToken({ secret, audience: 'svc-ws', nowS, ...options });
    expect(mint).toThrow(RangeError);
    expect(mint).toThrow(rule);
  });
});
