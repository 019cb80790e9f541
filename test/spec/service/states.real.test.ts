/** The life of a call (docs/call-protocol.md): the steps that need the whole service, on real processes and sockets. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { CallRefused } from '../../../cli/commands/call/call-wire.ts';
import { audioFrame, RawCaller, startFrame, textFrame } from '../../process/raw-caller.ts';
import { connectNarrow } from '../../process/narrow-socket.ts';
import { toolCall } from '../../support/fakes/fake-chat.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';

let service: TestService;
let shared: TestService | undefined;
const start = async (options: TestServiceOptions): Promise<TestService> =>
  (service = await TestService.start(options));
/** One service for all tests that ask nothing special of it and leave it as it was. */
const plain = async (): Promise<TestService> => (service = shared ??= await TestService.start());

const ended = (call: CallClient) => service.says('call ended', (line) => line['call'] === call.callId);

const refusal = async (): Promise<CallRefused> => {
  const outcome = await service.call().catch((error: unknown) => error);
  if (!(outcome instanceof CallRefused)) throw new Error('the call was not refused');
  return outcome;
};

afterEach(async () => {
  if (service !== shared) await service.stop();
});
afterAll(() => shared?.stop());

describe('connecting', () => {
  it('at max sessions: 503 with Retry-After: 1, and the slot is free again after the call', async () => {
    await start({ env: { SVC_MAX_SESSIONS: '1' } });
    const call = await service.call();
    expect(await refusal()).toMatchObject({ status: 503, retryAfter: '1' });
    expect(await service.readiness()).toMatchObject({ ready: 0, sessions_full: 1, sessions: 1 });
    expect((await service.get('/readyz')).status).toBe(503);
    expect((await service.get('/healthz')).status).toBe(200);
    await call.hangUp();
    await service.readyWhen((body) => body['connections'] === 0);
    expect((await service.get('/readyz')).status).toBe(200);
    expect(await (await service.call()).hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });

  it('at max calls: 503 with Retry-After: 1', async () => {
    await start({ env: { SVC_WS_MAX_CALLS: '1' } });
    await service.call();
    expect(await refusal()).toMatchObject({ status: 503, retryAfter: '1' });
    expect(await service.metric('svc_refusals_total{reason="calls_full"}')).toBe(1);
  });

  it('a refused client that has sent start and audio already still gets the answer', async () => {
    await start({ env: { SVC_MAX_SESSIONS: '1' } });
    await service.call();
    const early = Buffer.concat([startFrame(), ...Array.from({ length: 50 }, () => audioFrame(640))]);
    const eager = new RawCaller(service.port, early);
    await eager.closed();
    expect(eager.head).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1/);
  });

  it('a request without an upgrade gets 426', async () => {
    await plain();
    const answer = await fetch(`http://${service.address('websocket')}/`);
    expect(answer.status).toBe(426);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('while draining: 503 without Retry-After; the call that runs goes on; healthz 200, readyz 503', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '60s' } });
    const call = await service.call();
    service.signal('SIGTERM');
    await service.says('draining');
    expect(await refusal()).toMatchObject({ status: 503, retryAfter: undefined });
    expect((await service.get('/healthz')).status).toBe(200);
    const ready = await service.get('/readyz');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ ready: 0, draining: 1, sessions: 1 });
    const frames = await Promise.race([call.next((event) => event.type === 'frame-sent'), call.closed]);
    expect(frames).toMatchObject({ type: 'frame-sent' });
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });
});

