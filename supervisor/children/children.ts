/**
 * The child processes themselves: forks them with the shared memory and their bell, passes messages on, and reports their
 * ends to the process table. Bells belong to the supervisor, so a replaced child finds the one of its predecessor.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { readProcessState, type ProcessState } from '../../shared/runtime/process-state.ts';
import { createSocketPair } from '../../shared/runtime/shm.ts';
import type { CallOffer, FromInference, FromWorker, ToWorker } from '../../shared/protocol/ipc.ts';
import type { SipOffer } from '../../shared/sip/calls.ts';
import type { ChildEnd } from './child-end.ts';
import type { ChildSetup } from './child-setup.ts';
import type { Priorities } from './priorities.ts';
import {
  childGone,
  childLeaving,
  childReady,
  dueForks,
  newProcessTable,
  nextFork,
  readyWorkers,
  rowOf,
  usedUp,
  type ChildRole,
  type ChildRow,
  type ProcessTable,
} from './process-table.ts';
import { closeSync, openSync } from 'node:fs';

export interface ChildrenOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: number;
  readonly spare: boolean;
  /** Others have calls on this machine: children start one after the other, half of the workers at a time. */
  readonly startsGently: boolean;
  readonly priorities: Priorities;
  readonly setup: ChildSetup;
  readonly onReady: (role: ChildRole, index: number) => void;
  readonly onWorkerMessage: (worker: number, message: FromWorker) => void;
  /** Inference cannot be set up as it was told to. */
  readonly onSetupFailed: () => void;
  /** A process ended, after its row was updated. */
  readonly onGone: (role: ChildRole, index: number, end: ChildEnd) => void;
}

const keepsDying =
  'this child dies again and again: the service is not ready until a start lasts; look at what it logged before it died';

export class Children {
  readonly table: ProcessTable;
  readonly #options: ChildrenOptions;
  readonly #processes = new Map<ChildRow, ChildProcess>();
  /** Processes that were killed because they gave no sign of life. */
  readonly #killed = new WeakMap<ChildProcess, 'hung' | 'stopped'>();
  readonly #bells: readonly (readonly [worker: number, inference: number])[];
  readonly #reserve = new DescriptorReserve();
  #timer: Timer | undefined;

  constructor(options: ChildrenOptions) {
    this.#options = options;
    const { workers, spare, startsGently } = options;
    const atOnce = startsGently ? { startsAtOnce: Math.max(1, workers >> 1) } : {};
    this.table = newProcessTable(workers, { spare, ...atOnce });
    this.#bells = Array.from({ length: this.workerRows }, () => createSocketPair());
  }

  /** Workers, the spare among them. */
  get workerRows(): number {
    return this.table.rows.filter((row) => row.role === 'worker').length;
  }

