/** One call's place among the sessions of the service: taken when it begins, and given back once. */
import type { SessionCounter } from './services.ts';

export class SessionClaim {
  readonly #counter: SessionCounter;
  #isHeld = false;

  constructor(counter: SessionCounter) {
    this.#counter = counter;
  }

  /** False where there are as many sessions as there may be. */
  take(): boolean {
    this.#isHeld ||= this.#counter.claim();
    return this.#isHeld;
  }

  /** The call had its place in another worker. */
  carry(): void {
    this.#counter.carry();
    this.#isHeld = true;
  }

  leave(): void {
    if (this.#isHeld) this.#counter.release();
    this.#isHeld = false;
  }
}
