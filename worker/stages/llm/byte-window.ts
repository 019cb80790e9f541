/**
 * A copy of the next bytes of a stream, from which runs of bytes are compared eight at a time and JSON scalars are read.
 *
 * Invariant: nothing is read at or behind the limit, so bytes of before are never seen. It must not read what JSON.parse
 * would read otherwise, or refuse.
 */
import { parseJson } from './json.ts';

/** Some of the bytes of a sample. */
export interface Run {
  readonly from: number;
  readonly length: number;
}

/** No scalar of this kind, or no end of it. */
export const MISFIT = -1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** The first byte that a string may hold as it is. */
const FIRST_PRINTABLE = 0x20;
/** Digits that make an exact number one by one. */
const MAX_PLAIN_DIGITS = 15;
/** Of a text that is put together letter by letter. */
const MAX_LETTERS = 12;
/** What is copied at once: a chunk of a few events, and not the same bytes for each of many. */
const WINDOW_BYTES = 16_384;
/** 1 for each byte that a number may have. */
const NUMBER_SIGNS = new Uint8Array(256);
for (const byte of Buffer.from('+-.0123456789Ee')) NUMBER_SIGNS[byte] = 1;

/** Each byte of a word of four. */
const each = (byte: number): number => byte * 0x01010101;
const ONES = each(1);
const TOP_BITS = each(0x80) | 0;
const QUOTES = each(QUOTE);
const BACKSLASHES = each(BACKSLASH);
const FIRST_PRINTABLES = each(FIRST_PRINTABLE);

/** True when these bytes can be a sample: as numbers of eight bytes they are neither zero nor no number. */
export function isComparable(bytes: Uint8Array, { from, length }: Run): boolean {
  for (let at = from; at < from + length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0 || byte >= 0x80) return false;
  }
  return true;
}

export class Window {
  /** The scalar that was read last. */
  found: string | number = '';
  private readonly bytes = Buffer.alloc(WINDOW_BYTES);
  private readonly view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  private source: Buffer | undefined;
  /** Position in the source of the first byte. */
  private base = 0;
  private end = 0;
  private limit = 0;

  /**
   * Shows the bytes of the chunk from `from` on, at most so many.
   *
   * @returns their position in the window.
   */
  show(chunk: Buffer, from: number, maxBytes: number): number {
    const isThere = this.source === chunk && from >= this.base;
    const isEnough = from + maxBytes <= this.base + this.end || this.base + this.end === chunk.length;
    if (!isThere || !isEnough) this.copy(chunk, from);
    const at = from - this.base;
    this.limit = Math.min(this.end, at + maxBytes);
    return at;
  }

  /** Shows, from position 0 on, what two chunks say one behind the other, at most so many bytes. */
  join(first: Buffer, second: Buffer, maxBytes: number): void {
    this.source = undefined;
    this.bytes.set(first);
    this.limit = Math.min(maxBytes, first.length + second.length);
    const rest = this.limit - first.length;
    this.bytes.set(rest < second.length ? second.subarray(0, rest) : second, first.length);
  }

  /** Forgets whose bytes it has; they may change from now on. */
  release(): void {
    this.source = undefined;
  }

  /** True when these bytes of the sample, all of them comparable, are at `at`. */
  has(sample: DataView, { from, length }: Run, at: number): boolean {
    if (at + length > this.limit) return false;
    const { view } = this;
    const last = length - 8;
    if (last < 0) {
      for (let n = 0; n < length; n += 1) {
        if (view.getUint8(at + n) !== sample.getUint8(from + n)) return false;
      }
      return true;
    }
    for (let n = 0; n < last; n += 8) {
      if (view.getFloat64(at + n, true) !== sample.getFloat64(from + n, true)) return false;
    }
    return view.getFloat64(at + last, true) === sample.getFloat64(from + last, true);
  }

