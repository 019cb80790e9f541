/**
 * Text that waits for a connection or for the context before it: contexts in order of appearance, at most 64 pieces.
 *
 * Invariant: every character given to `speak` is taken in order or was cancelled; a piece that finds the queue full is
 * joined to the last one of its context. Pure.
 */

/** Bound of the stage's input: so many pieces wait. */
export const QUEUED_PIECES = 64;
/** How many cancelled contexts are remembered, so that text that crosses a cancel is dropped. */
const REMEMBERED = 16;

export interface QueuedContext {
  readonly id: number;
  readonly pieces: string[];
  flushed: boolean;
}

export class ContextQueue {
  readonly #contexts: QueuedContext[] = [];
  #cancelled: number[] = [];

  get head(): QueuedContext | undefined {
    return this.#contexts[0];
  }

  /** Pieces that wait. */
  get size(): number {
    return this.#contexts.reduce((sum, context) => sum + context.pieces.length, 0);
  }

  speak(id: number, text: string): void {
    if (text === '' || this.#cancelled.includes(id)) return;
    const { pieces } = this.#open(id);
    const last = pieces.pop();
    if (last === undefined) pieces.push(text);
    else if (this.size + 1 >= QUEUED_PIECES) pieces.push(last + text);
    else pieces.push(last, text);
  }

  flush(id: number): void {
    if (!this.#cancelled.includes(id)) this.#open(id).flushed = true;
  }

  cancel(id: number): void {
    const at = this.#contexts.findIndex((context) => context.id === id);
    if (at >= 0) this.#contexts.splice(at, 1);
    this.#cancelled = [...this.#cancelled, id].slice(-REMEMBERED);
  }

  /** The head is done. */
  shift(): void {
    this.#contexts.shift();
  }

  #open(id: number): QueuedContext {
    const found = this.#contexts.find((context) => context.id === id);
    if (found !== undefined) return found;
    const context: QueuedContext = { id, pieces: [], flushed: false };
    this.#contexts.push(context);
    return context;
  }
}
