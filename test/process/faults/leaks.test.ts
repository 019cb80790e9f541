/**
 * Many short calls one after another leave nothing behind: resident memory, descriptors, threads, timers and call slots are
 * what they were after the warm-up, in every process.
 *
 * Resident memory is read after garbage was collected by a signal, again and again until it fits, because what belonged to a
 * call is let go of some seconds later. Where the warm-up was not all that memory grows by, another round is compared with the
 * one before it: what each call loses is missing after every round, until the limit of the test.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { descriptorsOf, TestService } from '../../support/process/service.ts';

/** Heaps and code grow with the first hundreds of calls. */
const warmUpCalls = 450;
const calls = 300;
/** Each collects garbage; what is let go of late is gone by then. */
const mostLooks = 20;
/** Fewer than calls that would leak: one slot that is not given back in each worker is noticed. */
const slots = 4;
/** A signal collects garbage, then memory and timers are told. */
const nodeOptions = [
  '../../support/process/collect-garbage.mjs',
  '../../../scripts/measure/bench/resources.mjs',
]
  .map((file) => `--import ${new URL(file, import.meta.url).href}`)
  .join(' ');

interface Resources {
  readonly residentKiB: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly timers: number;
}

let service: TestService;
const looks = new Map<number, number>();

afterEach(async () => {
  await service.stop();
});

const processes = (): number[] => [
  service.pid,
  ...service.children('worker'),
  ...service.children('inference'),
];

async function look(pid: number): Promise<Resources> {
  const number = (looks.get(pid) ?? 0) + 1;
  looks.set(pid, number);
  process.kill(pid, 'SIGWINCH');
  const line = await service.says('resources', (said) => said['pid'] === pid && said['look'] === number);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    residentKiB: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]),
    descriptors: descriptorsOf(pid),
    threads: readdirSync(`/proc/${pid}/task`).length,
    timers: Number(line['timers']),
  };
}

/** As much as a process may have behind a round of calls: `residentKiB` is what it had before that round, the rest before the first one. */
const limitOver = (first: Resources, residentKiB: number): Resources => ({
  residentKiB: residentKiB + 0.05 * first.residentKiB,
  descriptors: first.descriptors + 1,
  threads: first.threads,
  timers: first.timers + 1,
});

const isWithin = (now: Resources, limit: Resources): boolean =>
  now.residentKiB <= limit.residentKiB &&
  now.descriptors <= limit.descriptors &&
  now.threads <= limit.threads &&
  now.timers <= limit.timers;

/** Looks until all is within the limit, but only so often; without one as often as that. */
async function lookAgain(pid: number, limit?: Resources): Promise<Resources> {
  let now = await look(pid);
  const isOver = (): boolean => limit === undefined || !isWithin(now, limit);
  for (let looked = 1; looked < mostLooks && isOver(); looked += 1) now = await look(pid);
  return now;
}

/** Every third call hears a word; the others hang up at once or are cut off. */
async function shortCalls(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const call = await service.call({ microphone: index % 3 === 0 });
    if (index % 3 === 0) await call.next((event) => event.type === 'audio');
    if (index % 3 === 2) {
      call.abandon();
      await call.closed;
      await service.readyWhen((body) => body['connections'] === 0);
    } else expect((await call.hangUp()).code).toBe(1000);
  }
  await service.readyWhen((body) => body['connections'] === 0);
}

describe('calls one after another', () => {
  it(`leave no memory, descriptor, thread, timer or slot behind, ${calls} times`, async () => {
    service = await TestService.start({
      workers: 2,
      greeting: 'Good evening.',
      env: { NODE_OPTIONS: nodeOptions, SVC_MAX_SESSIONS: String(slots) },
    });
    await shortCalls(warmUpCalls);
    const pids = processes();
    expect(pids).toHaveLength(4);
    const first = await Promise.all(pids.map((pid) => lookAgain(pid)));
    let before = first;
    for (let isBack = false; !isBack;) {
      await shortCalls(calls);
      const limits = first.map((one, at) => limitOver(one, before[at]!.residentKiB));
      before = await Promise.all(pids.map((pid, at) => lookAgain(pid, limits[at])));
      isBack = before.every((now, at) => isWithin(now, limits[at]!));
    }
    // All slots are there: as many calls as fit, at the same time.
    const full = await Promise.all(Array.from({ length: slots }, () => service.call({ microphone: false })));
    const ends = await Promise.all(full.map((call) => call.hangUp()));
    expect(ends.every(({ code }) => code === 1000)).toBe(true);
    expect(processes()).toEqual(pids);
    expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
