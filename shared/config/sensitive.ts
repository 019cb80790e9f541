/**
 * A value that must not reach a log, an error or an answer. As text it is a placeholder; only
 * `reveal` gives the value, at the place that sends it.
 */

const redacted = '[redacted]';

export class Sensitive<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself. Pass it on at once; do not store it. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  /** What Node's `util.inspect` and `console.log` print. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return redacted;
  }
}
