/** Assertions for bugs: what they guard cannot be caused by input, only by a mistake in this program. */

/** A bug in this program, as opposed to bad input or a failing provider. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws {@link AssertionError} when `condition` is false. `rule` says what must hold; it never holds caller data. */
export function assert(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new AssertionError(rule);
}

/** Marks a branch that the types rule out; the parameter makes the compiler prove it. */
export function unreachable(value: never, rule = 'closed union has an unknown member'): never {
  throw new AssertionError(`${rule}: ${typeof value}`);
}
