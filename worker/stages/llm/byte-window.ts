/**
 * A copy of the next bytes of a stream, from which runs of bytes are compared four at a time and JSON scalars are read.
 *
 * Invariant: scalars may be sought behind the end, among bytes of before, but `has` is never true there. So whoever
 * believes a scalar only together with the bytes that follow it, sees nothing but what was shown. It must not read what
 * JSON.parse would read otherwise, or refuse.
 */
import { parseJson } from './json.ts';

/** Bytes to compare, four in a word. */
export interface Run {
  readonly length: number;
  /** Little-endian; one more than whole words, for the rest. */
  readonly words: Int32Array;
  /** The bits of the last word that count. */
  readonly lastMask: number;
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
const NUMBER_SIGNS = new Set(Buffer.from('+-.0123456789Ee'));

/** The bytes from `from` to before `to`. */
export function runOf(bytes: Uint8Array, { from, to }: { readonly from: number; readonly to: number }): Run {
  const length = to - from;
  const words = new Int32Array(Math.floor(length / 4) + 1);
  for (let n = 0; n < length; n += 1) {
    words[n >> 2] = (words[n >> 2] ?? 0) | ((bytes[from + n] ?? 0) << ((n & 3) * 8));
  }
  return { length, words, lastMask: 2 ** ((length & 3) * 8) - 1 };
}

export class Window {
  /** The scalar that was read last. */
  found: string | number = '';
  private readonly maxBytes: number;
  private readonly bytes: Buffer;
  private readonly view: DataView;
  private end = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    // The last word of a run may reach over the end.
    this.bytes = Buffer.alloc(maxBytes + 4);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }

  /** Copies the chunk from `from` on, as much as there is room for. */
  show(chunk: Buffer, from: number): void {
    this.end = Math.min(chunk.length - from, this.maxBytes);
    this.bytes.set(this.end === chunk.length ? chunk : chunk.subarray(from, from + this.end));
  }

  /** True when these bytes are at `at`. */
  has({ length, words, lastMask }: Run, at: number): boolean {
    if (at + length > this.end) return false;
    const last = words.length - 1;
    let offset = at;
    for (let n = 0; n < last; n += 1) {
      if (this.view.getInt32(offset, true) !== words[n]) return false;
      offset += 4;
    }
    return ((this.view.getInt32(offset, true) ^ (words[last] ?? 0)) & lastMask) === 0;
  }

  /** Reads the contents of a JSON string into `found`; gives the position of its closing quote, or MISFIT. */
  text(from: number): number {
    const { bytes } = this;
    let at = from;
    let seen = 0;
    let byte = bytes[at] ?? 0;
    while (byte >= FIRST_PRINTABLE && byte !== QUOTE && byte !== BACKSLASH) {
      seen |= byte;
      at += 1;
      byte = bytes[at] ?? 0;
    }
    if (byte !== QUOTE) return byte === BACKSLASH ? this.escapedText(from, at) : MISFIT;
    this.found = seen < 0x80 ? this.ascii(from, at) : bytes.toString('utf8', from, at);
    return at;
  }

  /** Reads a JSON number into `found`; gives the position behind it, or MISFIT. */
  number(from: number): number {
    const { bytes } = this;
    let at = from;
    let value = 0;
    for (let digit = this.digit(at); digit >= 0 && digit <= 9; digit = this.digit(at)) {
      value = value * 10 + digit;
      at += 1;
    }
    const digits = at - from;
    const isPlain = digits > 0 && digits <= MAX_PLAIN_DIGITS && (digits === 1 || bytes[from] !== ZERO);
    if (!isPlain || NUMBER_SIGNS.has(bytes[at] ?? 0)) return this.otherNumber(from);
    this.found = value;
    return at;
  }

  /** Most texts are a few letters, and to decode those natively costs more than they do. */
  private ascii(from: number, to: number): string {
    const { bytes } = this;
    const letters = to - from;
    if (letters > 12) return bytes.toString('latin1', from, to);
    let text = '';
    let at = from;
    for (; at + 4 <= to; at += 4)
      text += String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
    const [a = 0, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    const rest = to - at;
    if (rest === 1) return text + String.fromCharCode(a);
    if (rest === 2) return text + String.fromCharCode(a, b);
    if (rest === 3) return text + String.fromCharCode(a, b, c);
    return text;
  }

  private digit(at: number): number {
    return (this.bytes[at] ?? 0) - ZERO;
  }

  private escapedText(from: number, backslash: number): number {
    let at = backslash;
    for (let byte = this.bytes[at] ?? 0; byte !== QUOTE; byte = this.bytes[at] ?? 0) {
      if (byte < FIRST_PRINTABLE) return MISFIT;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const value = parseJson(this.bytes.toString('utf8', from - 1, at + 1));
    if (typeof value !== 'string') return MISFIT;
    this.found = value;
    return at;
  }

  private otherNumber(from: number): number {
    let at = from;
    while (NUMBER_SIGNS.has(this.bytes[at] ?? 0)) at += 1;
    const value = parseJson(this.bytes.toString('latin1', from, at));
    if (typeof value !== 'number') return MISFIT;
    this.found = value;
    return at;
  }
}
