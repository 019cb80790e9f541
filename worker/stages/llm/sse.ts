/**
 * Server-sent events out of a byte stream that may be split anywhere.
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

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const NONE: Buffer = Buffer.alloc(0);

export class SseParser {
  private readonly maxEventBytes: number;
  private chunk = NONE;
  private at = 0;
  /** Where the next line endings of the chunk are, its length for none; stale when they are before `at`. */
  private lf = -1;
  private cr = -1;
  private parts: Buffer[] = [];
  private eventBytes = 0;
  private skipLf = false;
  private firstLine = true;
  private event = '';
  private data: string | undefined;
  private isBare = false;

  /** @param maxEventBytes bound of one event with all its lines, comments included (spec 03: 1 MiB). */
  constructor(maxEventBytes: number) {
    this.maxEventBytes = maxEventBytes;
  }

  /** Takes a chunk, which must stay as it is until `next` has nothing more; that of before must be read to its end. */
  feed(chunk: Buffer): void {
    this.chunk = chunk;
    this.at = 0;
    this.lf = -1;
    this.cr = -1;
  }

  /**
   * The next event of the chunk; undefined when there is none that is whole, and the rest is kept for the next chunk.
   * `too-large` when an event is over the bound; the stream is lost then.
   */
  next(): SseEvent | 'too-large' | undefined {
    const { chunk } = this;
    if (this.skipLf && this.at < chunk.length) {
      this.skipLf = false;
      if (chunk[this.at] === LF) this.at += 1;
    }
    for (let end = this.lineEnd(); end < chunk.length; end = this.lineEnd()) {
      const text = this.lineText(this.at, end);
      this.at = end + 1;
      if (chunk[end] === CR) {
        if (this.at === chunk.length) this.skipLf = true;
        else if (chunk[this.at] === LF) this.at += 1;
      }
      if (text === undefined) return 'too-large';
      if (text !== '') this.field(text);
      else {
        const event = this.dispatch();
        if (event !== undefined) return event;
      }
    }
    return this.keep() ? undefined : 'too-large';
  }

  /** What the end of the stream left open. Servers are seen to end without the last blank line. */
  end(): SseEvent | undefined {
    const text = this.parts.length > 0 ? this.lineText(0, 0) : undefined;
    if (text !== undefined) this.field(text);
    return this.dispatch();
  }

  private lineEnd(): number {
    const { chunk, at } = this;
    if (this.lf < at) this.lf = indexOrEnd(chunk, LF, at);
    // A stream without CR is searched for it once per chunk.
    if (this.cr < at) this.cr = indexOrEnd(chunk, CR, at);
    return Math.min(this.lf, this.cr);
  }

  private keep(): boolean {
    const rest = this.chunk.subarray(this.at);
    this.feed(NONE);
    if (rest.length === 0) return true;
    this.eventBytes += rest.length;
    // The chunk belongs to the socket; what outlives this call is copied.
    this.parts.push(Buffer.from(rest));
    return this.eventBytes <= this.maxEventBytes;
  }

  /** The line with what is held of it; undefined when its event is over the bound. */
  private lineText(start: number, end: number): string | undefined {
    this.eventBytes += end - start;
    if (this.eventBytes > this.maxEventBytes) return undefined;
    let text: string;
    if (this.parts.length > 0) {
      text = Buffer.concat([...this.parts, this.chunk.subarray(start, end)]).toString('utf8');
      this.parts = [];
    } else text = start === end ? '' : this.chunk.toString('utf8', start, end);
    if (this.firstLine) text = text.replace(/^\uFEFF/, '');
    this.firstLine = false;
    return text;
  }

  private dispatch(): SseEvent | undefined {
    const found = this.data === undefined ? undefined : { event: this.event, data: this.data };
    this.data = undefined;
    this.event = '';
    this.isBare = false;
    this.eventBytes = 0;
    return found;
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const skipped = line.charCodeAt(colon + 1) === SPACE ? 2 : 1;
    const value = colon < 0 ? '' : line.slice(colon + skipped);
    if (name === 'data') this.addData(value);
    else if (name === 'event') this.event = value;
    else if (name === 'error') {
      // Older llama.cpp builds put an error object into a field of this name.
      this.event = 'error';
      this.addData(value);
    } else if (this.isBare || line.startsWith('{') || line.startsWith('[')) {
      // Some gateways break off with a bare JSON error where an event belongs.
      this.isBare = true;
      this.event = 'error';
      this.addData(line);
    }
  }

  private addData(value: string): void {
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at < 0 ? chunk.length : at;
}
