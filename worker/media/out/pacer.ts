/**
 * The one ticker of a worker. Its deadlines are absolute, so it does not drift, and every call's output and housekeeping
 * hang on it instead of on timers of their own. It rests while there are no calls.
 */
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** Distance of two ticks. A call sends on every fourth, so calls that started apart do not send in one burst. */
export const tickMs = 5;

export class Pacer {
  readonly #clock: Clock;
  readonly #onTick: (now: Millis) => void;
  #timer: Timer | undefined;
  #origin = 0;
  #index = 0;

  constructor(clock: Clock, onTick: (now: Millis) => void) {
    this.#clock = clock;
    this.#onTick = onTick;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#origin = this.#clock.now();
    this.#index = 0;
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The last tick at or before `time`: where a frame that is due at `time` is sent. */
  gridBefore(time: Millis): Millis {
    return this.#origin + Math.floor((time - this.#origin) / tickMs) * tickMs;
  }

  #arm(): void {
    const now = this.#clock.now();
    // Ticks that a busy process missed are left out; frames that were due are sent on the next one.
    this.#index = Math.max(this.#index + 1, Math.floor((now - this.#origin) / tickMs));
    const delayMs = this.#origin + this.#index * tickMs - now;
    this.#timer = this.#clock.after(Math.max(0, delayMs), () => {
      // Armed first: whatever happens in a tick, the next one comes, and a rest that begins in it is kept.
      this.#arm();
      this.#onTick(this.#clock.now());
    });
  }
}
