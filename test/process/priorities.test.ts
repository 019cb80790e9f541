/** Which priority every thread of the service really has, before and after a restart (decision 0031). */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { TestService } from '../support/process/service.ts';
import { restarted, servingPid, stopAll } from '../support/process/succession.ts';

/** Whether this user may raise a priority: bit 23 of the capabilities. */
const mayRaise = (): boolean => {
  const [, capabilities = '0'] =
    /^CapEff:\s*([\da-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${capabilities}`) >> 23n) & 1n) === 1n;
};

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/** Nice values of all threads, against that of this process. */
const nicesOf = (pid: number): number[] =>
  [
    ...new Set(
      readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)) - getPriority(0)),
    ),
  ].sort((a, b) => a - b);

/** The process group and the session: the third and fourth word after the name. */
const groupsOf = (pid: number): { group: number; session: number } => {
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return { group: Number(words[2]), session: Number(words[3]) };
};

let service: TestService;
afterEach(() => stopAll(service));

describe.runIf(mayRaise())('priorities', () => {
  it('the supervisor goes before its children, and after a restart nobody is behind', async () => {
    service = await TestService.start({ env: { SVC_SPARE_WORKER: 'on', SVC_DRAIN_TIMEOUT: '60s' } });
    const [, fresh] = await restarted(service);
    // The spare is behind until it is ready.
    const nices = (): number[][] => [fresh, ...childrenOf(fresh)].map(nicesOf);
    await expect.poll(nices, { timeout: 20_000, interval: 50 }).toEqual([[-5, 0], [0], [0], [0]]);
  });

  it('hold after a restart as well: the new supervisor stays in the session, with a process group of its own', async () => {
    service = await TestService.start({ env: { SVC_DRAIN_TIMEOUT: '60s' } });
    const session = groupsOf(servingPid(service)).session;
    const [, fresh] = await restarted(service);
    expect(groupsOf(fresh)).toEqual({ group: fresh, session });
  });

  it('SVC_RAISE_PRIORITY=off leaves all of them equal', async () => {
    service = await TestService.start({ env: { SVC_RAISE_PRIORITY: 'off' } });
    const pid = servingPid(service);
    expect([pid, ...childrenOf(pid)].map(nicesOf)).toEqual(Array(1 + childrenOf(pid).length).fill([0]));
  });
});
