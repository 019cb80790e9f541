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

export class SseParser {
  private readonly maxEventBytes: number;
  private parts: Buffer[] = [];
  private eventBytes = 0;
  private skipLf = false;
  private firstLine = true;
  private event = '';
  private data: string[] = [];
  private isBare = false;

  /** @param maxEventBytes bound of one event with all its lines, comments included (spec 03: 1 MiB). */
  constructor(maxEventBytes: number) {
    this.maxEventBytes = maxEventBytes;
  }

  /** Returns the events that the chunk completed, or `too-large` when one is over the bound; the stream is lost then. */
  push(chunk: Buffer): SseEvent[] | 'too-large' {
    const events: SseEvent[] = [];
    let start = 0;
    if (this.skipLf && chunk.length > 0) {
      this.skipLf = false;
      if (chunk[0] === LF) start = 1;
    }
    // Where each line ending comes next; a stream without CR is searched for it once per chunk.
    let lf = chunk.indexOf(LF, start);
    let cr = chunk.indexOf(CR, start);
    while (lf >= 0 || cr >= 0) {
      const isCr = cr >= 0 && (lf < 0 || cr < lf);
      const at = isCr ? cr : lf;
      // The blank line after an event needs no decoding; the first line of all may hold a byte order mark.
      if (start === at && this.parts.length === 0 && !this.firstLine) this.dispatch(events);
      else if (!this.line(chunk.subarray(start, at), events)) return 'too-large';
      start = at + 1;
      if (isCr && start === chunk.length) this.skipLf = true;
      else if (isCr && chunk[start] === LF) start += 1;
      if (lf >= 0 && lf < start) lf = chunk.indexOf(LF, start);
      if (cr >= 0 && cr < start) cr = chunk.indexOf(CR, start);
    }
    return this.keep(chunk.subarray(start)) ? events : 'too-large';
  }

  /** What the end of the stream left open. Servers are seen to end without the last blank line. */
  end(): SseEvent | undefined {
    const events: SseEvent[] = [];
    if (this.parts.length > 0) this.line(Buffer.alloc(0), events);
    this.line(Buffer.alloc(0), events);
    return events[0];
  }

  private keep(rest: Buffer): boolean {
    if (rest.length === 0) return true;
    this.eventBytes += rest.length;
    // The chunk belongs to the socket; what outlives this call is copied.
    this.parts.push(Buffer.from(rest));
    return this.eventBytes <= this.maxEventBytes;
  }

  private line(tail: Buffer, events: SseEvent[]): boolean {
    this.eventBytes += tail.length;
    if (this.eventBytes > this.maxEventBytes) return false;
    let text: string;
    if (this.parts.length === 0) text = tail.toString('utf8');
    else {
      text = Buffer.concat([...this.parts, tail]).toString('utf8');
      this.parts = [];
    }
    if (this.firstLine) text = text.replace(/^\uFEFF/, '');
    this.firstLine = false;
    if (text === '') this.dispatch(events);
    else this.field(text);
    return true;
  }

  private dispatch(events: SseEvent[]): void {
    const [only = ''] = this.data;
    if (this.data.length > 0) {
      events.push({ event: this.event, data: this.data.length === 1 ? only : this.data.join('\n') });
      this.data = [];
    }
    this.event = '';
    this.isBare = false;
    this.eventBytes = 0;
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const skipped = line.charCodeAt(colon + 1) === SPACE ? 2 : 1;
    const value = colon < 0 ? '' : line.slice(colon + skipped);
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'error') {
      // Older llama.cpp builds put an error object into a field of this name.
      this.event = 'error';
      this.data.push(value);
    } else if (this.isBare || line.startsWith('{') || line.startsWith('[')) {
      // Some gateways break off with a bare JSON error where an event belongs.
      this.isBare = true;
      this.event = 'error';
      this.data.push(line);
    }
  }
}
