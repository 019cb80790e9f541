/**
 * Time and timers of a process. Everything else takes a {@link Clock} as an argument, so that tests and simulations
 * run on virtual time.
 */
import type { Millis } from '../base/units.ts';

/** A timer that was started; `cancel` after it fired does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Monotonic milliseconds with a fraction; the origin is arbitrary and differs between processes. */
  now(): Millis;
  /** Calls `callback` once, at least `delayMs` from now. Does not keep the process alive. */
  after(delayMs: Millis, callback: () => void): Timer;
}

/** Wall-clock milliseconds since 1970, for what is compared with or shown to the world outside. */
export interface WallClock {
  now(): number;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (delayMs, callback) => {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

export const systemWallClock: WallClock = { now: () => Date.now() };

/** Calls back once what the event loop has to do by now had its turn: I/O that is ready, timers that are due. */
export const afterOthers = (callback: () => void): void => void setImmediate(callback);
