/**
 * The scope of a call: every callback that belongs to the call runs inside it, so that what it throws ends this call
 * and no other. `run` catches what is thrown synchronously, the async store attributes the rest (timers, promises).
 * What neither can catch (an endless loop, a crash, exhausted memory) takes the process with it: the mark of the scope that
 * runs stands in memory that outlives the process, so that the call is known all the same.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<Scope>();

/** Where the mark of the running scope stands: one integer, 0 while none runs. */
let marks: Int32Array = new Int32Array(1);

/** From now on marks stand in the first integer of `memory`, which another process reads once this one is gone. */
export function keepMarksIn(memory: Int32Array): void {
  marks = memory;
  marks[0] = 0;
}

export class Scope {
  readonly name: string;
  readonly #onFault: (error: unknown) => void;
  readonly #mark: number;
  #closed = false;

  /**
   * `onFault` is told of everything that was thrown in the scope; it must close the scope and must not throw. `mark` is positive and names
   * the scope while it runs.
   */
  constructor(name: string, onFault: (error: unknown) => void, mark = 0) {
    this.name = name;
    this.#onFault = onFault;
    this.#mark = mark;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Runs `work` unless the scope is closed. Never throws. */
  run<A extends readonly unknown[]>(work: (...args: A) => void, ...args: A): void {
    if (this.#closed) return;
    storage.run(this, () => {
      try {
        this.marked(work, ...args);
      } catch (error) {
        this.fault(error);
      }
    });
  }

  /**
   * Does work of this scope, which is known should the process hang or die in it: also what goes on after an `await`, where the scope is
   * known to the async store alone. Unlike `run` it throws what the work throws.
   */
  marked<A extends readonly unknown[], R>(work: (...args: A) => R, ...args: A): R {
    const before = marks[0] ?? 0;
    marks[0] = this.#mark;
    try {
      return work(...args);
    } finally {
      marks[0] = before;
    }
  }

  /** Wraps a callback so that it runs in the scope, and does nothing once the scope is closed. */
  bind<A extends readonly unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => this.run(callback, ...args);
  }

  fault(error: unknown): void {
    if (!this.#closed) this.#onFault(error);
  }

  close(): void {
    this.#closed = true;
  }
}

/** The scope in which the present code runs, for the process handlers that catch what escaped every scope. */
export const currentScope = (): Scope | undefined => storage.getStore();
