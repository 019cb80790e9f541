/**
 * Warnings that anybody can cause from outside: each subject is told once an hour, and few subjects are. A flood of them costs neither the
 * disk nor the sight of other lines.
 */
import type { Clock, WallClock } from './clock.ts';

const everyMs = 3_600_000;
/** Subjects of one hour. */
const most = 32;

export class Seldom {
  readonly #clock: Clock | WallClock;
  readonly #told = new Set<string>();
  #sinceMs = 0;

  constructor(clock: Clock | WallClock) {
    this.#clock = clock;
  }

  /** Whether this is to be told now; it counts as told then. */
  isDue(subject: string): boolean {
    const now = this.#clock.now();
    if (this.#told.size === 0 || Math.abs(now - this.#sinceMs) >= everyMs) {
      this.#told.clear();
      this.#sinceMs = now;
    }
    if (this.#told.size >= most || this.#told.has(subject)) return false;
    this.#told.add(subject);
    return true;
  }
}