  /** Reads the contents of a JSON string into `found`; gives the position of its closing quote, or MISFIT. */
  text(from: number): number {
    const { bytes, limit } = this;
    let at = from;
    let seen = 0;
    let byte = 0;
    for (; at < limit; at += 1) {
      byte = bytes[at] ?? 0;
      if (byte < FIRST_PRINTABLE || byte === QUOTE || byte === BACKSLASH) break;
      seen |= byte;
    }
    if (at >= limit) return MISFIT;
    if (byte !== QUOTE) return byte === BACKSLASH ? this.escapedText(from, at) : MISFIT;
    this.found = seen < 0x80 ? this.ascii(from, at) : bytes.toString('utf8', from, at);
    return at;
  }

  /** What `text` does, without making the string where that shows nothing. */
  skipText(from: number): number {
    const { bytes, view, limit } = this;
    let at = from;
    for (const last = limit - 4; at <= last; at += 4) {
      const word = view.getInt32(at, true);
      const quotes = word ^ QUOTES;
      const backslashes = word ^ BACKSLASHES;
      // A subtraction borrows into the upper bit of a byte that is too small; only bytes without that bit of their own count.
      const control = (word - FIRST_PRINTABLES) & ~word;
      const signs = ((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes);
      if (((control | signs) & TOP_BITS) !== 0) break;
    }
    for (; at < limit; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) return this.escapedText(from, at);
      if (byte < FIRST_PRINTABLE) return MISFIT;
    }
    return MISFIT;
  }

  /** Reads a JSON number into `found`; gives the position behind it, or MISFIT. */
  number(from: number): number {
    const { bytes, limit } = this;
    let at = from;
    let value = 0;
    let byte = 0;
    for (; at < limit; at += 1) {
      byte = bytes[at] ?? 0;
      if (byte < ZERO || byte > ZERO + 9) break;
      value = value * 10 + (byte - ZERO);
    }
    const digits = at - from;
    if (at >= limit) return MISFIT;
    const isPlain = digits > 0 && digits <= MAX_PLAIN_DIGITS && (digits === 1 || bytes[from] !== ZERO);
    if (!isPlain || NUMBER_SIGNS[byte] === 1) return this.otherNumber(from);
    this.found = value;
    return at;
  }

  private copy(chunk: Buffer, from: number): void {
    this.source = chunk;
    this.base = from;
    this.end = Math.min(chunk.length - from, WINDOW_BYTES);
    this.bytes.set(this.end === chunk.length ? chunk : chunk.subarray(from, from + this.end));
  }

  /** Most texts are a few letters: to put those together costs less than the call that decodes them natively. */
  private ascii(from: number, to: number): string {
    const { bytes } = this;
    if (to - from > MAX_LETTERS) return bytes.toString('latin1', from, to);
    const at = (n: number): number => bytes[n] ?? 0;
    let text = '';
    let n = from;
    for (; n + 4 <= to; n += 4) text += String.fromCharCode(at(n), at(n + 1), at(n + 2), at(n + 3));
    if (n + 3 === to) return text + String.fromCharCode(at(n), at(n + 1), at(n + 2));
    if (n + 2 === to) return text + String.fromCharCode(at(n), at(n + 1));
    return n + 1 === to ? text + String.fromCharCode(at(n)) : text;
  }

  private escapedText(from: number, backslash: number): number {
    const { bytes, limit } = this;
    let at = backslash;
    for (; at < limit && bytes[at] !== QUOTE; at += bytes[at] === BACKSLASH ? 2 : 1) {
      if ((bytes[at] ?? 0) < FIRST_PRINTABLE) return MISFIT;
    }
    if (at >= limit) return MISFIT;
    const value = parseJson(bytes.toString('utf8', from - 1, at + 1));
    if (typeof value !== 'string') return MISFIT;
    this.found = value;
    return at;
  }

  private otherNumber(from: number): number {
    const { bytes, limit } = this;
    let at = from;
    while (at < limit && NUMBER_SIGNS[bytes[at] ?? 0] === 1) at += 1;
    const value = parseJson(bytes.toString('latin1', from, at));
    if (typeof value !== 'number') return MISFIT;
    this.found = value;
    return at;
  }
}
