/**
 * The one ticker of a worker. It sleeps until something is due, and wakes on a grid that does not drift: every call's output and housekeeping
 * hang on it instead of on timers of their own. It rests while there are no calls.
 */
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';

/** Distance of two points of the grid. A call sends on every fourth, so calls that started apart do not send in one burst. */
export const tickMs = 5;
/** Timers fire up to a millisecond early; what is due then is not held back for another tick. */
export const earlyMs = 1;
/** Shares of a tick that floating point may take or give. */
const rounding = 1e-6;

export class Pacer {
  readonly #clock: Clock;
  readonly #onTick: (now: Millis, lateMs: Millis) => Millis;
  #timer: Timer | undefined;
  #isRunning = false;
  #isTicking = false;
  #origin = 0;
  /** Points of the grid: the newest tick, and the one that the timer waits for. */
  #index = 0;
  #armed = Infinity;

  /** `onTick` is told how late the tick is, and says when the next one is wanted. */
  constructor(clock: Clock, onTick: (now: Millis, lateMs: Millis) => Millis) {
    this.#clock = clock;
    this.#onTick = onTick;
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#origin = this.#clock.now();
    this.#index = 0;
  }

  stop(): void {
    this.#isRunning = false;
    this.#disarm();
  }

  /** A tick is wanted at this time, or at the first point of the grid behind it. One that is due already comes with the next point. */
  wakeBy(at: Millis): void {
    if (!this.#isRunning || this.#isTicking || at >= this.#timeOf(this.#armed)) return;
    const now = this.#clock.now();
    // Ticks that a busy process missed are left out.
    const index = Math.max(this.#index + 1, this.#indexFrom(now), this.#indexFrom(at));
    if (index >= this.#armed) return;
    this.#disarm();
    this.#armed = index;
    this.#timer = this.#clock.after(Math.max(0, this.#timeOf(index) - now), () => this.#tick(index));
  }

  /** The last point at or before `time`, of all or of those that lie further apart: where a frame that is due at `time` is sent. */
  gridBefore(time: Millis, everyMs = tickMs): Millis {
    return this.#origin + Math.floor((time - this.#origin) / everyMs) * everyMs;
  }

  #tick(index: number): void {
    this.#timer = undefined;
    this.#armed = Infinity;
    this.#index = index;
    const now = this.#clock.now();
    // Another tick comes although one throws, and a rest that begins in a tick is kept.
    let next = now + FRAME_MS;
    this.#isTicking = true;
    try {
      next = this.#onTick(now, Math.max(0, now - this.#timeOf(index)));
    } finally {
      this.#isTicking = false;
      this.wakeBy(next);
    }
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armed = Infinity;
  }

  #timeOf(index: number): Millis {
    return this.#origin + index * tickMs;
  }

  #indexFrom(time: Millis): number {
    return Math.ceil((time - this.#origin) / tickMs - rounding);
  }
}
