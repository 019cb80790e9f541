/** The simulated media side: the agent's audio as lengths of time, given out in frames of 20 ms. */
import type { PlayoutPosition } from '../../../worker/core/events.ts';

export interface PlayoutEnds {
  frame(context: number, audioMs: number): void;
  /** With `inside`, nobody ordered it. */
  mark(id: string, inside?: { context: number; atMs: number }): void;
  started(context: number, audioAt: number): void;
  drained(context: number, sentMs: number): void;
  starved(context: number, sentMs: number): void;
  fed(context: number): void;
}

/** There is a mark at least so often. */
const markEveryMs = 2_000;

export class SimPlayout {
  readonly #ends: PlayoutEnds;
  #context = 0;
  #deliveredMs = 0;
  #sentMs = 0;
  #beforeMs = 0;
  #held = false;
  #yieldTicks: number | undefined;
  #finished = false;
  #started = false;
  #starving = false;
  #drained = false;
  #audioAt = 0;
  #marks: { id: string; dueMs: number }[] = [];
  #markedMs = 0;

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
    const audioMs = Math.max(this.#deliveredMs, this.#beforeMs);
    return { context: this.#context, sentMs: Math.min(this.#sentMs, audioMs) };
  }

  /** With `from`, the audio of the context begins there, and the first of it is on the wire already. */
  open(context: number, from: { audioMs: number; skipMs: number } = { audioMs: 0, skipMs: 0 }): void {
    this.clear();
    this.#context = context;
    this.#deliveredMs = from.audioMs;
    this.#sentMs = from.audioMs + from.skipMs;
    this.#beforeMs = this.#sentMs;
    this.#markedMs = this.#sentMs;
  }

  clear(): void {
    this.#context = 0;
    this.#deliveredMs = 0;
    this.#sentMs = 0;
    this.#beforeMs = 0;
    this.#held = false;
    this.#yieldTicks = undefined;
    this.#finished = false;
    this.#started = false;
    this.#starving = false;
    this.#drained = false;
    this.#audioAt = 0;
    this.#marks = [];
  }

  audio(context: number, ms: number, now: number): void {
    if (context !== this.#context || this.#finished) return;
    if (this.#audioAt === 0) this.#audioAt = now;
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

  /** Goes on softly for so long before it stands. */
  hold(held: boolean, duckMs = 0): void {
    this.#held = held && duckMs === 0;
    this.#yieldTicks = held && duckMs > 0 ? Math.round(duckMs / 20) : undefined;
  }

  /** Every 20 ms. Its effects may change everything, so it looks again after each step. */
  tick(): void {
    const context = this.#context;
    if (context === 0 || this.#held) return;
    if (this.#yieldTicks !== undefined && this.#yieldTicks-- === 0) {
      this.#yieldTicks = undefined;
      this.#held = true;
      return;
    }
    const waitingMs = this.#deliveredMs - this.#sentMs;
    if (waitingMs >= 20 || (this.#finished && waitingMs > 0)) this.#send(context, Math.min(20, waitingMs));
    else if (this.#started && !this.#finished && !this.#starving) {
      this.#starving = true;
      this.#ends.starved(context, this.#sentMs);
    }
    if (context !== this.#context) return;
    this.#sendMarks();
    if (context !== this.#context || this.#held || !this.#finished || this.#drained) return;
    if (this.#sentMs < this.#deliveredMs) return;
    this.#drained = true;
    this.#sendMarks();
    if (context === this.#context) this.#ends.drained(context, this.position.sentMs);
  }

  #send(context: number, ms: number): void {
    this.#sentMs += ms;
    this.#ends.frame(context, this.#sentMs);
    const wasStarving = this.#starving;
    this.#starving = false;
    if (!this.#started) {
      this.#started = true;
      this.#ends.started(context, this.#audioAt);
    } else if (wasStarving) this.#ends.fed(context);
  }

  #sendMarks(): void {
    for (let mark = this.#marks[0]; mark !== undefined && mark.dueMs <= this.#sentMs; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#markedMs = this.#sentMs;
      this.#ends.mark(mark.id);
    }
    const [context, atMs] = [this.#context, this.#sentMs];
    if (context === 0 || this.#drained || atMs - this.#markedMs < markEveryMs) return;
    this.#markedMs = atMs;
    this.#ends.mark(`i${context}.${atMs}`, { context, atMs });
  }
}
