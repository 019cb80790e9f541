/**
 * Follows the frames in the byte stream of a client (RFC 6455, 5.2), which the library does not tell: where the newest unfinished
 * message begins, so that another worker can read on from there, and that a fragment of it has come, which proves that the client
 * lives. It looks at headers alone and judges nothing: the library does that.
 */

export interface TailSink {
  /** Bytes of the unfinished message; `from` of them were kept before. `from` 0 with no bytes: nothing is unfinished. */
  keepTail(bytes: Uint8Array, from: number): void;
}

const shortestHeader = 2;
const maskBytes = 4;
const lengthOf16 = 126;
const lengthOf64 = 127;

export class FrameTail {
  readonly #sink: TailSink | undefined;
  /** Bytes of the unfinished message before the present chunk. */
  #kept = 0;
  /** Bytes of a header that is split between chunks. */
  readonly #header = new Uint8Array(14);
  #headerFilled = 0;
  /** Bytes of the present frame's payload that are still to come. */
  #payloadLeft = 0;
  #isControl = false;
  #isFinal = false;
  /** A message of several frames is under way. */
  #inMessage = false;

  constructor(sink?: TailSink) {
    this.#sink = sink;
  }

  /** Takes a chunk as it came from the socket, before anybody else reads it. Returns whether a frame ended in it. */
  take(chunk: Uint8Array): boolean {
    let at = 0;
    let hasFrame = false;
    /** Where in the chunk the unfinished message begins; before the chunk while undefined. */
    let start = this.#kept === 0 ? 0 : undefined;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= step;
        at += step;
      } else {
        this.#header[this.#headerFilled] = chunk[at] ?? 0;
        this.#headerFilled += 1;
        at += 1;
        if (!this.#headerIsWhole()) continue;
        this.#beginFrame();
      }
      if (this.#payloadLeft > 0) continue;
      hasFrame = true;
      if (this.#messageEnds()) start = at;
    }
    this.#keep(chunk, start);
    return hasFrame;
  }

  #headerIsWhole(): boolean {
    return this.#headerFilled >= shortestHeader && this.#headerFilled >= headerLength(this.#header);
  }

  #beginFrame(): void {
    const first = this.#header[0] ?? 0;
    this.#isFinal = (first & 0x80) !== 0;
    this.#isControl = (first & 0x08) !== 0;
    this.#payloadLeft = payloadLength(this.#header);
    this.#headerFilled = 0;
  }

  /** A frame is over: does a message end with it, so that nothing is unfinished? */
  #messageEnds(): boolean {
    if (this.#isControl) return !this.#inMessage;
    this.#inMessage = !this.#isFinal;
    return this.#isFinal;
  }

  #keep(chunk: Uint8Array, start: number | undefined): void {
    if (start === undefined) {
      this.#sink?.keepTail(chunk, this.#kept);
      this.#kept += chunk.length;
      return;
    }
    const length = chunk.length - start;
    if (length === 0 && this.#kept === 0) return;
    this.#sink?.keepTail(chunk.subarray(start), 0);
    this.#kept = length;
  }
}

/** Bytes of the header that begins with these; at least two of them are there. */
export function headerLength(header: Uint8Array): number {
  const second = header[1] ?? 0;
  const mask = (second & 0x80) === 0 ? 0 : maskBytes;
  const length = second & 0x7f;
  return shortestHeader + mask + (length === lengthOf16 ? 2 : length === lengthOf64 ? 8 : 0);
}

/** Bytes of the payload behind a header that is whole. */
export function payloadLength(header: Uint8Array): number {
  const length = (header[1] ?? 0) & 0x7f;
  if (length < lengthOf16) return length;
  const bytes = length === lengthOf16 ? 2 : 8;
  let value = 0;
  for (let i = 0; i < bytes; i += 1) value = value * 256 + (header[shortestHeader + i] ?? 0);
  return value;
}
