/**
 * The time of a call without sound. It stands still unless it is let go, runs with the clock while somebody outside is
 * waited for, and jumps over what nobody needs to wait for. It never goes back.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

export class CallTime {
  readonly #clock: Pick<Clock, 'now'>;
  #elapsed: Millis = 0;
  #runningSince: Millis | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds of the call. */
  get now(): Millis {
    return this.#runningSince === undefined
      ? this.#elapsed
      : this.#elapsed + Math.max(0, this.#clock.now() - this.#runningSince);
  }

  start(): void {
    this.#runningSince ??= this.#clock.now();
  }

  stop(): void {
    this.#elapsed = this.now;
    this.#runningSince = undefined;
  }

  /** Does nothing for a time that has passed. */
  skipTo(time: Millis): void {
    const now = this.now;
    if (time <= now) return;
    this.#elapsed = time;
    if (this.#runningSince !== undefined) this.#runningSince = this.#clock.now();
  }
}