  /** Starts what is due, now and whenever something becomes due. */
  run(): void {
    this.#timer?.cancel();
    for (const { role, index } of dueForks(this.table, this.#options.clock.now())) this.#fork(role, index);
    const next = nextFork(this.table);
    if (next === undefined) return;
    this.#timer = this.#options.clock.after(Math.max(0, next - this.#options.clock.now()), () => this.run());
  }

  get count(): number {
    return this.#processes.size;
  }

  /** Sends a message, with a socket when there is one, which is the worker's then. False when the worker is not there to take it. */
  send(worker: number, message: ToWorker, socket?: Socket): boolean {
    const child = this.#worker(worker);
    if (child?.connected !== true) return false;
    // The result of `send` speaks of the backlog: the message goes out all the same.
    if (socket === undefined) child.send(message);
    else child.send(message, socket, {}, () => undefined);
    return true;
  }

  /** Hands a connection over, or an offer that has none. This process keeps its duplicate of the socket until it drops it itself. */
  offer(worker: number, offer: CallOffer | SipOffer, socket: Socket | DatagramSocket | undefined): boolean {
    if (socket === undefined) return this.send(worker, offer);
    const child = this.#worker(worker);
    if (child?.connected !== true) return false;
    // An error on the way shows as the end of the worker, which gives the offer to another.
    child.send(offer, socket, { keepOpen: true }, () => undefined);
    return true;
  }

  broadcast(message: ToWorker): void {
    for (let worker = 0; worker < this.workerRows; worker += 1) this.send(worker, message);
  }

  /** From here on only the last worker of calls is replaced. */
  drain(): void {
    this.table.course = 'draining';
  }

  /** From here on nobody is replaced. Workers leave on their own; inference leaves when the channel closes. */
  close(): void {
    this.table.course = 'closed';
    this.#timer?.cancel();
  }

  closeInference(): void {
    const row = rowOf(this.table, 'inference', 0);
    const child = row && this.#processes.get(row);
    if (child?.connected === true) child.disconnect();
  }

  /** Ends one child that gives no sign of life; its end is noticed like any other. */
  killOne(row: ChildRow, why: 'hung' | 'stopped'): void {
    const child = this.#processes.get(row);
    if (child === undefined) return;
    this.#killed.set(child, why);
    child.kill('SIGKILL');
  }

  /** What the kernel says of a child; undefined when it is gone. */
  stateOf(row: ChildRow): ProcessState | undefined {
    const pid = this.#processes.get(row)?.pid;
    return pid === undefined ? undefined : readProcessState(pid);
  }

  kill(): void {
    for (const child of this.#processes.values()) child.kill('SIGKILL');
  }

  #worker(index: number): ChildProcess | undefined {
    const row = rowOf(this.table, 'worker', index);
    return row && this.#processes.get(row);
  }

  #fork(role: ChildRole, index: number): void {
    const { setup, log, priorities } = this.#options;
    const row = rowOf(this.table, role, index);
    if (row === undefined) return;
    const bells =
      role === 'worker' ? [this.#bells[index]?.[0] ?? -1] : this.#bells.map(([, inference]) => inference);
    const rings = role === 'worker' && setup.recordingFd !== undefined ? [setup.recordingFd] : [];
    // Nobody waits for a new spare, and its start takes a core for a third of a second.
    const isBehind = role === 'worker' && readyWorkers(this.table).length >= this.table.workers;
    const start = (): ChildProcess =>
      fork(new URL(`../${role}/main.js`, import.meta.url), {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc', setup.memoryFd, setup.recordsFd, ...bells, ...rings],
        execArgv: [],
      });
    const child = this.#reserve.around(() => priorities.start(start, { isBehind }));
    if (child.pid === undefined) {
      this.#notStarted(row, child);
      return;
    }
    this.#processes.set(row, child);
    child.on('message', (message) => this.#take(row, message as FromWorker | FromInference));
    child.on('error', (error) =>
      log.error({ child: role, index, error: error.message }, 'child process error'),
    );
    child.once('exit', (code, signal) => {
      const asked = row.state.phase === 'leaving' || this.table.course !== 'serving';
      this.#processes.delete(row);
      childGone(this.table, row, this.#options.clock.now());
      const fields = { child: role, index, childPid: child.pid, code, signal };
      if (asked) log.info(fields, 'child process left');
      else log.error(fields, 'child process died');
      if (usedUp(row)) log.fatal({ child: role, index, failures: row.failures }, keepsDying);
      this.#options.onGone(role, index, { code, signal, asked, killed: this.#killed.get(child) });
      this.run();
    });
    child.send(role === 'worker' ? setup.worker(index) : setup.inference());
  }

  /** The kernel has no descriptor, process or memory for it: it is tried again as if it had died. */
  #notStarted(row: ChildRow, child: ChildProcess): void {
    const { log, clock } = this.#options;
    child.once('error', ({ message }) =>
      log.error({ child: row.role, index: row.index, error: message }, 'child process error'),
    );
    childGone(this.table, row, clock.now());
  }

  #take(row: ChildRow, message: FromWorker | FromInference): void {
    if (message.type === 'ready') {
      childReady(this.table, row);
      const child = this.#processes.get(row);
      if (child !== undefined) this.#options.priorities.settle(child);
      this.#options.onReady(row.role, row.index);
      this.run();
      return;
    }
    if (message.type === 'setup.failed') {
      this.#options.onSetupFailed();
      return;
    }
    if (message.type === 'tainted') {
      childLeaving(this.table, row);
      this.send(row.index, { type: 'drain' });
    }
    this.#options.onWorkerMessage(row.index, message);
  }
}

/**
 * Descriptors kept back for the start of a process. Connections may use up all others, and a dead worker must be replaced all the
 * same: they are given back for the moment of a start, in which nothing else can take them.
 */

/** A start needs about six: a channel, a pipe for its outcome, and what is open for a moment. */
const kept = 12;

class DescriptorReserve {
  #held: number[] = [];

  constructor() {
    this.#hold();
  }

  /** Runs a start, which must be over when it returns. */
  around<T>(start: () => T): T {
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor);
    try {
      return start();
    } finally {
      this.#hold();
    }
  }

  /** As many as there are: the next start may find more. */
  #hold(): void {
    try {
      while (this.#held.length < kept) this.#held.push(openSync('/dev/null', 'r'));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
