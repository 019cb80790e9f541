/** SIGUSR2: a new supervisor takes the ports while the old one drains. No caller notices, and every limit holds across both. */
import { connect, type Socket } from 'node:net';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { craft, secret } from '../../spec/tokens/craft.ts';
import { Datagrams } from '../../support/datagrams.ts';
import { knock, refusalOf, requestText, type KnockAnswer } from '../../support/process/knock.ts';
import {
  beforeAskingAgain,
  descriptorsOf,
  TestService,
  type TestServiceOptions,
} from '../../support/process/service.ts';
import { isAlive, restarted, servingPid, stopAll, stopped } from '../../support/process/succession.ts';
import { RawCaller, startFrame, textFrame } from '../raw-caller.ts';

const longGreeting = 'This goes on and on. '.repeat(45);
/** Callers of these tests may say nothing for a while, and machines may be slow. */
const longDrain = {
  SVC_DRAIN_TIMEOUT: '60s',
  SVC_WS_START_TIMEOUT: '120s',
  SVC_WS_PING_TIMEOUT: '120s',
  SVC_MAX_SESSIONS: '5000',
  SVC_WS_ACCEPT_QUEUE: '5000',
};

/** Fewer than a call may send before it is ended. */
const unknowns = 12;

let service: TestService;
const open: KnockAnswer[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await stopAll(service);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const start = async (options: TestServiceOptions = {}): Promise<TestService> =>
  TestService.start({ ...options, env: { ...longDrain, ...options.env } });

const pause = (ms: number): Promise<void> => new Promise((resolve) => void systemClock.after(ms, resolve));

async function call(headers: Readonly<Record<string, string>> = {}): Promise<KnockAnswer> {
  const answer = await knock(service.port, { headers });
  open.push(answer);
  return answer;
}

/** What became of a call that was asked for: `call`, or the code of the refusal. */
const outcome = (answer: KnockAnswer): unknown => {
  if (answer.status === 101) return 'call';
  return answer.status === 0 ? 'cut' : refusalOf(answer)[1];
};

/** A machine that has too much to do for its calls refuses new ones, restart or not; these tests may run on one. */
const busy = 'workers_late';

async function probe(): Promise<{ status: number; body: string }> {
  const answer = await service.get('/readyz');
  return { status: answer.status, body: await answer.text() };
}

const firstData = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));

async function connected(count: number, port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }));
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.once('connect', resolve))));
  return sockets;
}

/** Asks again and again, without waiting for answers, until `isOver`; resolves with all answers. */
async function stream<T>(everyMs: number, ask: () => Promise<T>, isOver: () => boolean): Promise<T[]> {
  const asked: Promise<T>[] = [];
  while (!isOver()) {
    asked.push(ask());
    await pause(everyMs);
  }
  return Promise.all(asked);
}

let lastSid = 0;
const newToken = (): string =>
  craft({ exp: Math.floor(systemWallClock.now() / 1000) + 300, sid: `sid-${(lastSid += 1)}` });
const bearing = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

