/**
 * Follows the frames in the byte stream of a client (RFC 6455, 5.2), which the library does not tell: which messages nobody has handled yet,
 * and where the newest unfinished one begins, so that another worker can read on from there; and that a fragment of it has come,
 * which proves that the client lives. It looks at headers alone and judges nothing: the library does that.
 *
 * Between reading a key and writing down what follows from it a worker can die, and what was read is in no socket any more. A caller's
 * audio is not kept: there is more of it at once.
 */

export interface TailSink {
  /**
   * Messages that nobody has handled, and bytes of the unfinished one; `from` of them were kept before, and `earlier` bytes of messages
   * are handled and gone. None at all: everything is handled.
   */
  keepTail(bytes: Uint8Array, from: number, earlier: number): void;
  /** What is written down next holds what follows from so many bytes of messages. */
  handling(bytes: number): void;
  /** So many bytes of messages are handled. */
  handled(bytes: number): void;
}

/** The types of the messages that are kept until they are handled (RFC 6455, 5.2): text alone, or binary ones, too. */
const keptOpcodes = { text: [1], all: [1, 2] } as const;

/** Most bytes of messages that wait: many more keys than anybody presses, and less than a record has room for. */
const mostWaitingBytes = 8 * 1024;
const nothing = Buffer.alloc(0);
const shortestHeader = 2;
const maskBytes = 4;
const lengthOf16 = 126;
const lengthOf64 = 127;

export class FrameTail {
  readonly #sink: TailSink | undefined;
  readonly #keptOpcodes: readonly number[];
  /** Messages that wait to be handled; empty for one that is not kept. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** The unfinished message before the present chunk. */
  #begun: Uint8Array = nothing;
  /** Bytes that were kept before it. */
  #before = 0;
  /** Bytes of all messages that are handled, and how many of them came before what was kept last. Both wrap at 32 bits. */
  #handled = 0;
  #earlier = 0;
  /** Bytes of a header that is split between chunks. */
  readonly #header = new Uint8Array(14);
  #headerFilled = 0;
  /** Bytes of the present frame's payload that are still to come. */
  #payloadLeft = 0;
  #isControl = false;
  #isFinal = false;
  /** Type of the message of several frames that is under way; 0: none is. */
  #openOpcode = 0;
  #opcode = 0;

  constructor(sink?: TailSink, kept: keyof typeof keptOpcodes = 'text') {
    this.#sink = sink;
    this.#keptOpcodes = keptOpcodes[kept];
  }

  /**
   * Takes a chunk as it came from the socket, before anybody else reads it. Returns whether a frame ended in it. Of one that a dead
   * worker has read before, no message is kept again: should it be what killed that one, it kills no third.
   */
  take(chunk: Uint8Array, isAgain = false): boolean {
    let at = 0;
    let hasFrame = false;
    /** Where in the chunk the unfinished message begins, behind what was begun before. */
    let start = 0;
    const before = this.#begun;
    const waited = this.#waiting.length;
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
      if (!this.#messageEnds()) continue;
      if (!this.#isControl && this.#keptOpcodes.includes(this.#opcode))
        this.#wait(chunk.subarray(start, at), isAgain);
      this.#begun = nothing;
      start = at;
    }
    const rest = chunk.subarray(start);
    if (this.#waiting.length === waited && this.#begun === before && before.length > 0)
      this.#sink?.keepTail(rest, this.#before + before.length, this.#earlier);
    else this.#keepAll(rest, before.length > 0);
    this.#begun = this.#begun.length === 0 ? rest : Buffer.concat([this.#begun, rest]);
    return hasFrame;
  }

  /** The oldest message that waits is handled now. */
  handling(): void {
    this.#sink?.handling((this.#handled + (this.#waiting[0]?.length ?? 0)) | 0);
  }

  /** It was, and what follows from it is written down. */
  handled(): void {
    const bytes = this.#waiting.shift()?.length ?? 0;
    if (bytes === 0) return;
    this.#waitingBytes -= bytes;
    this.#handled = (this.#handled + bytes) | 0;
    this.#sink?.handled(this.#handled);
  }

  #wait(end: Uint8Array, isAgain: boolean): void {
    const bytes = this.#begun.length + end.length;
    if (isAgain || this.#waitingBytes + bytes > mostWaitingBytes) {
      this.#waiting.push(nothing);
      return;
    }
    this.#waiting.push(this.#begun.length === 0 ? end : Buffer.concat([this.#begun, end]));
    this.#waitingBytes += bytes;
  }

  #keepAll(rest: Uint8Array, hadRest: boolean): void {
    if (
      this.#waitingBytes === 0 &&
      rest.length === 0 &&
      !hadRest &&
      this.#before === ((this.#handled - this.#earlier) | 0)
    )
      return;
    const [first = nothing] = this.#waiting;
    const isOne = this.#waiting.length === 1 && rest.length === 0;
    const all = isOne ? first : this.#waitingBytes === 0 ? rest : Buffer.concat([...this.#waiting, rest]);
    this.#sink?.keepTail(all, 0, this.#handled);
    this.#before = this.#waitingBytes;
    this.#earlier = this.#handled;
  }

  #headerIsWhole(): boolean {
    return this.#headerFilled >= shortestHeader && this.#headerFilled >= headerLength(this.#header);
  }

  #beginFrame(): void {
    const first = this.#header[0] ?? 0;
    this.#isFinal = (first & 0x80) !== 0;
    this.#isControl = (first & 0x08) !== 0;
    if (!this.#isControl) this.#opcode = this.#openOpcode === 0 ? first & 0x0f : this.#openOpcode;
    this.#payloadLeft = payloadLength(this.#header);
    this.#headerFilled = 0;
  }

  /** A frame is over: does a message end with it, so that nothing is unfinished? */
  #messageEnds(): boolean {
    if (this.#isControl) return this.#openOpcode === 0;
    this.#openOpcode = this.#isFinal ? 0 : this.#opcode;
    return this.#isFinal;
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
