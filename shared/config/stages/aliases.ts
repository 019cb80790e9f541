/**
 * Servers of presets and dialects by their own names. A name stands for what the table of its provider really asks for: the
 * address, the model or the way of speaking of that server.
 */

/** The aliases of a table as a list for a schema. */
export const namesIn = <A extends string>(aliases: Readonly<Record<A, string>>): [A, ...A[]] =>
  Object.keys(aliases) as [A, ...A[]];

/** The name that the tables know. */
export const canonicalName = <T extends Readonly<Record<string, string>>, N extends string>(
  aliases: T,
  name: N,
): Exclude<N, keyof T> | T[keyof T] =>
  Object.hasOwn(aliases, name) ? aliases[name] : (name as Exclude<N, keyof T>);
