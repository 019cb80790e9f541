/** However a call ends, it leaves one record with the right reason. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { answer, toolCall } from '../../support/fakes/fake-chat.ts';
import { KeptRecords } from '../../support/calls/kept.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { RawCaller, startFrame, textFrame } from '../raw-caller.ts';

const token = 'a-token-of-an-operator';
const kept = new KeptRecords();
let service: TestService;

const start = async (options: TestServiceOptions = {}): Promise<TestService> =>
  (service = await TestService.start({
    workers: 2,
    greeting: 'Hello.',
    ...options,
    env: { ...kept.env, SVC_LIVE_TOKEN: token, ...options.env },
  }));

afterAll(() => kept.remove());

/** The caller has heard the whole of an answer. */
const heard = async (call: CallClient): Promise<void> => {
  await call.next(({ type }) => type === 'mark-played');
};

/** Asks by text and hears the answer. */
async function talk(call: CallClient): Promise<void> {
  service.providers.llm.script.push(answer('It is noon.'));
  call.sendText('What time is it?');
  await heard(call);
}

describe('a call of a service that goes on', () => {
  beforeAll(() => start({ agent: 'tools = ["end_call"]', turn: 'speculate = false' }));
  afterAll(async () => {
    await service.stop();
  });
  afterEach(() => {
    service.providers.llm.script.length = 0;
  });

  it('that the caller hangs up: has its turns, its texts, and what it used', async () => {
    const call = await service.call({ metadata: { plan: 'gold' } });
    await heard(call);
    await talk(call);
    await call.hangUp();
    const record = await kept.of(call.callId);
    expect(record).toMatchObject({
      agent: { name: 'test' },
      direction: 'inbound',
      transport: 'websocket',
      metadata: { token: {}, client: { plan: 'gold' } },
      end: { code: 'caller_hung_up', by: 'caller' },
      takeovers: [],
    });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'agent: Hello.',
      'caller: What time is it?',
      'agent: It is noon.',
    ]);
    expect(record.usage.by_stage.tts?.characters).toBe('Hello.'.length + 'It is noon.'.length);
    expect(record.duration_ms).toBeGreaterThan(0);
    expect(Date.parse(record.ended_at) - Date.parse(record.started_at)).toBe(record.duration_ms);
  });

  it('that the agent ends by its tool', async () => {
    const call = await service.call();
    await heard(call);
    service.providers.llm.script.push(toolCall('end_call', {}));
    call.sendText('Goodbye.');
    await call.closed;
    expect((await kept.of(call.callId)).end).toEqual({ code: 'agent_ended', by: 'agent', detail: 'tool' });
  });

  it('whose connection breaks', async () => {
    const call = await service.call();
    await heard(call);
    call.abandon();
    expect((await kept.of(call.callId)).end).toEqual({ code: 'connection_lost', by: 'network' });
  });

  it('that an operator ends', async () => {
    const call = await service.call();
    await heard(call);
    const path = `/live/calls/${encodeURIComponent(call.callId)}/end`;
    await fetch(`http://${service.address('health')}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    await call.closed;
    expect((await kept.of(call.callId)).end).toEqual({ code: 'operator_ended', by: 'operator' });
  });

  it('whose client chose an id that another call has had: has a record of its own', async () => {
    for (let n = 0; n < 2; n += 1) {
      const call = await service.call({ callId: 'same' });
      await heard(call);
      await call.hangUp();
    }
    for (;;) {
      const records = (await kept.all()).filter(({ call_id }) => call_id === 'same');
      expect(records.length).toBeLessThanOrEqual(2);
      if (records.length === 2) break;
      await service.readiness();
    }
  });

  it('whose worker is killed, and that another takes up', async () => {
    const call = await service.call();
    await heard(call);
    await talk(call);
    process.kill(await service.workerOf(call), 'SIGKILL');
    await service.says('call taken up', (line) => line['call'] === call.callId);
    await talk(call);
    await call.hangUp();
    const record = await kept.of(call.callId);
    expect(record.end).toEqual({ code: 'caller_hung_up', by: 'caller' });
    expect(record.takeovers.length).toBe(1);
    expect(record.transcript.filter(({ role }) => role === 'caller').length).toBe(2);
  });

  it('goes on without the process that keeps records, and is kept when that is back', async () => {
    const call = await service.call();
    await heard(call);
    const keeper = (): number => service.children('records')[0] ?? 0;
    const before = keeper();
    process.kill(before, 'SIGKILL');
    await talk(call);
    await call.hangUp();
    expect((await kept.of(call.callId)).end.code).toBe('caller_hung_up');
    expect(keeper()).not.toBe(before);
  });
});

describe('a call', () => {
  afterEach(async () => {
    if (!service.isOver) await service.stop();
  });

  it('that says nothing', async () => {
    await start({ turn: '[turn.idle]\nask_after_s = 1\nend_after = 1' });
    const call = await service.call();
    await call.closed;
    expect((await kept.of(call.callId)).end).toEqual({ code: 'silence', by: 'service' });
  });

  it('whose time is over', async () => {
    await start({ agent: 'max_call_s = 1' });
    const call = await service.call();
    await call.closed;
    expect((await kept.of(call.callId)).end).toEqual({ code: 'time_limit', by: 'service' });
  });

  it('that finds no room after its answer', async () => {
    await start({ env: { SVC_MAX_SESSIONS: '1', SVC_WS_MAX_CALLS: '4' } });
    // Both are connected before either begins.
    const [first, second] = [new RawCaller(service.port), new RawCaller(service.port)];
    await Promise.all([first, second].map((one) => one.until(() => one.status === 101)));
    first.send(startFrame(16_000, 'has-room'));
    await first.received('started');
    second.send(startFrame(16_000, 'no-room'));
    await second.closed();
    expect((await kept.of('no-room')).end).toEqual({ code: 'refused', by: 'service', detail: 'server_busy' });
    first.send(textFrame({ type: 'stop' }));
    expect((await kept.of('has-room')).end.code).toBe('caller_hung_up');
  });

  it('that runs when the service stops', async () => {
    await start();
    const call = await service.call();
    await heard(call);
    // Once: a second signal would have the worker killed where the drain is over by then.
    service.signal('SIGTERM');
    await service.ended;
    await service.providers.close();
    expect((await kept.of(call.callId)).end).toEqual({ code: 'shutdown', by: 'service' });
  });

  it('whose worker is killed, and that nobody may take up', async () => {
    await start({ env: { SVC_CALL_RESUME: 'off' } });
    const call = await service.call();
    await heard(call);
    await talk(call);
    process.kill(await service.workerOf(call), 'SIGKILL');
    await call.closed;
    const record = await kept.of(call.callId);
    expect(record.end).toEqual({ code: 'worker_lost', by: 'service' });
    expect(record.transcript.map(({ text }) => text)).toContain('Hello.');
  });

  it('whose supervisor is killed: has its record when the service is there again', async () => {
    await start();
    const call = await service.call();
    await heard(call);
    service.signal('SIGKILL');
    await call.closed;
    await service.ended;
    await service.providers.close();
    await start();
    expect((await kept.of(call.callId)).end).toEqual({ code: 'shutdown', by: 'service' });
  });

  it('whose whole service is killed at once', async () => {
    await start();
    const call = await service.call();
    await heard(call);
    const all = [service.pid, ...service.children('worker'), ...service.children('records')];
    for (const pid of all) process.kill(pid, 'SIGKILL');
    await call.closed;
    await service.ended;
    await service.providers.close();
    await start();
    expect((await kept.of(call.callId)).end).toEqual({ code: 'worker_lost', by: 'service' });
  });
});
