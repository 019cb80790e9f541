/**
 * `SVC_MAX_SESSIONS` (docs/reference/server-settings.md): a connection is a session from its `start` on; before, it counts at the transport alone.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { RawCaller, startFrame } from '../../process/raw-caller.ts';
import { knock, refusalOf, type KnockAnswer } from '../../support/process/knock.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';

let service: TestService;
const open: KnockAnswer[] = [];

async function start(env: Record<string, string>, options: TestServiceOptions = {}): Promise<void> {
  service = await TestService.start({ ...options, env });
}

async function connectOnly(): Promise<KnockAnswer> {
  const answer = await knock(service.port);
  open.push(answer);
  return answer;
}

/** A caller that has sent its `start`, and what it was told. */
async function begun(): Promise<{ caller: RawCaller; told: unknown }> {
  const caller = new RawCaller(service.port, startFrame());
  await caller.until(() => caller.gone || caller.of('started').length + caller.of('error').length > 0);
  return { caller, told: caller.of('error')[0]?.['code'] ?? caller.of('started')[0]?.['type'] };
}

afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await stopAll(service);
});

describe('total calls: SVC_MAX_SESSIONS; twice that at the transport', () => {
  it('connections without a start are no sessions, and may be twice as many', async () => {
    await start({ SVC_MAX_SESSIONS: '2' });
    for (let i = 0; i < 4; i += 1) expect((await connectOnly()).status).toBe(101);
    expect(refusalOf(await connectOnly())).toEqual([503, 'calls_full', '1']);
    expect(await service.readiness()).toMatchObject({ sessions: 0, connections: 4, calls_full: 1 });
  });

  it('a start beyond the sessions is told server_busy; one after a call has ended is not', async () => {
    await start({ SVC_MAX_SESSIONS: '1' });
    const waiting = await Promise.all([connectOnly(), connectOnly()]);
    const answers = waiting.map(({ socket }) => {
      socket.write(startFrame());
      return new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (bytes) => {
          text += bytes.toString('latin1');
          const told = /"type":"started"|server_busy/.exec(text)?.[0];
          if (told !== undefined) resolve(told);
        });
      });
    });
    expect((await Promise.all(answers)).toSorted()).toEqual(['"type":"started"', 'server_busy']);
    expect(refusalOf(await connectOnly())).toEqual([503, 'sessions_full', '1']);
    for (const { socket } of waiting) socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0 && body['sessions'] === 0);
    expect((await begun()).told).toBe('started');
  });

  it('are counted over all workers', async () => {
    await start({ SVC_MAX_SESSIONS: '3' }, { workers: 2 });
    for (let i = 0; i < 3; i += 1) expect((await begun()).told).toBe('started');
    expect(refusalOf(await connectOnly())).toEqual([503, 'sessions_full', '1']);
    expect(await service.readiness()).toMatchObject({ sessions: 3 });
  });

  it('stay right when a worker dies and its calls go on', async () => {
    await start({ SVC_MAX_SESSIONS: '3' }, { workers: 2 });
    const calls = await Promise.all([service.call(), service.call(), service.call()]);
    process.kill(await service.workerOf(calls[0]), 'SIGKILL');
    // A call that was being written to at that very moment cannot go on.
    const { takenUp, cut } = await service.says('the calls of a worker that is gone');
    const left = 3 - Number(cut);
    expect(Number(takenUp)).toBeGreaterThan(0);
    await service.readyWhen((body) => body['sessions'] === left);
    while (Number((await service.readiness())['sessions']) < 3) expect((await begun()).told).toBe('started');
    expect(refusalOf(await connectOnly())).toEqual([503, 'sessions_full', '1']);
    await stopAll(service);
  });

  it('are free again when calls end that another worker had', async () => {
    await start({ SVC_MAX_SESSIONS: '3' }, { workers: 2, greeting: '' });
    const calls = await Promise.all([service.call(), service.call(), service.call()]);
    process.kill(await service.workerOf(calls[0]), 'SIGKILL');
    await service.says('the calls of a worker that is gone');
    await service.readyWhen((body) => body['connections'] === body['sessions']);
    await Promise.allSettled(calls.map((call) => call.hangUp()));
    await service.readyWhen((body) => body['sessions'] === 0);
    for (let i = 0; i < 3; i += 1) expect((await begun()).told).toBe('started');
  });

  it('are limited over both supervisors of a restart', async () => {
    await start({ SVC_MAX_SESSIONS: '2', SVC_DRAIN_TIMEOUT: '60s' });
    const held = await service.call();
    await restarted(service);
    expect((await begun()).told).toBe('started');
    expect(refusalOf(await connectOnly())).toEqual([503, 'sessions_full', '1']);
    await held.hangUp();
    await service.readyWhen((body) => body['sessions'] === 1);
    expect((await begun()).told).toBe('started');
  });
});
