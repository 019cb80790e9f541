/**
 * The scope of a call: every callback that belongs to the call runs inside it, so that what it throws ends this call
 * and no other. `run` catches what is thrown synchronously, the async store attributes the rest (timers, promises).
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<Scope>();

export class Scope {
  readonly name: string;
  readonly #onFault: (error: unknown) => void;
  #closed = false;

  /** `onFault` is told of everything that was thrown in the scope; it must close the scope and must not throw. */
  constructor(name: string, onFault: (error: unknown) => void) {
    this.name = name;
    this.#onFault = onFault;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Runs `work` unless the scope is closed. Never throws. */
  run<A extends readonly unknown[]>(work: (...args: A) => void, ...args: A): void {
    if (this.#closed) return;
    storage.run(this, () => {
      try {
        work(...args);
      } catch (error) {
        this.fault(error);
      }
    });
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
