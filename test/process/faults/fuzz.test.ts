/**
 * Strangers at both listening ports while a call goes on: random bytes, broken HTTP, broken WebSocket frames after a good
 * upgrade, and thousands of connections that say nothing. The call keeps its voice, and afterwards every process has the
 * descriptors and the memory that it had before. All that is sent follows from the seed.
 *
 * Memory: the first round of everything is the warm-up, because pools and code grow with the first load. Resident memory is read
 * after garbage was collected, by a signal, in every process; after the last round it is collected and read again and again
 * until it fits, because what belonged to a call is let go of some seconds later. The limit of the test is the bound: memory that is
 * lost never comes back.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { annoy, nuisance, sayNothing, type NuisanceKind } from '../../support/process/broken-clients.ts';
import { answer } from '../../support/fakes/fake-chat.ts';
import { knock } from '../../support/process/knock.ts';
import { beforeAskingAgain, descriptorsOf, TestService } from '../../support/process/service.ts';
import { tries } from '../../support/sampled.ts';

const seed = 20_260_301;
/** Broken clients of each kind, port and round. */
const perKind = tries(400, 100);
const atOnce = 50;
const silentClients = tries(10_000, 2_500);
const silentAtOnce = 250;
/** Lets a signal collect the garbage of every process of the service. */
const nodeOptions = `--import ${new URL('../../support/process/collect-garbage.mjs', import.meta.url).href}`;

let service: TestService;

afterEach(async () => {
  await service.stop();
});

const healthPort = (): number => Number(service.address('health').split(':').at(-1));
const processes = (): number[] => [
  service.pid,
  ...service.children('worker'),
  ...service.children('inference'),
];

/** Resident memory of a process in KiB. */
function residentKiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Resident memory of each process in KiB, right after its garbage was collected. */
async function collected(call: CallClient, pids: readonly number[]): Promise<number[]> {
  for (let times = 0; times < 2; times += 1) {
    for (const pid of pids) process.kill(pid, 'SIGWINCH');
    await keepsTalking(call);
  }
  return pids.map(residentKiB);
}

/** A call in which the agent talks for longer than any test here lasts. */
async function longCall(): Promise<CallClient> {
  service.providers.llm.script.push(answer('One more word. '.repeat(400)));
  const call = await service.call();
  call.sendDtmf('#');
  await keepsTalking(call);
  return call;
}

async function keepsTalking(call: CallClient): Promise<void> {
  for (let frame = 0; frame < 25; frame += 1)
    expect(await call.next((event) => event.type === 'audio')).toMatchObject({ durationMs: 20 });
}

/** Resolves when nothing but the call is left in the service, and each process has no more descriptors than that. */
async function settled(pids: readonly number[], descriptors: readonly number[]): Promise<void> {
  await service.readyWhen((body) => body['connections'] === 1);
  for (const [index, pid] of pids.entries())
    while (descriptorsOf(pid) > descriptors[index]!) await beforeAskingAgain();
}

async function brokenClients(round: number): Promise<void> {
  const prng = newPrng(seed + round);
  const plan: readonly (readonly [number, NuisanceKind])[] = [
    [service.port, 'random bytes'],
    [service.port, 'broken HTTP'],
    [service.port, 'broken frames'],
    [healthPort(), 'random bytes'],
    [healthPort(), 'broken HTTP'],
    [healthPort(), 'broken frames'],
  ];
  for (const [port, kind] of plan) {
    for (let done = 0; done < perKind; done += atOnce)
      await Promise.all(Array.from({ length: atOnce }, () => annoy(port, nuisance(prng, kind))));
  }
}

/** Waves, so that neither side runs out of descriptors. Resolves when the server has closed every one. */
async function silence(port: number, clients: number): Promise<void> {
  const gone: Promise<void>[] = [];
  for (let done = 0; done < clients; done += silentAtOnce) {
    const wave = Array.from({ length: silentAtOnce }, () => sayNothing(port));
    await Promise.all(wave.map(({ made }) => made));
    gone.push(...wave.map((client) => client.gone));
  }
  await Promise.all(gone);
}

describe('a call goes on while strangers', () => {
  it('send broken bytes and say nothing; descriptors and memory are back afterwards', async () => {
    service = await TestService.start({
      env: { SVC_MAX_SESSIONS: '200', SVC_WS_START_TIMEOUT: '1s', NODE_OPTIONS: nodeOptions },
    });
    const call = await longCall();
    const pids = processes();
    const descriptors = pids.map(descriptorsOf);
    await brokenClients(0);
    await silence(service.port, silentClients / 2);
    await settled(pids, descriptors);
    const memory = await collected(call, pids);
    for (let round = 1; round <= 2; round += 1) {
      await brokenClients(round);
      await keepsTalking(call);
      await settled(pids, descriptors);
    }
    await silence(service.port, silentClients);
    await keepsTalking(call);
    await silence(healthPort(), silentClients / 5);
    await settled(pids, descriptors);
    while ((await collected(call, pids)).some((size, index) => size > memory[index]! * 1.05));
    await keepsTalking(call);
    expect(processes()).toEqual(pids);
    // The strangers really came as far as they were meant to.
    expect(await service.metric('svc_handovers_total{outcome="taken"}')).toBeGreaterThan(perKind);
    expect(await service.metric('svc_protocol_errors_total{code="invalid_message"}')).toBeGreaterThan(0);
    expect(await service.metric('svc_refusals_total{reason="bad_upgrade"}')).toBeGreaterThan(0);
    expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });
});

/** Part of util-linux. */
const prlimit = 'prlimit';
const hasPrlimit = spawnSync(prlimit, ['--version']).status === 0;

describe.skipIf(!hasPrlimit)('without descriptors (skipped without prlimit)', () => {
  it('the call goes on, and new calls are possible once there are descriptors again', async () => {
    service = await TestService.start();
    const call = await longCall();
    const before = descriptorsOf(service.pid);
    execFileSync(prlimit, ['--pid', String(service.pid), `--nofile=${before + 20}`]);
    const strangers = Array.from({ length: 200 }, () => connect({ port: service.port, host: '127.0.0.1' }));
    await Promise.all(
      strangers.map(
        (socket) =>
          new Promise<void>((resolve) => {
            socket.on('error', () => undefined).once('connect', () => resolve());
            socket.once('close', () => resolve());
          }),
      ),
    );
    await keepsTalking(call);
    for (const socket of strangers) socket.destroy();
    await keepsTalking(call);
    let status = 0;
    while (status !== 101) {
      const knocked = await knock(service.port);
      status = knocked.status;
      knocked.socket.destroy();
    }
    await service.readyWhen((body) => body['connections'] === 1);
    expect(service.isOver).toBe(false);
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
  });
});
