/**
 * Server-sent events out of a byte stream that may be split anywhere. Pure.
 *
 * Invariant: the same bytes give the same events however they were cut. Lines are found in bytes and decoded whole, so
 * a character never straddles a cut. It must not interpret the data, and it holds at most one event in memory.
 */

export interface SseEvent {
  /** The `event` field; empty when there was none. */
  readonly event: string;
  /** The `data` lines, joined with newlines. */
  readonly data: string;
}

/** The marker that ends a stream, however a server writes it. */
export const isEndMarker = ({ data }: SseEvent): boolean => /^\s*"?\[DONE\]/i.test(data);

/** Data that says nothing, as gateways write it. */
const emptyData = /^\s*(?:(?:null|true|""|\[\s*\]|"?(?:ping|heart-?beat|keep-?alive)"?)\s*)?$/i;
const keepAlive = /^\s*(?:ping|heart-?beat|keep-?alive)\s*$/i;

const LF = 0x0a;
const CR = 0x0d;

export class SseParser {
  readonly #maxEventBytes: number;
  /** The line that chunks so far have not ended. */
  #parts: Buffer[] = [];
  #eventBytes = 0;
  #endedInCr = false;
  #isFirstLine = true;
  #event = '';
  #data: string | undefined;
  #isBare = false;

  /** @param maxEventBytes bound of one event with all its lines, comments included. */
  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /**
   * The events that a chunk completes, which must be read to their end before the next chunk. `too-large`, the last one
   * then, when an event is over the bound: the stream is lost.
   */
  *push(chunk: Buffer): Generator<SseEvent | 'too-large'> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const isPair = byte === LF && this.#endedInCr;
      this.#endedInCr = byte === CR;
      if (isPair) start = at + 1;
      if (isPair || (byte !== LF && byte !== CR)) continue;
      if (!this.#hold(chunk.subarray(start, at))) {
        yield 'too-large';
        return;
      }
      start = at + 1;
      const event = this.#endLine();
      if (event !== undefined) yield event;
    }
    // The chunk belongs to the socket; what outlives this call is copied.
    if (!this.#hold(Buffer.from(chunk.subarray(start)))) yield 'too-large';
  }

  /** What the end of the stream left open. Servers are seen to end without the last blank line. */
  end(): SseEvent | undefined {
    return this.#endLine() ?? this.#dispatch();
  }

  /** False when the event is over its bound. */
  #hold(part: Buffer): boolean {
    if (part.length > 0) this.#parts.push(part);
    this.#eventBytes += part.length;
    return this.#eventBytes <= this.#maxEventBytes;
  }

  #endLine(): SseEvent | undefined {
    const line = Buffer.concat(this.#parts).toString('utf8');
    const text = this.#isFirstLine ? line.replace(/^\uFEFF/, '') : line;
    this.#parts = [];
    this.#isFirstLine = false;
    if (text === '') return this.#dispatch();
    this.#field(text);
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    // Some gateways keep a connection alive with events that hold nothing, or the time; what an error is named holds enough.
    const isIdle = keepAlive.test(this.#event) || emptyData.test(this.#data ?? '');
    const holds = this.#data !== undefined && (this.#event === 'error' || !isIdle);
    const found = holds ? { event: this.#event, data: this.#data ?? '' } : undefined;
    this.#data = undefined;
    this.#event = '';
    this.#isBare = false;
    this.#eventBytes = 0;
    return found;
  }

  #field(line: string): void {
    const [, name = line, value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
    if (name === 'data') this.#addData(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'error') {
      // Older llama.cpp builds put an error object into a field of this name.
      this.#event = 'error';
      this.#addData(value);
    } else if (this.#isBare || line.startsWith('{') || line.startsWith('[')) {
      // Some gateways break off with a bare JSON error where an event belongs.
      this.#isBare = true;
      this.#event = 'error';
      this.#addData(line);
    }
  }

  #addData(value: string): void {
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}