describe('awaiting_start', () => {
  it('no start in start_timeout: error start_timeout, close 1008, and the slot is free', async () => {
    await start({ env: { SVC_WS_START_TIMEOUT: '100ms' } });
    const caller = new RawCaller(service.port);
    await caller.closed();
    expect(caller.of('error')).toMatchObject([{ code: 'start_timeout', fatal: true }]);
    expect(caller.closeCode).toBe(1008);
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('a client that connects and goes away before start leaves no slot behind', async () => {
    await plain();
    const caller = new RawCaller(service.port);
    await caller.until(() => caller.head !== undefined);
    expect(caller.status).toBe(101);
    caller.socket.resetAndDestroy();
    await service.readyWhen((body) => body['connections'] === 0);
  });
});

describe('open', () => {
  it('client stop: stop{ended}, close 1000, the engine sees a hang-up', async () => {
    await plain();
    const call = await service.call();
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(await ended(call)).toMatchObject({ end: 'hangup' });
  });

  it('the engine hangs up when the LLM calls end_call: stop{ended}, close 1000', async () => {
    await plain();
    service.providers.llm.script.push(toolCall('end_call', {}));
    const call = await service.call();
    call.sendDtmf('#');
    expect(await call.closed).toEqual({ code: 1000, reason: 'ended' });
    expect(await ended(call)).toMatchObject({ end: 'engine', cause: 'agent' });
    // Other known lines are made behind the back of the call.
    expect(service.providers.tts.inputs).toContain('Goodbye.');
  });

  it('connection breaks without a close frame: the engine sees a disconnect', async () => {
    await plain();
    const call = await service.call();
    call.abandon();
    expect(await ended(call)).toMatchObject({ end: 'disconnected' });
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('no frame from the client for ping_timeout: error ping_timeout, close 1008', async () => {
    await start({ env: { SVC_WS_PING_INTERVAL: '50ms', SVC_WS_PING_TIMEOUT: '200ms' } });
    const caller = new RawCaller(service.port, startFrame());
    await caller.closed();
    expect(caller.of('error')).toMatchObject([{ code: 'ping_timeout', fatal: true }]);
    expect(caller.closeCode).toBe(1008);
  });

  it('a silent client that answers pings stays', async () => {
    await start({ env: { SVC_WS_PING_INTERVAL: '50ms', SVC_WS_PING_TIMEOUT: '2s' } });
    const call = await service.call({ microphone: false });
    const noisy = new RawCaller(service.port, startFrame());
    await noisy.closed();
    const probe = await Promise.race([call.closed, service.readiness()]);
    expect(probe).toMatchObject({ sessions: 1 });
  });

  it('more than 16 faults: error too_many_errors, close 1008', async () => {
    await plain();
    const caller = new RawCaller(service.port, startFrame());
    await caller.received('started');
    for (let i = 0; i < 17; i += 1) caller.send(textFrame({ type: 'nonsense' }));
    await caller.closed();
    expect(caller.of('error').map((error) => error['code'])).toEqual([
      ...Array.from({ length: 16 }, () => 'unknown_message'),
      'too_many_errors',
    ]);
    expect(caller.closeCode).toBe(1008);
  });

  it('client socket stays full for write_timeout: closed without a message; other calls go on', async () => {
    await start({ env: { SVC_WS_WRITE_TIMEOUT: '200ms' }, greeting: 'One. '.repeat(190) });
    const other = await service.call();
    const caller = new RawCaller(connectNarrow(service.port), startFrame(48_000, 'stuck'));
    await caller.received('started');
    caller.socket.pause();
    expect(await service.says('call ended', (line) => line['call'] === 'stuck')).toMatchObject({
      end: 'fault',
    });
    caller.socket.resume();
    await caller.closed();
    expect(caller.closeCode).toBeUndefined();
    expect(caller.of('stop')).toEqual([]);
    expect(caller.of('error')).toEqual([]);
    expect(await other.next((event) => event.type === 'audio')).toMatchObject({ durationMs: 20 });
  });
});

describe('server shutdown', () => {
  it('without calls: exits with 0 at once', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '1h', SVC_CANCEL_GRACE: '1h' }, workers: 2 });
    service.signal('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('while it starts: exits with 0 at once', async () => {
    service = await TestService.launch({ env: { SVC_DRAIN_TIMEOUT: '1h', SVC_CANCEL_GRACE: '1h' } });
    await service.says('listening', (line) => line['listener'] === 'health');
    service.signal('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('when the drain time ends: stop{shutdown}, close 1001, exit with 0', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '100ms', SVC_CANCEL_GRACE: '1h' }, workers: 2 });
    const calls = await Promise.all([service.call(), service.call(), service.call()]);
    service.signal('SIGTERM');
    const ends = await Promise.all(calls.map((call) => call.closed));
    expect(ends).toEqual(calls.map(() => ({ code: 1001, reason: 'shutdown' })));
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('without any grace: stop{shutdown}, close 1001, exit with 0 all the same', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '0ms', SVC_CANCEL_GRACE: '0ms', SVC_ABORT_WAIT: '0ms' } });
    const calls = await Promise.all([service.call(), service.call(), service.call()]);
    service.signal('SIGTERM');
    const ends = await Promise.all(calls.map((call) => call.closed));
    expect(ends).toEqual(calls.map(() => ({ code: 1001, reason: 'shutdown' })));
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('a second SIGTERM ends the drain', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '1h', SVC_CANCEL_GRACE: '1h' } });
    const call = await service.call();
    service.signal('SIGTERM');
    await service.says('draining');
    service.signal('SIGTERM');
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('a call that has not started yet is told server_busy', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '0ms' } });
    const caller = new RawCaller(service.port);
    await caller.until(() => caller.head !== undefined);
    service.signal('SIGTERM');
    await caller.closed();
    expect(caller.of('error')).toMatchObject([{ code: 'server_busy', fatal: true }]);
    expect(caller.closeCode).toBe(1013);
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('a client that is behind with reading is told as well', async () => {
    await start({ env: { SVC_WS_WRITE_TIMEOUT: '60s' }, greeting: 'One. '.repeat(190) });
    const caller = new RawCaller(connectNarrow(service.port), startFrame(48_000));
    await caller.received('started');
    caller.socket.pause();
    const other = await service.call();
    for (let frame = 0; frame < 250; frame += 1) await other.next((event) => event.type === 'audio');
    service.signal('SIGTERM');
    await other.closed;
    // A worker that does not wait for its sockets is gone long before all these answers.
    for (let probe = 0; probe < 100; probe += 1) await service.readiness();
    caller.socket.resume();
    await caller.until(() => caller.gone || caller.closeCode !== undefined);
    caller.socket.destroy();
    expect(caller.of('stop')).toEqual([{ type: 'stop', reason: 'shutdown' }]);
    expect(caller.closeCode).toBe(1001);
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('SIGINT does the same, also when it reaches every process of the group', async () => {
    await start({ env: { SVC_DRAIN_TIMEOUT: '100ms' } });
    const call = await service.call();
    for (const pid of [...service.children('worker'), ...service.children('inference')]) {
      process.kill(pid, 'SIGINT');
    }
    service.signal('SIGINT');
    expect(await call.closed).toEqual({ code: 1001, reason: 'shutdown' });
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('keys pressed before the start is known to be accepted are not lost', async () => {
    await plain();
    const { llm } = service.providers;
    const before = llm.requests.length;
    const keys = Array.from('123#', (digit) => textFrame({ type: 'dtmf', digit }));
    const caller = new RawCaller(service.port, Buffer.concat([startFrame(), ...keys]));
    await llm.until(() => llm.requests.length > before);
    expect(JSON.stringify(llm.requests[before]?.body)).toContain('keys: 123]');
    caller.socket.destroy();
  });
});
