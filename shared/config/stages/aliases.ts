/**
 * Servers of presets and dialects by their own names. A name stands for what the table beside it really asks for: the address,
 * the model or the way of speaking of that server.
 */

export const chatPresetAliases = {
  groq: 'hosted_1',
  cerebras: 'hosted_2',
  together: 'hosted_3',
  vllm: 'local_server',
  ollama: 'local_runner',
  openrouter: 'router',
} as const;

/** `local_d` is what openedai-speech and LocalAI have in common, and has no name of its own. */
export const speechPresetAliases = { speaches: 'local_a', kokoro: 'local_b', chatterbox: 'local_c' } as const;

export const dialectAliases = {
  openai: 'dialect_a',
  nim: 'dialect_b',
  vllm: 'dialect_c',
  speaches: 'dialect_d',
} as const;

/** The aliases of a table as a list for a schema. */
export const namesIn = <A extends string>(aliases: Readonly<Record<A, string>>): [A, ...A[]] =>
  Object.keys(aliases) as [A, ...A[]];

/** The name that the tables know. */
export const canonicalName = <T extends Readonly<Record<string, string>>, N extends string>(
  aliases: T,
  name: N,
): Exclude<N, keyof T> | T[keyof T] =>
  Object.hasOwn(aliases, name) ? aliases[name] : (name as Exclude<N, keyof T>);
