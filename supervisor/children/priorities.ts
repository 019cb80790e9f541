/**
 * Who goes first when cores are short (decision 0031): the supervisor before its children, because every caller who comes waits
 * for it and it needs little; a process that starts beside running calls behind all others, because nobody waits for it.
 *
 * Invariant: who was put behind comes back, after a while by itself: where cores are short for long it would never be done.
 * So nothing is changed where this process may not raise a priority.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Clock } from '../../shared/runtime/clock.ts';

/** In nice values: one is about a quarter more, or less, of a contended core. */
const ahead = 5;
const behind = 10;
/** A process that is behind for longer comes back, whatever it does. */
const behindForMs = 10_000;
/** The kernel's bounds. */
const firstNice = -20;
const lastNice = 19;

/** The kernel's view. A thread is named by its number; 0 is the calling thread, which is the main one. */
export interface Scheduler {
  niceOf(thread: number): number;
  /** Throws when that is not allowed or the thread is gone. */
  setNice(thread: number, nice: number): void;
  /** Throws when the process is gone. */
  threadsOf(pid: number): readonly number[];
  childrenOf(pid: number): readonly number[];
}

export const systemScheduler: Scheduler = {
  niceOf: getPriority,
  setNice: setPriority,
  threadsOf: (pid) => readdirSync(`/proc/${pid}/task`).map(Number),
  childrenOf: (pid) => {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    return pids.filter((child) => child > 0);
  },
};

const earlier = (nice: number): number => Math.max(firstNice, nice - ahead);
const later = (nice: number): number => Math.min(lastNice, nice + behind);

/** A process as `node:child_process` shows it. */
export interface Started {
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
}

export class Priorities {
  readonly #clock: Clock;
  readonly #scheduler: Scheduler | undefined;
  /** The nice value with which the service was started; undefined until this process leads. */
  #base: number | undefined;

  /** Without a scheduler all stays as it is. */
  constructor(clock: Clock, scheduler: Scheduler | undefined) {
    this.#clock = clock;
    this.#scheduler = scheduler;
  }

  /** From here on this process goes before its children. False, and all stays equal, where that is not allowed. */
  lead(): boolean {
    const scheduler = this.#scheduler;
    if (scheduler === undefined || this.#base !== undefined) return this.#base !== undefined;
    const nice = scheduler.niceOf(0);
    if (!attempt(() => scheduler.setNice(0, earlier(nice)))) return false;
    this.#base = nice;
    return true;
  }

  /** Starts a process as an equal, or behind all others until it is settled. */
  start<T extends Started>(spawn: () => T, { isBehind }: { readonly isBehind: boolean }): T {
    if (!isBehind) return this.#spawn(spawn, (nice) => nice);
    const started = this.#spawn(spawn, later);
    this.#clock.after(behindForMs, () => this.settle(started));
    return started;
  }

  /** Makes a process that was started an equal, with all its threads and what it started itself. */
  settle(started: Started): void {
    const pid = pidOf(started);
    if (pid !== undefined) this.#settle(pid);
  }

  #spawn<T>(spawn: () => T, niceFrom: (nice: number) => number): T {
    const nice = this.#base;
    if (this.#scheduler === undefined || nice === undefined) return spawn();
    this.#scheduler.setNice(0, niceFrom(nice));
    try {
      return spawn();
    } finally {
      this.#scheduler.setNice(0, earlier(nice));
    }
  }

  #settle(pid: number): void {
    const scheduler = this.#scheduler;
    const nice = this.#base;
    if (scheduler === undefined || nice === undefined) return;
    attempt(() => {
      for (const thread of scheduler.threadsOf(pid)) attempt(() => scheduler.setNice(thread, nice));
      for (const child of scheduler.childrenOf(pid)) this.#settle(child);
    });
  }
}

/** Undefined once it ended: its number may be another's by then. */
const pidOf = ({ pid, exitCode, signalCode }: Started): number | undefined =>
  exitCode === null && signalCode === null ? pid : undefined;

/** False when the kernel refuses: it is not allowed, or the process has ended meanwhile. */
function attempt(change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
