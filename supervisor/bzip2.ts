/**
 * Unpacks bzip2, block by block, because neither Node nor every machine can. Bytes come from a function and go to a function, so
 * that a large file needs little memory. Pinned archives alone come here, and still every length is checked.
 */

/** The bytes are no bzip2, or are cut off or damaged. */
export class Bzip2Error extends Error {
  constructor() {
    super('the archive is damaged');
  }
}

const blockMagic = 0x3141_5926_5359;
const endMagic = 0x1772_4538_5090;
const symbolsPerGroup = 50;
const longestCode = 20;

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  return value;
});

class Bits {
  readonly #read: () => Uint8Array | undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #value = 0;
  #count = 0;

  constructor(read: () => Uint8Array | undefined) {
    this.#read = read;
  }

  /** Up to 24 bits, the first one highest. */
  take(count: number): number {
    while (this.#count < count) {
      if (this.#at >= this.#bytes.length) this.#refill();
      this.#value = ((this.#value << 8) | (this.#bytes[this.#at] ?? 0)) >>> 0;
      this.#at += 1;
      this.#count += 8;
    }
    this.#count -= count;
    const taken = (this.#value >>> this.#count) & ((1 << count) - 1);
    this.#value &= (1 << this.#count) - 1;
    return taken;
  }

  /** Leaves out what is left of a byte. False at the end of the file. */
  nextByte(): boolean {
    this.#count -= this.#count % 8;
    this.#value &= (1 << this.#count) - 1;
    return this.#count > 0 || this.#at < this.#bytes.length || this.#more();
  }

  #refill(): void {
    if (!this.#more()) throw new Bzip2Error();
  }

  #more(): boolean {
    const bytes = this.#read();
    if (bytes === undefined || bytes.length === 0) return false;
    this.#bytes = bytes;
    this.#at = 0;
    return true;
  }
}

/** Canonical codes: symbols in the order of their codes, and where each length begins. */
interface Code {
  readonly symbols: Uint16Array;
  readonly limit: Int32Array;
  readonly base: Int32Array;
  readonly shortest: number;
}

function newCode(lengths: Uint8Array): Code {
  const count = new Int32Array(longestCode + 2);
  for (const length of lengths) count[length] = (count[length] ?? 0) + 1;
  const symbols = new Uint16Array(lengths.length);
  const limit = new Int32Array(longestCode + 2).fill(-1);
  const base = new Int32Array(longestCode + 2);
  let [code, index] = [0, 0];
  for (let length = 1; length <= longestCode; length += 1) {
    base[length] = index - code;
    for (let symbol = 0; symbol < lengths.length; symbol += 1)
      if (lengths[symbol] === length) symbols[index++] = symbol;
    code += count[length] ?? 0;
    if ((count[length] ?? 0) > 0) limit[length] = code - 1;
    code <<= 1;
  }
  return { symbols, limit, base, shortest: Math.min(...lengths) };
}

function readSymbol(bits: Bits, code: Code): number {
  let value = bits.take(code.shortest);
  for (let length = code.shortest; length <= longestCode; length += 1) {
    if (value <= (code.limit[length] ?? -1)) return code.symbols[value + (code.base[length] ?? 0)] ?? 0;
    value = (value << 1) | bits.take(1);
  }
  throw new Bzip2Error();
}

/** The bytes that occur in the block, in order. */
function readUsed(bits: Bits): number[] {
  const groups = bits.take(16);
  const used: number[] = [];
  for (let group = 0; group < 16; group += 1) {
    if ((groups & (0x8000 >> group)) === 0) continue;
    const members = bits.take(16);
    for (let member = 0; member < 16; member += 1)
      if ((members & (0x8000 >> member)) !== 0) used.push(group * 16 + member);
  }
  return used;
}

function toFront(list: number[] | Uint8Array, at: number): number {
  const value = list[at] ?? 0;
  for (let i = at; i > 0; i -= 1) list[i] = list[i - 1] ?? 0;
  list[0] = value;
  return value;
}

function readSelectors(bits: Bits, codes: number): Uint8Array {
  const order = Array.from({ length: codes }, (_, index) => index);
  const selectors = new Uint8Array(bits.take(15));
  for (let i = 0; i < selectors.length; i += 1) {
    let at = 0;
    while (bits.take(1) === 1) at += 1;
    if (at >= codes) throw new Bzip2Error();
    selectors[i] = toFront(order, at);
  }
  return selectors;
}

function readCode(bits: Bits, symbols: number): Code {
  const lengths = new Uint8Array(symbols);
  let length = bits.take(5);
  for (let symbol = 0; symbol < symbols; symbol += 1) {
    while (bits.take(1) === 1) length += bits.take(1) === 0 ? 1 : -1;
    if (length < 1 || length > longestCode) throw new Bzip2Error();
    lengths[symbol] = length;
  }
  return newCode(lengths);
}

/** Fills `block` with the transformed bytes; returns how many there are. */
function readBlock(bits: Bits, block: Uint32Array): number {
  const front = Uint8Array.from(readUsed(bits));
  const symbols = front.length + 2;
  const end = symbols - 1;
  const codeCount = bits.take(3);
  if (front.length === 0 || codeCount < 2 || codeCount > 6) throw new Bzip2Error();
  const selectors = readSelectors(bits, codeCount);
  const codes = Array.from({ length: codeCount }, () => readCode(bits, symbols));
  let [length, group, left, run, weight] = [0, 0, 0, 0, 1];
  let code: Code | undefined;
  for (;;) {
    if (left === 0) {
      code = codes[selectors[group] ?? codeCount];
      group += 1;
      left = symbolsPerGroup;
    }
    if (code === undefined) throw new Bzip2Error();
    left -= 1;
    const symbol = readSymbol(bits, code);
    if (symbol <= 1) {
      run += weight << symbol;
      weight <<= 1;
      if (run > block.length) throw new Bzip2Error();
      continue;
    }
    if (run > 0) {
      if (length + run > block.length) throw new Bzip2Error();
      block.fill(front[0] ?? 0, length, length + run);
      length += run;
      [run, weight] = [0, 1];
    }
    if (symbol === end) return length;
    if (length >= block.length) throw new Bzip2Error();
    block[length] = toFront(front, symbol - 1);
    length += 1;
  }
}

/** Undoes the transform in place: the upper bits of an entry lead to the next one. */
function link(block: Uint32Array, length: number): void {
  const places = new Int32Array(256);
  for (let i = 0; i < length; i += 1)
    places[(block[i] ?? 0) & 0xff] = (places[(block[i] ?? 0) & 0xff] ?? 0) + 1;
  let sum = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    sum += places[byte] ?? 0;
    places[byte] = sum - (places[byte] ?? 0);
  }
  for (let i = 0; i < length; i += 1) {
    const byte = (block[i] ?? 0) & 0xff;
    const place = places[byte] ?? 0;
    block[place] = (block[place] ?? 0) | (i << 8);
    places[byte] = place + 1;
  }
}

