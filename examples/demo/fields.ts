/** Reading of what clients of the demo's servers send. Pure. */
export type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
