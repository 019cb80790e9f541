/** One call's place among the sessions of the service: taken when it begins, and given back once. */
import type { SessionSeats } from './services.ts';

export class SessionClaim {
  readonly #seats: SessionSeats;
  #isHeld = false;

  constructor(seats: SessionSeats) {
    this.#seats = seats;
  }

  /** False where there are as many sessions as there may be. */
  take(): boolean {
    this.#isHeld ||= this.#seats.claim();
    return this.#isHeld;
  }

  /** The call had its place in another worker. */
  carry(): void {
    this.#seats.carry();
    this.#isHeld = true;
  }

  leave(): void {
    if (this.#isHeld) this.#seats.release();
    this.#isHeld = false;
  }
}
