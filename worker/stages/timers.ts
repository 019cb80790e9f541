/** Timers of an exchange with a provider, in the scope of the call that asked. */
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { StageContext } from './stage.ts';

/**
 * One deadline that moves often: a timer that fires early looks at the due time and arms itself again, so that moving
 * the deadline costs no timer.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #passed: () => void;
  readonly #onTimer: () => void;
  #timer: Timer | undefined;
  #firesAtMs = 0;
  #dueMs: number | undefined;

  constructor(context: StageContext, passed: () => void) {
    this.#clock = context.clock;
    this.#passed = passed;
    this.#onTimer = context.bind(() => this.#look());
  }

  /** Moves the deadline to `delayMs` from now. */
  set(delayMs: number): void {
    this.setAt(this.#clock.now() + delayMs);
  }

  /** Moves the deadline to a moment; Infinity: there is none. */
  setAt(dueMs: number): void {
    if (dueMs === Infinity) {
      this.clear();
      return;
    }
    this.#dueMs = dueMs;
    if (this.#timer !== undefined && this.#firesAtMs <= dueMs) return;
    this.#timer?.cancel();
    this.#arm(dueMs);
  }

  /** Without a deadline from here on. A timer that is still armed finds nothing to do. */
  clear(): void {
    this.#dueMs = undefined;
  }

  close(): void {
    this.#dueMs = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(dueMs: number): void {
    this.#firesAtMs = dueMs;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.now()), this.#onTimer);
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#dueMs === undefined) return;
    if (this.#clock.now() < this.#dueMs) {
      this.#arm(this.#dueMs);
      return;
    }
    this.#dueMs = undefined;
    this.#passed();
  }
}

/** Runs `action` once, soon after the method that asked for it returned, however often it is asked for. */
export class Soon {
  readonly #clock: Clock;
  readonly #onTimer: () => void;
  #timer: Timer | undefined;

  constructor(context: StageContext, action: () => void) {
    this.#clock = context.clock;
    this.#onTimer = context.bind(() => {
      this.#timer = undefined;
      action();
    });
  }

  ask(): void {
    this.#timer ??= this.#clock.after(0, this.#onTimer);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
