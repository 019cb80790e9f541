/**
 * Descriptors kept back for the start of a process. Connections may use up all others, and a dead worker must be replaced all the
 * same: they are given back for the moment of a start, in which nothing else can take them.
 */
import { closeSync, openSync } from 'node:fs';

/** A start needs about six: a channel, a pipe for its outcome, and what is open for a moment. */
const kept = 12;

export class DescriptorReserve {
  #held: number[] = [];

  constructor() {
    this.#hold();
  }

  /** Runs a start, which must be over when it returns. */
  around<T>(start: () => T): T {
    for (const descriptor of this.#held.splice(0)) closeSync(descriptor);
    try {
      return start();
    } finally {
      this.#hold();
    }
  }

  /** As many as there are: the next start may find more. */
  #hold(): void {
    try {
      while (this.#held.length < kept) this.#held.push(openSync('/dev/null', 'r'));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
