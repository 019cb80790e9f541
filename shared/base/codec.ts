/**
 * Plain data as JSON text and back, by a declaration that names every field once: whether it is saved, what it holds, and
 * whether it is a time, which another process reads on its own clock. A field that is not declared does not compile, and data of
 * users passes through as it is, whatever its names are.
 *
 * The shape of a codec is a text of all that it declares; two builds whose shapes differ do not read one another.
 */
import { writeJson } from './exact-json.ts';

export interface Codec<T> {
  readonly shape: string;
  /** JSON of the value. */
  write(value: T): string;
  /** The value of parsed JSON, its times `shiftMs` later. @throws TypeError for what {@link write} did not make. */
  read(json: unknown, shiftMs: number): T;
}

/** A field that is not saved, and what stands in its place when the rest is read. */
export interface LeftOut<T> {
  readonly leftOut: () => T;
}

export const leftOut = <T>(make: () => T): LeftOut<T> => ({ leftOut: make });

function broken(what: string): never {
  throw new TypeError(`a saved state holds no ${what} where one belongs`);
}

function readNumber(json: unknown): number {
  if (typeof json === 'number') return json;
  return typeof json === 'string' ? Number(json) : broken('number');
}

/** JSON knows no infinity. */
const writeNumber = (value: number): string => (Number.isFinite(value) ? String(value) : `"${value}"`);

export const number: Codec<number> = { shape: 'n', write: writeNumber, read: readNumber };

/** A moment on the clock of the process that writes. */
export const time: Codec<number> = {
  shape: 't',
  write: writeNumber,
  read: (json, shiftMs) => readNumber(json) + shiftMs,
};

export const flag: Codec<boolean> = {
  shape: 'b',
  write: String,
  read: (json) => (typeof json === 'boolean' ? json : broken('flag')),
};

/** Text, also where only some texts are possible. */
export const text = <T extends string = string>(): Codec<T> => ({
  shape: 's',
  write: (value) => JSON.stringify(value),
  read: (json) => (typeof json === 'string' ? (json as T) : broken('text')),
});

/** Data that nobody here looks into: of users, of providers, or without any time in it. It must be JSON. */
export const opaque = <T>(): Codec<T> => ({
  shape: 'd',
  write: writeJson,
  read: (json) => (json === undefined ? broken('data') : (json as T)),
});

/** Nothing is written for undefined. */
export const maybe = <T>(codec: Codec<T>): Codec<T | undefined> => ({
  shape: `${codec.shape}?`,
  write: (value) => (value === undefined ? 'null' : codec.write(value)),
  read: (json, shiftMs) => (json === undefined || json === null ? undefined : codec.read(json, shiftMs)),
});

export const list = <T>(codec: Codec<T>): Codec<T[]> => ({
  shape: `[${codec.shape}]`,
  write: (items) => {
    let written = '';
    for (const item of items) written += `${written === '' ? '' : ','}${codec.write(item)}`;
    return `[${written}]`;
  },
  read: (json, shiftMs) =>
    Array.isArray(json) ? json.map((item) => codec.read(item, shiftMs)) : broken('list'),
});

/** A map with texts as keys, in its order. */
export const mapOf = <T>(codec: Codec<T>): Codec<Map<string, T>> => {
  const entries = list<[string, T]>({
    shape: codec.shape,
    write: ([key, value]) => `[${JSON.stringify(key)},${codec.write(value)}]`,
    read: (json, shiftMs) =>
      Array.isArray(json) ? [String(json[0]), codec.read(json[1], shiftMs)] : broken('entry'),
  });
  return {
    shape: `{${codec.shape}}`,
    write: (map) => entries.write([...map]),
    read: (json, shiftMs) => new Map(entries.read(json, shiftMs)),
  };
};

/** An optional field is written as one that may be undefined. */
type CodecFor<T, K extends keyof T> =
  Partial<Pick<T, K>> extends Pick<T, K> ? Codec<T[K] | undefined> : Codec<T[K]>;

/** One line for each field of a type, whether or not it is saved. */
export type Fields<T> = { readonly [K in keyof T]-?: CodecFor<T, K> | LeftOut<T[K]> };

/** An object with exactly these fields. */
export function record<T extends object>(fields: Fields<T>): Codec<T> {
  const all = Object.entries(fields as Readonly<Record<string, Codec<unknown> | LeftOut<unknown>>>);
  const saved = all.flatMap(([name, field]) =>
    'leftOut' in field ? [] : [{ name, codec: field, start: `${JSON.stringify(name)}:` }],
  );
  return {
    shape: `(${all.map(([name, field]) => `${name}:${'leftOut' in field ? '-' : field.shape}`).join()})`,
    write: (value) => {
      const given = value as Readonly<Record<string, unknown>>;
      let written = '';
      for (const { name, codec, start } of saved) {
        const field = given[name];
        if (field !== undefined) written += `${written === '' ? '' : ','}${start}${codec.write(field)}`;
      }
      return `{${written}}`;
    },
    read: (json, shiftMs) => {
      if (typeof json !== 'object' || json === null) return broken('object');
      const given = json as Readonly<Record<string, unknown>>;
      const value: Record<string, unknown> = {};
      for (const [name, field] of all)
        value[name] = 'leftOut' in field ? field.leftOut() : field.read(given[name], shiftMs);
      return value as T;
    },
  };
}

type Tagged<Tag extends string> = { readonly [name in Tag]: string };

/** The other fields of each member of a union, by its tag. */
type Members<T extends Tagged<Tag>, Tag extends string> = {
  readonly [Name in T[Tag]]: Fields<Omit<Extract<T, { readonly [name in Tag]: Name }>, Tag>>;
};

/** One of several kinds of objects, told apart by one field. */
export function union<T extends Tagged<Tag>, Tag extends string>(
  tag: Tag,
  members: Members<T, Tag>,
): Codec<T> {
  const codecs = new Map(
    Object.entries(members as Readonly<Record<string, Fields<object>>>).map(([name, fields]) => [
      name,
      record({ [tag]: text(), ...fields }),
    ]),
  );
  const codecOf = (name: unknown): Codec<Record<string, unknown>> => codecs.get(String(name)) ?? broken(tag);
  return {
    shape: `<${[...codecs].map(([name, { shape }]) => `${name}${shape}`).join('|')}>`,
    write: (value) => codecOf(value[tag]).write(value),
    read: (json, shiftMs) => {
      if (typeof json !== 'object' || json === null) return broken(tag);
      return codecOf((json as Readonly<Record<string, unknown>>)[tag]).read(json, shiftMs) as unknown as T;
    },
  };
}

/** Names a shape in 32 bits, so that text of another one is refused. */
export function versionOf({ shape }: Pick<Codec<unknown>, 'shape'>): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < shape.length; index += 1)
    hash = Math.imul(hash ^ shape.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
