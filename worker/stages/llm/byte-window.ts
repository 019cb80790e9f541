/**
 * A copy of the next bytes of a stream, from which runs of bytes are compared four at a time and JSON scalars are read.
 *
 * Invariant: scalars may be sought behind the end, among bytes of before, but `has` is never true there. So whoever
 * believes a scalar only together with the bytes that follow it, sees nothing but what was shown. It must not read what
 * JSON.parse would read otherwise, or refuse.
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
/** The last word of a run may reach over the end of what it is in. */
const SLACK = 4;
const NUMBER_SIGNS = new Set(Buffer.from('+-.0123456789Ee'));

/** Bytes to compare with, as a copy. */
export function sampleOf(bytes: Uint8Array): DataView {
  const copy = new Uint8Array(bytes.length + SLACK);
  copy.set(bytes);
  return new DataView(copy.buffer);
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
    this.bytes = Buffer.alloc(maxBytes + SLACK);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }

  /** Copies the chunk from `from` on, as much as there is room for. */
  show(chunk: Buffer, from: number): void {
    this.end = Math.min(chunk.length - from, this.maxBytes);
    this.bytes.set(this.end === chunk.length ? chunk : chunk.subarray(from, from + this.end));
  }

  /** True when these bytes of the sample are at `at`. */
  has(sample: DataView, { from, length }: Run, at: number): boolean {
    if (at + length > this.end) return false;
    const { view } = this;
    let done = 0;
    for (; done + 4 <= length; done += 4) {
      if (view.getInt32(at + done) !== sample.getInt32(from + done)) return false;
    }
    const rest = length - done;
    // Of the last word only the first bytes count, which are its upper ones.
    const differs = view.getInt32(at + done) ^ sample.getInt32(from + done);
    return rest === 0 || differs >>> (32 - 8 * rest) === 0;
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