/** Gives the bytes of a block, runs unfolded; returns their checksum. */
function unfold(
  block: Uint32Array,
  { length, start }: { length: number; start: number },
  write: (bytes: Uint8Array) => void,
): number {
  const out = new Uint8Array(65_536);
  let [at, crc, same, last] = [0, 0xffff_ffff, 0, -1];
  const put = (byte: number): void => {
    crc = (crc << 8) ^ (crcTable[((crc >>> 24) ^ byte) & 0xff] ?? 0);
    out[at] = byte;
    at += 1;
    if (at < out.length) return;
    write(out);
    at = 0;
  };
  let entry = (block[start] ?? 0) >>> 8;
  for (let i = 0; i < length; i += 1) {
    const value = block[entry] ?? 0;
    entry = value >>> 8;
    const byte = value & 0xff;
    if (same === 4) {
      // Behind four equal bytes stands how many more there are.
      for (let more = byte; more > 0; more -= 1) put(last);
      [same, last] = [0, -1];
      continue;
    }
    same = byte === last ? same + 1 : 1;
    last = byte;
    put(byte);
  }
  write(out.subarray(0, at));
  return ~crc >>> 0;
}

const take32 = (bits: Bits): number => ((bits.take(16) << 16) | bits.take(16)) >>> 0;
const take48 = (bits: Bits): number => bits.take(24) * 0x100_0000 + bits.take(24);

/**
 * Reads streams from `read`, which gives nothing at the end of the file, and gives the bytes to `write`, which must take
 * them at once. Throws {@link Bzip2Error}.
 */
export function unpackBzip2(read: () => Uint8Array | undefined, write: (bytes: Uint8Array) => void): void {
  const bits = new Bits(read);
  do unpackStream(bits, write);
  while (bits.nextByte());
}

function unpackStream(bits: Bits, write: (bytes: Uint8Array) => void): void {
  const size = bits.take(24) === 0x42_5a68 ? bits.take(8) - 0x30 : 0;
  if (size < 1 || size > 9) throw new Bzip2Error();
  const block = new Uint32Array(size * 100_000);
  let sum = 0;
  for (;;) {
    const magic = take48(bits);
    const expected = take32(bits);
    if (magic === endMagic) {
      if (expected !== sum) throw new Bzip2Error();
      return;
    }
    // Blocks in the form of versions before 0.9.5 are not made any more.
    if (magic !== blockMagic || bits.take(1) !== 0) throw new Bzip2Error();
    const start = bits.take(24);
    const length = readBlock(bits, block);
    if (start >= length) throw new Bzip2Error();
    link(block, length);
    const crc = unfold(block, { length, start }, write);
    if (crc !== expected) throw new Bzip2Error();
    sum = (((sum << 1) | (sum >>> 31)) ^ crc) >>> 0;
  }
}
