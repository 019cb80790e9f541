/**
 * Where the strings and numbers of a JSON object stand in its bytes, and where they stand in its value.
 *
 * Invariant: JSON.parse has made the value of these bytes, so the walk only looks for ends. It must not guess: what
 * cannot be assigned to exactly one place of the value (keys that repeat or are escaped) has no layout.
 */
import type { JsonRecord } from './json.ts';
import { isRecord } from './json.ts';

/** Where a value is kept. */
export type Place =
  | { readonly isList: false; readonly holder: Record<string, unknown>; readonly key: string }
  | { readonly isList: true; readonly holder: unknown[]; readonly key: number };

/** A string or number within the object. */
export interface Scalar {
  /** Position of its first byte, for a string of the one after the quote. */
  readonly from: number;
  /** Position after its last byte, for a string of the closing quote. */
  readonly to: number;
  readonly isText: boolean;
  readonly place: Place;
}

/** Bytes, and the same as a string with a character for each. */
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly latin1: string;
}

const MAX_DEPTH = 16;
const MAX_SCALARS = 64;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * The scalars of `value` in the order of the bytes; undefined when there is no layout.
 *
 * @param start position of the brace that opens `value`.
 */
export function layoutOf(
  source: Bytes,
  { start, value }: { readonly start: number; readonly value: JsonRecord },
): Scalar[] | undefined {
  const walk = new Walk(source, start);
  return walk.value(value, undefined) && walk.scalars.length <= MAX_SCALARS ? walk.scalars : undefined;
}

class Walk {
  readonly scalars: Scalar[] = [];
  private readonly source: Bytes;
  private at: number;
  private depth = 0;

  constructor(source: Bytes, start: number) {
    this.source = source;
    this.at = start;
  }

  /** Walks over a value; false when it has no layout. */
  value(value: unknown, place: Place | undefined): boolean {
    const sign = this.sign();
    if (sign === OBJECT || sign === LIST) {
      if (this.depth === MAX_DEPTH) return false;
      this.depth += 1;
      const isWalked = sign === OBJECT ? this.object(value) : this.list(value);
      this.depth -= 1;
      return isWalked;
    }
    const isText = sign === QUOTE;
    const from = isText ? this.at + 1 : this.at;
    const to = isText ? this.text() : this.word();
    if (place !== undefined && (isText || typeof value === 'number')) {
      this.scalars.push({ from, to, isText, place });
    }
    return true;
  }

  private object(holder: unknown): boolean {
    if (!isRecord(holder)) return false;
    let members = 0;
    this.at += 1;
    for (let sign = this.sign(); sign !== OBJECT_END; sign = this.sign()) {
      if (sign !== QUOTE) return false;
      const from = this.at + 1;
      const key = this.source.latin1.slice(from, this.text());
      if (!isPlain(key)) return false;
      if (!this.value(holder[key], { isList: false, holder, key: propertyNamed(key) })) return false;
      members += 1;
    }
    this.at += 1;
    return members === Object.keys(holder).length;
  }

  private list(values: unknown): boolean {
    if (!Array.isArray(values)) return false;
    this.at += 1;
    for (const [key, value] of values.entries()) {
      if (!this.value(value, { isList: true, holder: values, key })) return false;
    }
    if (this.sign() !== LIST_END) return false;
    this.at += 1;
    return true;
  }

  /** Walks over a string; gives the position of its closing quote. */
  private text(): number {
    const { bytes } = this.source;
    let to = this.at + 1;
    for (let byte = bytes[to]; byte !== QUOTE && byte !== undefined; byte = bytes[to]) {
      to += byte === BACKSLASH ? 2 : 1;
    }
    this.at = to + 1;
    return to;
  }

  /** Walks over a number or a literal; gives the position behind it. */
  private word(): number {
    const { bytes } = this.source;
    let byte = bytes[this.at];
    while (byte !== undefined && byte > SPACE && byte !== COMMA && byte !== LIST_END && byte !== OBJECT_END) {
      this.at += 1;
      byte = bytes[this.at];
    }
    return this.at;
  }

  /** The next byte that is not between values. */
  private sign(): number | undefined {
    const { bytes } = this.source;
    let byte = bytes[this.at];
    while (byte !== undefined && (byte <= SPACE || byte === COMMA || byte === COLON)) {
      this.at += 1;
      byte = bytes[this.at];
    }
    return byte;
  }
}

/** The same name, as the engine keeps it for properties: it finds that one faster than a piece of a text. */
function propertyNamed(key: string): string {
  return Object.keys({ [key]: true })[0] ?? key;
}

/** ASCII without escapes: written as it is meant. */
function isPlain(key: string): boolean {
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at);
    if (code >= 0x80 || code === BACKSLASH) return false;
  }
  return true;
}