describe('a restart', () => {
  it('refuses and loses no connection, and running calls end with the old supervisor', async () => {
    service = await start({ workers: 2, greeting: longGreeting });
    const running = await Promise.all([service.call(), service.call(), service.call()]);
    let isOver = false;
    let accepted = 0;
    const calls = stream(
      4,
      async () => {
        const one = outcome(await call());
        if (one === 'call') accepted += 1;
        return one;
      },
      () => isOver && accepted >= 20,
    );
    const probes = stream(
      15,
      async () => {
        const { status, body } = await probe();
        return status === 200 || body.includes(busy) ? 'fine' : body;
      },
      () => isOver,
    );
    // A signal to the whole group means the supervisor alone.
    for (const child of service.children('worker')) process.kill(child, 'SIGUSR2');
    const [old, fresh] = await restarted(service);
    await pause(200);
    isOver = true;
    const outcomes = await calls;
    expect(outcomes.filter((one) => one !== 'call' && one !== busy)).toEqual([]);
    expect((await probes).filter((one) => one !== 'fine')).toEqual([]);
    expect([isAlive(old), isAlive(fresh), old === fresh]).toEqual([true, true, false]);
    expect(service.said('child process died')).toBeUndefined();

    for (const one of running) expect(await one.next((event) => event.type === 'audio')).toBeDefined();
    expect(await Promise.all(running.map((one) => one.hangUp()))).toEqual(
      running.map(() => ({ code: 1000, reason: 'ended' })),
    );
    const ended = service.log.filter((line) => line.msg === 'call ended');
    expect(ended.filter((line) => running.some(({ callId }) => callId === line['call']))).toHaveLength(3);
    for (const { socket } of open.splice(0)) socket.destroy();
    await stopped(service, old);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });

  it('is not what SIGUSR1 asks for, nor a debugger', async () => {
    service = await start();
    for (const pid of [service.pid, ...service.children('worker'), ...service.children('inference')])
      process.kill(pid, 'SIGUSR1');
    expect((await (await service.call()).hangUp()).code).toBe(1000);
    expect(service.text.join('\n')).not.toContain('ebugg');
  });

  it('serves connections that the old supervisor had accepted and that say later what they want', async () => {
    service = await start();
    const old = servingPid(service);
    // The new supervisor is halted shortly before it is ready, so that it cannot be the one that accepts.
    process.kill(old, 'SIGUSR2');
    const starts = await service.says('restart: a new supervisor starts');
    await service.says('inference ready', (line) => service.log.indexOf(line) > service.log.indexOf(starts));
    const fresh = Number(starts['successorPid']);
    process.kill(fresh, 'SIGSTOP');
    const early = await connected(21, service.port);
    const [health] = await connected(1, Number(service.address('health').split(':').at(-1)));
    health!.write('GET /readyz HTTP/1.1\r\n');
    // Answers to what came later: what came before is accepted.
    expect([outcome(await call()), (await probe()).status]).toEqual(['call', 200]);
    const request = requestText('/', {});
    const [halves, silent, mute] = [early.slice(0, 10), early.slice(10, 20), early.slice(20)];
    for (const socket of halves) socket.write(request.slice(0, 40));
    for (const { socket } of open.splice(0)) socket.destroy();
    process.kill(fresh, 'SIGCONT');
    await service.says('draining', (line) => line['pid'] === old);

    health!.write('Host: x\r\n\r\n');
    expect(await firstData(health!)).toMatch(/^HTTP\/1.1 200 [^]*\r\nConnection: close\r\n[^]*"ready":1/);
    for (const socket of halves) socket.write(request.slice(40));
    for (const answer of await Promise.all(halves.map(firstData))) expect(answer).toMatch(/^HTTP\/1.1 101 /);
    const callers = silent.map((socket) => new RawCaller(socket, startFrame()));
    // Every one of these is answered: none is lost while the connection travels through two more processes.
    for (let round = 0; round < unknowns; round += 1) {
      for (const caller of callers) caller.send(textFrame({ type: 'unknown' }));
      await pause(1);
    }
    await Promise.all(callers.map((caller) => caller.received('started')));
    await Promise.all(callers.map((caller) => caller.received('error', unknowns)));
    // A client that never says anything is told so by the old supervisor, which ends after that.
    for (const socket of mute) expect(await firstData(socket)).toMatch(/^HTTP\/1.1 408 /);
    await stopped(service, old);
    expect(callers.every((caller) => caller.status === 101 && !caller.gone)).toBe(true);
    for (const socket of early) socket.destroy();
    await service.readyWhen((body) => body['connections'] === 0);
  });

  it('lets no token be used twice, before, during or after', async () => {
    service = await start({ env: { SVC_SESSION_SECRET: secret } });
    const [before, between] = [newToken(), newToken()];
    expect(outcome(await call(bearing(before)))).toBe('call');
    let isOver = false;
    let used = 0;
    const pairs = stream(
      4,
      async () => {
        const token = newToken();
        const first = call(bearing(token));
        await pause(lastSid % 7);
        const outcomes = [outcome(await call(bearing(token))), outcome(await first)].toSorted().join();
        if (outcomes === 'call,token_reused') used += 1;
        return outcomes;
      },
      () => isOver && used >= 20,
    );
    await restarted(service);
    await pause(100);
    isOver = true;
    const outcomes = await pairs;
    expect(outcomes.filter((one) => one !== 'call,token_reused' && !one.includes(busy))).toEqual([]);
    expect(outcome(await call(bearing(before)))).toBe('token_reused');
    expect(outcome(await call(bearing(between)))).toBe('call');
  });

  it('keeps the limits of the machine while both supervisors have calls', async () => {
    const limits = { SVC_WS_MAX_CALLS: '4', SVC_WS_MAX_CALLS_PER_IP: '3' };
    service = await start({ env: limits });
    const first = [await call(), await call()];
    const [old] = await restarted(service);
    expect(await service.readiness()).toMatchObject({ sessions: 2, connections: 2 });
    expect(outcome(await call())).toBe('call');
    expect(outcome(await call())).toBe('address_full');
    const other = await knock(service.port, { from: '127.0.0.2' });
    expect(outcome(other)).toBe('call');
    expect(outcome(await knock(service.port, { from: '127.0.0.2' }))).toBe('calls_full');
    first[0]!.socket.destroy();
    await service.readyWhen((body) => body['connections'] === 3);
    first[1]!.socket.destroy();
    await service.readyWhen((body) => body['connections'] === 2);
    expect(outcome(await call())).toBe('call');
    other.socket.destroy();
    await stopped(service, old);
    await service.readyWhen((body) => body['connections'] === 2);
  });

  it('may follow upon a restart, and leaves no process and no descriptor behind', async () => {
    service = await start();
    const held = await service.call();
    const pids: number[] = [];
    const descriptors: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [, fresh] = await restarted(service);
      pids.push(fresh);
      descriptors.push(descriptorsOf(fresh));
      expect(await service.readiness()).toMatchObject({ sessions: 1 });
    }
    expect(new Set(pids).size).toBe(3);
    expect(Math.max(...descriptors) - Math.min(...descriptors)).toBeLessThanOrEqual(2);
    await held.hangUp();
    await Promise.all(pids.slice(0, 2).map((pid) => stopped(service, pid)));
    await service.readyWhen((body) => body['connections'] === 0);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });

  it('tells the service manager that it is ready, which process is the main one, and that it stops', async () => {
    const name = `@svc-restart-${process.pid}`;
    const manager = new Datagrams(name);
    service = await start({ env: { NOTIFY_SOCKET: name, WATCHDOG_USEC: '3600000000' } });
    // The manager listens to the main process alone; this test hears them all.
    const beat = 'WATCHDOG=1';
    const news = (): string[] => manager.take().filter((line) => line !== beat);
    const first = manager.take();
    while (!first.includes(beat)) {
      await service.readiness();
      first.push(...manager.take());
    }
    expect(first.filter((line) => line !== beat)).toEqual(['READY=1']);
    const [old, fresh] = await restarted(service);
    await stopped(service, old);
    expect(news()).toEqual([`MAINPID=${fresh}`]);
    await stopAll(service);
    expect(news()).toEqual(['STOPPING=1']);
    manager.close();
  });

  it('writes the process id that serves into SVC_PID_FILE, and removes it at the end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-pid-'));
    folders.push(folder);
    const path = join(folder, 'pid');
    service = await start({ env: { SVC_PID_FILE: path } });
    expect(readFileSync(path, 'utf8')).toBe(`${service.pid}\n`);
    const [old, fresh] = await restarted(service);
    await stopped(service, old);
    expect(readFileSync(path, 'utf8')).toBe(`${fresh}\n`);
    await stopAll(service);
    expect(existsSync(path)).toBe(false);
  });
});

