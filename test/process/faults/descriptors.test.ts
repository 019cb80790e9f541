/** Nothing is left open: descriptors of every process after many calls, and after hand-overs that went wrong. */
import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { beforeAskingAgain, descriptorsOf, TestService } from '../../support/process/service.ts';
import { RawCaller, startFrame } from '../raw-caller.ts';

let service: TestService;

afterEach(async () => {
  await service.stop();
});

async function callAndHangUp(count: number): Promise<void> {
  const calls = await Promise.all(Array.from({ length: count }, () => service.call({ microphone: false })));
  const ends = await Promise.all(calls.map((call) => call.hangUp()));
  expect(ends.every((end) => end.code === 1000)).toBe(true);
}

/** Resolves when a process has no more descriptors than that; a leak never gets there. */
async function fallsTo(pid: number, count: number): Promise<void> {
  while (descriptorsOf(pid) > count) await beforeAskingAgain();
}

describe('descriptors', () => {
  it('are back to the start after 200 calls, in the supervisor, the workers and inference', async () => {
    service = await TestService.start({ workers: 2 });
    await callAndHangUp(20);
    await service.readyWhen((body) => body['connections'] === 0);
    const pids = [service.pid, ...service.children('worker'), ...service.children('inference')];
    expect(pids).toHaveLength(4);
    const before = pids.map((pid) => descriptorsOf(pid));
    for (let round = 0; round < 10; round += 1) await callAndHangUp(20);
    await service.readyWhen((body) => body['connections'] === 0);
    for (const [index, pid] of pids.entries()) await fallsTo(pid, before[index]! + 1);
  });

  it('are back to the start in the supervisor when workers died with connections on their way', async () => {
    service = await TestService.start();
    await callAndHangUp(5);
    await service.readyWhen((body) => body['connections'] === 0);
    const before = descriptorsOf(service.pid);
    for (let round = 0; round < 3; round += 1) {
      const [worker] = service.children('worker');
      process.kill(worker!, 'SIGSTOP');
      const callers = Array.from({ length: 20 }, () => new RawCaller(service.port, startFrame()));
      await service.readyWhen((body) => body['connections'] === 20);
      process.kill(worker!, 'SIGKILL');
      await Promise.all(callers.map((caller) => caller.received('started')));
      expect(callers.every((caller) => !caller.gone)).toBe(true);
      for (const caller of callers) caller.socket.destroy();
      await service.readyWhen((body) => body['connections'] === 0);
    }
    await fallsTo(service.pid, before + 1);
  });

  it('that are used up keep no dead worker from being replaced, and its call goes on', async () => {
    service = await TestService.start({ env: { SVC_SPARE_WORKER: 'off' } });
    const call = await service.call({ microphone: false });
    const limit = (soft: number): void => {
      execFileSync('prlimit', ['--pid', String(service.pid), `--nofile=${soft}:`]);
    };
    limit(descriptorsOf(service.pid));
    process.kill(await service.workerOf(call), 'SIGKILL');
    await service.says('call taken up');
    limit(1_024);
    expect((await call.hangUp()).code).toBe(1000);
  });
});
