/** Turns the keys of a file (snake_case) into the keys of the program (camelCase): one level deep, values untouched. */

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

/** The same table with camelCase keys; what is optional stays optional. */
export type CamelKeys<T> = { readonly [K in keyof T as K extends string ? Camel<K> : never]: T[K] };

const camelName = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Nested tables keep their keys, because some are maps whose keys belong to the user. */
export function camelKeys<T extends object>(table: T): CamelKeys<T> {
  const renamed = Object.entries(table).map(([key, value]: [string, unknown]) => [camelName(key), value]);
  // The mapped type says for the compiler what the line above does to every key.
  return Object.fromEntries(renamed) as CamelKeys<T>;
}

/** The table without some of its keys. */
export function withoutKeys<T extends object, K extends keyof T & string>(
  table: T,
  keys: readonly K[],
): Omit<T, K> {
  const left: readonly string[] = keys;
  // The rest is what Omit describes; only a decoder's generic type cannot follow the filter.
  return Object.fromEntries(Object.entries(table).filter(([key]) => !left.includes(key))) as Omit<T, K>;
}