describe('a restart that fails', () => {
  const givenUp = 'restart: given up, this supervisor goes on as before';

  /** The agent file of a service, which the test may break. */
  const agentFile = (): string =>
    /SVC_AGENT_FILE=([^\0]*)/.exec(readFileSync(`/proc/${service.pid}/environ`, 'utf8'))?.[1] ?? '';

  async function expectServing(): Promise<void> {
    expect(servingPid(service)).toBe(service.pid);
    expect((await service.get('/readyz')).status).toBe(200);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  }

  it('because of the agent file leaves the old supervisor serving, and says why in one line', async () => {
    service = await start();
    const text = readFileSync(agentFile(), 'utf8');
    writeFileSync(agentFile(), text.replace('[llm]', '[llm'));
    process.kill(service.pid, 'SIGUSR2');
    const line = await service.says(givenUp);
    expect(line['reason']).toMatch(/^the new supervisor ended \(status 1\): .*agent\.toml:\d+/);
    await expectServing();
    writeFileSync(agentFile(), text);
    const [old, fresh] = await restarted(service);
    await stopped(service, old);
    expect(servingPid(service)).toBe(fresh);
  });

  it('because the new supervisor dies leaves the old one serving', async () => {
    service = await start();
    const running = await service.call();
    process.kill(service.pid, 'SIGUSR2');
    const { successorPid } = await service.says('restart: a new supervisor starts');
    process.kill(Number(successorPid), 'SIGKILL');
    expect((await service.says(givenUp))['reason']).toBe('the new supervisor ended (SIGKILL)');
    await expectServing();
    expect((await running.hangUp()).code).toBe(1000);
  });

  it('because the new supervisor hangs is given up in time, with all that it started', async () => {
    service = await start({ env: { SVC_RESTART_TIMEOUT: '1500ms' } });
    process.kill(service.pid, 'SIGUSR2');
    const { successorPid } = await service.says('restart: a new supervisor starts');
    process.kill(Number(successorPid), 'SIGSTOP');
    process.kill(service.pid, 'SIGUSR2');
    const ignored = await service.says('restart: SIGUSR2 is ignored');
    expect(ignored['reason']).toBe('a restart is in progress');
    expect((await service.says(givenUp))['reason']).toBe('the new supervisor did not serve in time');
    await expectServing();
    while (isAlive(Number(successorPid))) await beforeAskingAgain();
    // The end of the service's output, which `stopAll` waits for, shows that nothing else is left.
  });

  it('because the service is told to stop ends the new supervisor, too', async () => {
    service = await start({ env: { SVC_DRAIN_TIMEOUT: '0ms' } });
    process.kill(service.pid, 'SIGUSR2');
    await service.says('restart: a new supervisor starts');
    service.signal('SIGTERM');
    expect((await service.says(givenUp))['reason']).toBe('the service was told to stop');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });
});

