/** The simulated media side: the bot's audio as lengths of time, given out in frames of 20 ms. */
import type { PlayoutPosition } from '../../worker/core/events.ts';

export interface PlayoutEnds {
  frame(context: number, audioMs: number): void;
  mark(id: string): void;
  started(context: number, audioAt: number): void;
  drained(context: number, sentMs: number): void;
}

export class SimPlayout {
  readonly #ends: PlayoutEnds;
  #context = 0;
  #deliveredMs = 0;
  #sentMs = 0;
  #held = false;
  #finished = false;
  #started = false;
  #drained = false;
  #audioAt = 0;
  #marks: { id: string; dueMs: number }[] = [];

  constructor(ends: PlayoutEnds) {
    this.#ends = ends;
  }

  get context(): number {
    return this.#context;
  }

  get deliveredMs(): number {
    return this.#deliveredMs;
  }

  get position(): PlayoutPosition {
    return { context: this.#context, sentMs: this.#sentMs };
  }

  open(context: number): void {
    this.clear();
    this.#context = context;
  }

  clear(): void {
    this.#context = 0;
    this.#deliveredMs = 0;
    this.#sentMs = 0;
    this.#held = false;
    this.#finished = false;
    this.#started = false;
    this.#drained = false;
    this.#audioAt = 0;
    this.#marks = [];
  }

  audio(context: number, ms: number, now: number): void {
    if (context !== this.#context || this.#finished) return;
    if (this.#deliveredMs === 0) this.#audioAt = now;
    this.#deliveredMs += ms;
  }

  mark(context: number, id: string): void {
    if (context !== this.#context) return;
    this.#marks.push({ id, dueMs: this.#deliveredMs });
    this.#sendMarks();
  }

  finish(context: number): void {
    if (context === this.#context) this.#finished = true;
  }

  hold(held: boolean): void {
    this.#held = held;
  }

  /** Every 20 ms. What it causes may change everything, so it looks again after each step. */
  tick(): void {
    const context = this.#context;
    if (context === 0 || this.#held) return;
    const waitingMs = this.#deliveredMs - this.#sentMs;
    if (waitingMs >= 20 || (this.#finished && waitingMs > 0)) {
      this.#sentMs += Math.min(20, waitingMs);
      this.#ends.frame(context, this.#sentMs);
      if (!this.#started) {
        this.#started = true;
        this.#ends.started(context, this.#audioAt);
      }
    }
    if (context !== this.#context) return;
    this.#sendMarks();
    if (context !== this.#context || this.#held || !this.#finished || this.#drained) return;
    if (this.#sentMs < this.#deliveredMs) return;
    this.#drained = true;
    this.#sendMarks();
    if (context === this.#context) this.#ends.drained(context, this.#sentMs);
  }

  #sendMarks(): void {
    for (let mark = this.#marks[0]; mark !== undefined && mark.dueMs <= this.#sentMs; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#ends.mark(mark.id);
    }
  }
}
