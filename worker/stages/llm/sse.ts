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

export class SseParser {
  private readonly maxEventBytes: number;
  private parts: Buffer[] = [];
  private eventBytes = 0;
  private skipLf = false;
  private firstLine = true;
  private event = '';
  private data: string[] = [];

  /** @param maxEventBytes bound of one event with all its lines, comments included (spec 03: 1 MiB). */
  constructor(maxEventBytes: number) {
    this.maxEventBytes = maxEventBytes;
  }

  /** Returns the events that the chunk completed, or `too-large` when one is over the bound; the stream is lost then. */
  push(chunk: Buffer): SseEvent[] | 'too-large' {
    const events: SseEvent[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) {
        this.skipLf = false;
        continue;
      }
      if (byte === LF && this.skipLf) {
        this.skipLf = false;
        start = at + 1;
        continue;
      }
      this.skipLf = byte === CR;
      if (!this.line(chunk.subarray(start, at), events)) return 'too-large';
      start = at + 1;
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
    const bytes = this.parts.length === 0 ? tail : Buffer.concat([...this.parts, tail]);
    this.parts = [];
    let text = bytes.toString('utf8');
    if (this.firstLine) text = text.replace(/^\uFEFF/, '');
    this.firstLine = false;
    if (text === '') this.dispatch(events);
    else this.field(text);
    return true;
  }

  private dispatch(events: SseEvent[]): void {
    if (this.data.length > 0) events.push({ event: this.event, data: this.data.join('\n') });
    this.event = '';
    this.data = [];
    this.eventBytes = 0;
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'error') {
      // Older llama.cpp builds put an error object into a field of this name.
      this.event = 'error';
      this.data.push(value);
    }
  }
}