describe('a reload', () => {
  it('ends no call, however short the drain of a stop is', async () => {
    service = await start({ greeting: longGreeting, env: { SVC_DRAIN_TIMEOUT: '0ms' } });
    const running = await service.call();
    const [old, fresh] = await restarted(service);
    // A drain of a stop would have told the call to end before this one has begun.
    const later = await service.call();
    expect(service.said('draining', (line) => line['pid'] === old)?.['drainMs']).toBeUndefined();
    expect((await running.hangUp()).code).toBe(1000);
    await stopped(service, old);
    expect((await later.hangUp()).code).toBe(1000);
    expect(servingPid(service)).toBe(fresh);
  });

  it('leaves no call of the old supervisor behind when the service is stopped after it', async () => {
    service = await start({ greeting: longGreeting, env: { SVC_DRAIN_TIMEOUT: '0ms' } });
    const running = await service.call();
    const [, fresh] = await restarted(service);
    process.kill(fresh, 'SIGTERM');
    expect(await running.closed).toEqual({ code: 1001, reason: 'shutdown' });
    await service.ended;
  });

  it.each(['restart: a new supervisor starts', 'inference ready', 'listening'])(
    'whose old supervisor is killed at "%s" leaves the new one serving',
    async (moment) => {
      service = await start();
      const old = servingPid(service);
      const seen = service.log.length;
      process.kill(old, 'SIGUSR2');
      await service.says(moment, (line) => service.log.indexOf(line) >= seen);
      process.kill(old, 'SIGKILL');
      await service.says(
        'ready',
        (line) => line['role'] === 'supervisor' && service.log.indexOf(line) >= seen,
      );
      expect(servingPid(service)).not.toBe(old);
      expect((await (await service.call()).hangUp()).code).toBe(1000);
    },
  );
});

describe('a supervisor that took over', () => {
  it('waits with its end for the calls of the old one when it is told to stop', async () => {
    service = await start();
    const running = await service.call();
    const [old, fresh] = await restarted(service);
    process.kill(fresh, 'SIGTERM');
    await service.says('draining', (line) => line['pid'] === fresh);
    await service.says(
      'child process left',
      (line) => line['pid'] === fresh && line['child'] === 'inference',
    );
    expect((await running.hangUp()).code).toBe(1000);
    await stopped(service, old);
    await stopped(service, fresh);
    await service.ended;
  });

  it('cuts no call when both are told to stop, as systemd does', async () => {
    service = await start();
    const running = await service.call();
    const [old, fresh] = await restarted(service);
    for (const pid of [old, fresh]) {
      process.kill(pid, 'SIGTERM');
      await service.says('signal received', (line) => line['pid'] === pid);
    }
    expect((await running.hangUp()).code).toBe(1000);
    await service.ended;
  });

  it('makes the old one hurry when it is told to stop twice', async () => {
    service = await start({ greeting: longGreeting });
    const running = await service.call();
    const [, fresh] = await restarted(service);
    process.kill(fresh, 'SIGTERM');
    await service.says('signal received', (line) => line['pid'] === fresh);
    process.kill(fresh, 'SIGTERM');
    expect(await running.closed).toEqual({ code: 1001, reason: 'shutdown' });
    await service.ended;
  });

  it('makes all of those before it hurry', async () => {
    service = await start();
    const ofFirst = await service.call();
    await restarted(service);
    const ofSecond = await service.call();
    const [, fresh] = await restarted(service);
    process.kill(fresh, 'SIGTERM');
    await service.says('signal received', (line) => line['pid'] === fresh);
    process.kill(fresh, 'SIGTERM');
    const shutDown = { code: 1001, reason: 'shutdown' };
    expect(await Promise.all([ofFirst.closed, ofSecond.closed])).toEqual([shutDown, shutDown]);
    await service.ended;
  });

  it('goes on when the old one is killed; what its calls held is free again', async () => {
    service = await start();
    await call();
    const [old] = await restarted(service);
    expect(await service.readiness()).toMatchObject({ sessions: 1 });
    process.kill(old, 'SIGKILL');
    await service.readyWhen((body) => body['connections'] === 0);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });
});
