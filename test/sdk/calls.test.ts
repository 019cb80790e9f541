/** What happens in a call of the TypeScript SDK: commands, handlers, tools, and links that break. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import {
  CommandRefused,
  RejectCall,
  ToolError,
  type Session,
  type ToolCall,
} from '@voice-agent-service/agent';
import { CallRejected, ScriptedCall, type ScriptedCallOptions } from '@voice-agent-service/agent/testing';
import { parkedMs, startHandlerMs } from '../../sdk/typescript/src/call-link.ts';
import { limits } from '../../sdk/typescript/src/wire/constants.ts';
import { quietAgent, turnOfLoop } from './agents.ts';
import { offer, ServiceEnd } from './service-end.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A call, and its session as the agent sees it. */
async function begun(
  options: Parameters<typeof quietAgent>[0] = {},
  set: (made: ReturnType<typeof quietAgent>) => void = () => undefined,
  start: ScriptedCallOptions = {},
) {
  const made = quietAgent(options);
  let session: Session | undefined;
  made.agent.on('session.start', (_, each) => (session = each));
  set(made);
  const call = await ScriptedCall.start(made.agent, start);
  if (session === undefined) throw new Error('the call did not begin');
  return { ...made, call, session };
}

const refusalOf = async (outcome: Promise<void>): Promise<string> => {
  try {
    await outcome;
    return 'done';
  } catch (error) {
    return error instanceof CommandRefused ? error.code : String(error);
  }
};

describe('session.start', () => {
  it('tells the agent who calls, by which path, and what the call can do', async () => {
    const { agent } = quietAgent();
    const seen: unknown[] = [];
    agent.onStart(({ id, path, query, caller, capabilities }) => {
      seen.push({ id, path, query, caller, capabilities });
      return undefined;
    });
    const caller = { from: '+15550100001', to: '+15550100002', carrier_call_id: 'c' };
    await ScriptedCall.start(agent, { sessionId: 's', path: '/a?b=c%20d&e', caller, canTransfer: false });
    const capabilities = { transfer: false, tools: true };
    const known = { number: '+15550100001', calledNumber: '+15550100002', carrierCallId: 'c' };
    const query = { b: 'c d', e: '' };
    expect(seen).toEqual([{ id: 's', path: '/a', query, caller: known, capabilities }]);
  });

  it('is accepted with what the start handler says in place of the agent', async () => {
    const { agent } = quietAgent({
      systemPrompt: 'One.',
      greeting: 'One!',
      overrides: { 'tts.voice': 'bright' },
    });
    const overrides = { 'tts.voice': 'calm' };
    agent.onStart(() => Promise.resolve({ greeting: 'Two!', overrides }));
    const { accept } = await ScriptedCall.start(agent);
    expect(accept).toMatchObject({ version: 1, system_prompt: 'One.', greeting: 'Two!', overrides });
  });

  it('is rejected on purpose', async () => {
    const { agent } = quietAgent();
    agent.onStart(() => {
      throw new RejectCall('closed', 'at night');
    });
    await expect(ScriptedCall.start(agent)).rejects.toThrow(
      new CallRejected({ type: 'session.reject', code: 'closed', message: 'at night' }),
    );
  });

  it('is rejected when the start handler is late, and what it says then is left out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { agent } = quietAgent();
    let answer = (): void => undefined;
    agent.onStart(() => new Promise((resolve) => (answer = () => resolve(undefined))));
    const started = ScriptedCall.start(agent);
    const settled = started.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(startHandlerMs);
    answer();
    expect(await settled).toMatchObject({ code: 'agent_failed' });
  });

  it('is rejected when the opening does not fit into a message', async () => {
    const { agent, log } = quietAgent();
    agent.onStart(() => ({ systemPrompt: 'x'.repeat(limits.messageBytes) }));
    await expect(ScriptedCall.start(agent)).rejects.toMatchObject({ code: 'agent_failed' });
    expect(log.has('a call could not be started')).toBe(true);
  });

  it.each([
    ['handlers', {}, ['turn.interrupted']],
    ['the option', { events: ['user.text', 'session.end'] as const }, ['user.text']],
    ['all', { events: 'all' as const }, undefined],
  ])('asks for the events of %s', async (_, options, events) => {
    const { call } = await begun(options, ({ agent }) => agent.on('turn.interrupted', () => undefined));
    expect(call.accept.events).toEqual(events);
  });
});

