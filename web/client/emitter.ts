/**
 * Typed events without the DOM's ceremony. Invariant: a listener that throws harms neither the others nor whoever emits; its error
 * is reported as an uncaught one.
 */

export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(detail: never) => void>>();

  /** Calls `listener` at every event of this name. Returns a function that ends it. */
  on<Name extends keyof Events>(name: Name, listener: (detail: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  protected emit<Name extends keyof Events>(name: Name, detail: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as (detail: Events[Name]) => void)(detail);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
