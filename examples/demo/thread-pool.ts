/**
 * A few worker threads of one kind behind a bounded queue.
 *
 * Invariant: a thread holds one job at a time, every job settles exactly once, and at most `maxQueued` jobs wait. A thread that dies fails its
 * job and is replaced; one that dies before it was ever ready is not, so that a broken engine cannot loop.
 */
import { Worker, type Transferable } from 'node:worker_threads';

export class QueueFull extends Error {
  constructor() {
    super('too much work is waiting');
  }
}

export class Abandoned extends Error {
  constructor() {
    super('nobody waits for this any more');
  }
}

export interface ThreadPoolOptions {
  readonly entry: URL;
  readonly threads: number;
  readonly maxQueued: number;
  /** What every thread gets at its start. */
  readonly workerData?: unknown;
}

interface Job {
  readonly request: unknown;
  readonly transfer: readonly Transferable[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Slot {
  readonly worker: Worker;
  ready: boolean;
  job: Job | undefined;
}

export interface RunOptions {
  readonly transfer?: readonly Transferable[];
  readonly signal?: AbortSignal;
}

const field = (message: unknown, name: string): unknown =>
  typeof message === 'object' && message !== null ? Reflect.get(message, name) : undefined;

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #slots = new Set<Slot>();
  #waiting: Job[] = [];
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    for (let index = 0; index < options.threads; index += 1) this.#start();
  }

  /** Resolves with the thread's answer; rejects with `QueueFull`, `Abandoned`, or the thread's own words. */
  run(request: unknown, { transfer = [], signal }: RunOptions = {}): Promise<unknown> {
    if (this.#closed || this.#slots.size === 0) return Promise.reject(new Error('the engine is not running'));
    if (this.#waiting.length >= this.#options.maxQueued) return Promise.reject(new QueueFull());
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Abandoned());
        return;
      }
      const abandon = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== job);
        reject(new Abandoned());
      };
      const job: Job = {
        request,
        transfer,
        resolve: (answer) => {
          signal?.removeEventListener('abort', abandon);
          resolve(answer);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon);
          reject(error);
        },
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(job);
      this.#feed();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#failWaiting();
    await Promise.all([...this.#slots].map(({ worker }) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(this.#options.entry, { stdin: true, workerData: this.#options.workerData });
    const slot: Slot = { worker, ready: false, job: undefined };
    this.#slots.add(slot);
    worker.on('message', (message: unknown) => {
      if (field(message, 'ready') === true) slot.ready = true;
      else this.#settle(slot, message);
      this.#feed();
    });
    worker.on('error', (error) => {
      process.stderr.write(`demo: a speech thread failed: ${error.message}\n`);
    });
    worker.on('exit', () => this.#lost(slot));
  }

  #settle(slot: Slot, message: unknown): void {
    const { job } = slot;
    slot.job = undefined;
    const error = field(message, 'error');
    if (typeof error === 'string') job?.reject(new Error(error));
    else job?.resolve(field(message, 'answer'));
  }

  #lost(slot: Slot): void {
    this.#slots.delete(slot);
    slot.job?.reject(new Error('the engine stopped in the middle of this work'));
    if (this.#closed) return;
    if (slot.ready) this.#start();
    else if (this.#slots.size === 0) this.#failWaiting();
  }

  #failWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const job of waiting) job.reject(new Error('the engine is not running'));
  }

  #feed(): void {
    for (const slot of this.#slots) {
      if (!slot.ready || slot.job !== undefined) continue;
      const job = this.#waiting.shift();
      if (job === undefined) return;
      slot.job = job;
      slot.worker.postMessage(job.request, [...job.transfer]);
    }
  }
}