describe('commands', () => {
  it('resolve when done, and reject with the code of the service', async () => {
    const { call, session } = await begun();
    await session.say('Hello.', { interrupt: true });
    call.refuse('say', 'queue_full');
    call.refuse('end', 'too_late');
    expect(await refusalOf(session.say('Hello.'))).toBe('queue_full');
    expect(call.commands).toMatchObject([{ type: 'say', text: 'Hello.', interrupt: true }, { type: 'say' }]);
  });

  it('re names the event that a handler reacts to, also after it has waited, and no other', async () => {
    const { call, session } = await begun({}, ({ agent }) =>
      agent.onUserText(async (_, each) => {
        await turnOfLoop();
        await each.say('Yes.');
      }),
    );
    call.userSays('Hello?');
    expect(await call.nextCommand()).toMatchObject({ re: 5 });
    await session.say('By myself.');
    expect(await call.nextCommand()).not.toHaveProperty('re');
  });

  it('are refused when too many wait, and when the call is over', async () => {
    const { call, session } = await begun();
    const outcomes = Array.from({ length: limits.rememberedCommands + 1 }, () =>
      refusalOf(session.say('Hello.')),
    );
    expect(await outcomes.at(-1)).toBe('too_many_commands');
    await Promise.all(outcomes);
    call.hangUp();
    await turnOfLoop();
    expect(await refusalOf(session.say('Hello?'))).toBe('session_over');
    expect(session.signal.aborted).toBe(true);
  });

  it('that wait when the call ends are refused then', async () => {
    const { call, session } = await begun();
    const outcome = refusalOf(session.say('Hello.'));
    call.hangUp();
    expect(await outcome).toBe('session_over');
  });

  it('that nobody awaits end no process', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const { call, session } = await begun();
    call.refuse('say', 'dropped');
    void session.say('Hello.');
    await call.nextCommand();
    await turnOfLoop();
    await turnOfLoop();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('sendToClient: any JSON, as the answer to a message of the client where it is one', async () => {
    const { call, session } = await begun({}, ({ agent }) =>
      agent.on('client.message', (event, each) => each.sendToClient({ got: event.data }, { answers: event })),
    );
    expect(call.accept.events).toContain('client.message');
    call.send({ type: 'client.message', name: 'cart', message_id: 'm1', data: { item_count: 2 } });
    expect(await call.nextCommand()).toMatchObject({
      type: 'client.send',
      data: { got: { item_count: 2 } },
      answers: 'm1',
      name: 'cart',
    });
    await session.sendToClient(null);
    expect(await call.nextCommand()).not.toHaveProperty('answers');
    const circle: Record<string, unknown> = {};
    circle['circle'] = circle;
    for (const data of [circle, undefined, 1n] as unknown[])
      expect(await refusalOf(session.sendToClient(data as null))).toBe('invalid_message');
  });

  it('end: the farewell goes out, and the call ends', async () => {
    const { call, session } = await begun();
    await session.end({ say: 'Bye.', reason: 'done' });
    expect(await call.nextCommand()).toMatchObject({ type: 'end', say: 'Bye.', reason: 'done' });
    expect(call.isOver).toBe(true);
  });

  it('transfer: under an id of its own, so that a repetition is the same transfer', async () => {
    const { call, session } = await begun();
    await session.transfer('+15550100000', { commandId: 'once', mode: 'warm' });
    expect(await call.nextCommand()).toMatchObject({ type: 'transfer', id: 'once', mode: 'warm' });
  });
});

describe('handlers', () => {
  it('that throw or reject are logged, and the others still hear of it', async () => {
    const heard: string[] = [];
    const { call, log } = await begun({}, ({ agent }) => {
      agent.on('user.text', () => {
        throw new Error('one');
      });
      agent.on('user.text', () => Promise.reject(new Error('two')));
      agent.on('user.text', ({ text }) => heard.push(text));
    });
    call.userSays('Hello.');
    await log.until(() => log.lines.filter(({ message }) => message === 'a handler failed').length === 2);
    expect(heard).toEqual(['Hello.']);
  });

  it('that never settle are counted: beyond 256 events are left out, but not the last', async () => {
    let started = 0;
    const ends: string[] = [];
    const { call, log } = await begun({}, ({ agent }) => {
      agent.onUserText(() => {
        started += 1;
        return new Promise(() => undefined);
      });
      agent.on('session.end', ({ reason }) => ends.push(reason));
    });
    for (let turn = 0; turn < 300; turn += 1) call.userSays('Hello.');
    expect(started).toBe(256);
    expect(log.has('an event was left out: too many handlers have not settled')).toBe(true);
    call.hangUp();
    expect(ends).toEqual(['hangup']);
  });

  it('get names as they are usual in JavaScript, and data of callers as it came', async () => {
    const seen: unknown[] = [];
    const { call } = await begun({}, ({ agent }) => {
      agent.on('turn.metrics', ({ metrics, tMs }) => seen.push([metrics.responseMs, tMs]));
      agent.on('tool.call', (event) => seen.push([event.callId, event.arguments]));
    });
    call.send({ type: 'turn.metrics', epoch: 1, metrics: { response_ms: 640 } });
    const fields = { id: 1, call_id: 'c', kind: 'read_only', epoch: 1, idempotency_key: '0', timeout_ms: 1 };
    call.send({ type: 'tool.call', name: 'x', arguments: { given_name: 'Ada' }, ...fields });
    expect(seen).toEqual([
      [640, 40],
      ['c', { given_name: 'Ada' }],
    ]);
  });

  it('a logger that throws ends no call', async () => {
    const bad = (): never => {
      throw new Error('the logger');
    };
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { agent } = quietAgent({ logger: { debug: bad, info: bad, warn: bad, error: bad } });
    const call = await ScriptedCall.start(agent);
    said.mockRestore();
    expect(call.accept.type).toBe('session.accept');
  });
});

describe('tools', () => {
  it('get arguments as the schema of zod makes them, and refuse what it refuses', async () => {
    const { agent } = quietAgent();
    const parameters = z.object({
      day: z.string().transform((day) => day.toUpperCase()),
      people: z.int().max(8).default(2),
    });
    agent.tool({ name: 'book', description: '', parameters }, ({ day, people }) => `${day} ${people}`);
    const call = await ScriptedCall.start(agent);
    expect(await call.callTool('book', { day: 'monday' })).toEqual({ result: 'MONDAY 2' });
    const { error = '' } = await call.callTool('book', { day: 'monday', people: 40 });
    expect(error).toMatch(/^invalid arguments: people: /);
    expect(error).not.toContain('40');
  });

  it.each([
    ['nothing', undefined, { result: null }],
    ['a list', [1, { a: true }], { result: [1, { a: true }] }],
    ['a function', () => 1, { error: 'the result of the tool cannot be sent' }],
    [
      'lists without end',
      JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`),
      { error: 'the result of the tool cannot be sent' },
    ],
    ['a big integer', 1n, { error: 'the result of the tool cannot be sent' }],
  ])('answer %s', async (_, result, outcome) => {
    const { agent } = quietAgent();
    agent.tool({ name: 'give', description: '' }, () => result);
    expect(await (await ScriptedCall.start(agent)).callTool('give')).toEqual(outcome);
  });

  it('tell the LLM what a ToolError says, and of other errors nothing', async () => {
    const { agent } = quietAgent();
    agent.tool({ name: 'sorry', description: '' }, () => Promise.reject(new ToolError('no table is free')));
    agent.tool({ name: 'fail', description: '' }, () => {
      throw new Error('password hunter2');
    });
    const call = await ScriptedCall.start(agent);
    expect(await call.callTool('sorry')).toEqual({ error: 'no table is free' });
    expect(await call.callTool('fail')).toEqual({ error: 'the tool failed' });
  });

  it('at most 64 run at once', async () => {
    const { agent } = quietAgent();
    agent.tool({ name: 'hang', description: '' }, () => new Promise(() => undefined));
    const call = await ScriptedCall.start(agent);
    for (let run = 0; run < 64; run += 1) void call.callTool('hang');
    expect(await call.callTool('hang')).toEqual({ error: 'too many tools run at once' });
  });

  it('that only read stop at the end of the call; those with effects are told', async () => {
    const { agent } = quietAgent();
    const runs: ToolCall[] = [];
    const hang = (_: unknown, run: ToolCall): Promise<never> => {
      runs.push(run);
      return new Promise(() => undefined);
    };
    agent.tool({ name: 'read', description: '' }, hang);
    agent.tool({ name: 'write', description: '', kind: 'side_effect' }, hang);
    const call = await ScriptedCall.start(agent);
    const outcomes = [call.callTool('read'), call.callTool('write')];
    await turnOfLoop();
    call.hangUp();
    await Promise.all(outcomes);
    expect(
      runs.map(({ signal, cancellation, cancelled }) => [signal.aborted, cancellation.aborted, cancelled]),
    ).toEqual([
      [true, true, 'abandoned'],
      [false, true, 'abandoned'],
    ]);
  });
});

describe('a link that breaks', () => {
  it('leaves the session as it is, and what waits is answered on the next one', async () => {
    const { call, session, agent } = await begun();
    session.data['name'] = 'Ada';
    const seen: unknown[] = [];
    agent.onUserText((_, { data }) => seen.push(data['name']));
    call.breakLink();
    await call.resume();
    call.userSays('Hello.');
    await session.say('Here again.');
    expect([seen, session.signal.aborted]).toEqual([['Ada'], false]);
  });

  it('tells handlers that the call goes on, and how much of it they did not hear of', async () => {
    const lost: number[] = [];
    const { call, session } = await begun({}, ({ agent }) =>
      agent.onResume((event) => lost.push(event.lost)),
    );
    expect(call.accept.events).toEqual([]);
    for (const count of [0, 3]) {
      call.breakLink();
      await call.resume({ lost: count });
    }
    call.breakLink();
    call.send({ type: 'turn.interrupted', epoch: 1 });
    call.send({ type: 'turn.interrupted', epoch: 2 });
    await call.resume({ lost: 1 });
    expect([lost, session.endReason]).toEqual([[0, 3, 3], undefined]);
  });

  it('tells why the call is over, once', async () => {
    const ends: unknown[] = [];
    const { call } = await begun({}, ({ agent }) =>
      agent.onEnd(({ reason }, { endReason, signal }) => ends.push(reason, endReason, signal.aborted)),
    );
    call.hangUp();
    await turnOfLoop();
    expect(ends).toEqual(['hangup', 'hangup', true]);
  });

  it('ends the call once when nobody takes it up again', async () => {
    const ends: string[] = [];
    const { agent } = quietAgent();
    agent.on('session.end', ({ reason }) => ends.push(reason));
    const server = await agent.listen({ port: 0, handleSignals: false });
    const end = await ServiceEnd.open(server.url);
    await end.start();
    // Only the wait for the call to be taken up is ended by hand; everything else goes on in its own time.
    const { setTimeout: real } = globalThis;
    let giveUp: (() => void) | undefined;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((act: () => void, ms?: number) => {
      if (ms === parkedMs) giveUp = act;
      return real(act, ms);
    });
    end.socket.terminate();
    await vi.waitFor(() => expect(giveUp).toBeDefined());
    vi.restoreAllMocks();
    giveUp?.();
    expect(ends).toEqual(['link_lost']);
    expect(server.calls).toBe(0);
    await server.close();
  });

  it('tells the start handler of a call that another process had', async () => {
    const continued: boolean[] = [];
    const { agent } = quietAgent();
    agent.onStart(({ isContinued }) => {
      continued.push(isContinued);
      return { greeting: 'Hello.' };
    });
    const server = await agent.listen({ port: 0, handleSignals: false });
    const end = await ServiceEnd.open(server.url);
    const resume = { attempt: 1, previous_seq: 9, down_ms: 20, replay_from: 1, lost: 0, pending: [] };
    end.send({ type: 'session.start', ...offer, resume });
    expect(await end.next('session.accept')).toEqual({ type: 'session.accept', version: 1 });
    expect(continued).toEqual([true]);
    await server.close();
  });

  it('tells a session what was signed of its call, and apart from it what the client says', async () => {
    const told = {
      route: 'billing',
      session: { sid: 's', agent: 'acme', meta: { the_plan: 'gold' } },
      metadata: { agent_route: 'other' },
      caller: { carrier: 'sip', carrier_call_id: 'x' },
    } as const;
    let seen: unknown;
    await begun(
      {},
      ({ agent }) =>
        agent.onStart(
          ({ route, signed, metadata, caller }) => void (seen = { route, signed, metadata, caller }),
        ),
      told,
    );
    expect(seen).toEqual({
      ...{ route: told.route, signed: told.session, metadata: told.metadata },
      caller: { carrier: 'sip', carrierCallId: 'x' },
    });
  });

  it('ends the call at once without resume', async () => {
    const ends: string[] = [];
    const { call } = await begun({ resume: false }, ({ agent }) =>
      agent.on('session.end', ({ reason }) => ends.push(reason)),
    );
    expect(call.accept.resume).toBeUndefined();
    call.breakLink();
    expect(ends).toEqual(['link_lost']);
  });
});
