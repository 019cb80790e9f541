/** Who goes first when cores are short, and that nobody who was put behind stays there. */
import { describe, expect, it } from 'vitest';
import { Priorities, type Scheduler, type Started } from '../../../supervisor/children/priorities.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const notAllowed = Object.assign(new Error('permission denied'), { code: 'ERR_SYSTEM_ERROR' });

type Running = { -readonly [Key in keyof Started]: Started[Key] } & { pid: number };

interface KernelOptions {
  readonly nice?: number;
  readonly lowestNice?: number;
}

/** A kernel with one supervisor, thread 0, whose children inherit its nice value. */
class Kernel implements Scheduler {
  readonly nice = new Map<number, number>();
  readonly lowestNice: number;
  readonly #threads = new Map<number, number[]>();
  readonly children = new Map<number, number[]>();

  constructor(options: KernelOptions = {}) {
    this.nice.set(0, options.nice ?? 0);
    this.lowestNice = options.lowestNice ?? -20;
  }

  readonly niceOf = (thread: number): number => this.nice.get(thread) ?? Number.NaN;

  readonly setNice = (thread: number, nice: number): void => {
    if (!this.nice.has(thread))
      throw Object.assign(new Error('no such thread'), { code: 'ERR_SYSTEM_ERROR' });
    if (nice < this.niceOf(thread) && nice < this.lowestNice) throw notAllowed;
    this.nice.set(thread, nice);
  };

  readonly threadsOf = (pid: number): readonly number[] => {
    const threads = this.#threads.get(pid);
    if (threads === undefined) throw Object.assign(new Error('no such process'), { code: 'ENOENT' });
    return threads;
  };

  readonly childrenOf = (pid: number): readonly number[] => this.children.get(pid) ?? [];

  /** A process of three threads. */
  spawn(pid: number): Running {
    const threads = [pid, pid + 1, pid + 2];
    for (const thread of threads) this.nice.set(thread, this.niceOf(0));
    this.#threads.set(pid, threads);
    return { pid, exitCode: null, signalCode: null };
  }

  spawnChild(parent: number, { pid, nice }: { pid: number; nice: number }): void {
    this.spawn(pid);
    for (const thread of this.threadsOf(pid)) this.nice.set(thread, nice);
    this.children.set(parent, [pid]);
  }

  of(pid: number): number[] {
    return this.threadsOf(pid).map(this.niceOf);
  }
}

const ended = (pid: number): Running => ({ pid, exitCode: 0, signalCode: null });

describe('priorities', () => {
  it('put a process that leads before those that it starts', () => {
    const kernel = new Kernel();
    const priorities = new Priorities(newVirtualClock(), kernel);
    expect(priorities.lead()).toBe(true);
    priorities.start(() => kernel.spawn(10), { isBehind: false });
    expect(kernel.niceOf(0)).toBe(-5);
    expect(kernel.of(10)).toEqual([0, 0, 0]);
  });

  it('put a start that nobody waits for behind, until it is settled', () => {
    const kernel = new Kernel({ nice: 2 });
    const priorities = new Priorities(newVirtualClock(), kernel);
    priorities.lead();
    const child = priorities.start(() => kernel.spawn(10), { isBehind: true });
    expect(kernel.of(10)).toEqual([12, 12, 12]);
    expect(kernel.niceOf(0)).toBe(-3);
    priorities.settle(child);
    expect(kernel.of(10)).toEqual([2, 2, 2]);
  });

  it('bring back by themselves who is behind for ten seconds, with what it started', () => {
    const clock = newVirtualClock();
    const kernel = new Kernel();
    const priorities = new Priorities(clock, kernel);
    priorities.lead();
    priorities.start(() => kernel.spawn(10), { isBehind: true });
    priorities.start(() => kernel.spawn(20), { isBehind: true });
    kernel.spawnChild(20, { pid: 30, nice: 10 });
    clock.advance(9_999);
    expect([...kernel.of(10), ...kernel.of(20), ...kernel.of(30)]).toEqual(Array(9).fill(10));
    clock.advance(1);
    expect([...kernel.of(10), ...kernel.of(20), ...kernel.of(30)]).toEqual(Array(9).fill(0));
  });

  it('touch no process that has ended: another may have its number', () => {
    const clock = newVirtualClock();
    const kernel = new Kernel();
    const priorities = new Priorities(clock, kernel);
    priorities.lead();
    const child = priorities.start(() => kernel.spawn(10), { isBehind: true });
    child.signalCode = 'SIGKILL';
    priorities.settle(child);
    priorities.settle(ended(10));
    clock.advance(20_000);
    expect(kernel.of(10)).toEqual([10, 10, 10]);
  });

  it('change nothing where a priority cannot be raised', () => {
    const kernel = new Kernel({ lowestNice: 0 });
    const priorities = new Priorities(newVirtualClock(), kernel);
    expect(priorities.lead()).toBe(false);
    priorities.settle(priorities.start(() => kernel.spawn(10), { isBehind: true }));
    expect(kernel.niceOf(0)).toBe(0);
    expect(kernel.of(10)).toEqual([0, 0, 0]);
  });

  it('change nothing before a process leads: what it starts is as far behind as it is', () => {
    const kernel = new Kernel({ nice: 10 });
    const priorities = new Priorities(newVirtualClock(), kernel);
    const child = priorities.start(() => kernel.spawn(10), { isBehind: true });
    expect(kernel.of(10)).toEqual([10, 10, 10]);
    kernel.setNice(0, 0);
    priorities.lead();
    priorities.settle(child);
    expect(kernel.of(10)).toEqual([0, 0, 0]);
  });

  it('change nothing when they are switched off', () => {
    const priorities = new Priorities(newVirtualClock(), undefined);
    expect(priorities.lead()).toBe(false);
    const child: Started = { pid: 10, exitCode: null, signalCode: null };
    expect(priorities.start(() => child, { isBehind: true })).toBe(child);
    priorities.settle(child);
  });

  it('lead once: a second time does not go further', () => {
    const kernel = new Kernel();
    const priorities = new Priorities(newVirtualClock(), kernel);
    expect([priorities.lead(), priorities.lead()]).toEqual([true, true]);
    expect(kernel.niceOf(0)).toBe(-5);
  });

  it('stay within the bounds of the kernel', () => {
    const first = new Kernel({ nice: -18 });
    new Priorities(newVirtualClock(), first).lead();
    expect(first.niceOf(0)).toBe(-20);
    const last = new Kernel({ nice: 15 });
    const priorities = new Priorities(newVirtualClock(), last);
    priorities.lead();
    priorities.start(() => last.spawn(10), { isBehind: true });
    expect(last.of(10)).toEqual([19, 19, 19]);
  });

  it('come back when a process cannot be started', () => {
    const kernel = new Kernel();
    const priorities = new Priorities(newVirtualClock(), kernel);
    priorities.lead();
    const fails = (): never => {
      throw new Error('no more processes');
    };
    expect(() => priorities.start(fails, { isBehind: true })).toThrow('no more processes');
    expect(kernel.niceOf(0)).toBe(-5);
    priorities.settle({ exitCode: null, signalCode: null });
  });
});
