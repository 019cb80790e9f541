/**
 * Feeds the events of a response to its stream: most are like one before with another text, and those need no parser.
 *
 * Invariant: the stream is told what it would be told if every event went through JSON.parse.
 */
import { Window } from './byte-window.ts';
import { parseJson, recordOf, type JsonRecord } from './json.ts';
import { KnownShapes, MAX_SHAPE_BYTES, type KnownShape } from './known-shapes.ts';
import { SseParser, type SseEvent } from './sse.ts';

/** Events that fit nothing, beyond those that fit, until an answer is only parsed. */
const MAX_MISFITS = 64;

const LF = 0x0a;
const NONE: Buffer = Buffer.alloc(0);

/** Shared by all streams: what is shown is read before anybody else is told anything. */
const window = new Window();

export interface EventSink {
  event(event: SseEvent): void;
  /** An event that is no error and whose data is this JSON object, which is valid during the call only. */
  object(body: JsonRecord): void;
}

export interface EventBounds {
  /** Of one event with all its lines. */
  readonly maxEventBytes: number;
  /** Asked between events: true when nobody wants any more. */
  readonly isOver: () => boolean;
  /** What answers before this one have taught. */
  readonly known?: KnownShapes;
}

export class EventReader {
  private readonly isOver: () => boolean;
  private readonly sink: EventSink;
  private readonly tell: (body: JsonRecord) => void;
  private readonly parser: SseParser;
  private readonly known: KnownShapes;
  private readonly maxShapeBytes: number;
  private last: KnownShape | undefined;
  private misfits = 0;
  /** An event that chunks before this one have cut, from its first byte on; empty when it is too long or nobody knows that. */
  private begun = NONE;

  constructor(sink: EventSink, { maxEventBytes, isOver, known = new KnownShapes() }: EventBounds) {
    this.sink = sink;
    this.tell = (body) => sink.object(body);
    this.isOver = isOver;
    this.parser = new SseParser(maxEventBytes);
    this.known = known;
    this.maxShapeBytes = Math.min(MAX_SHAPE_BYTES, maxEventBytes);
    known.answer();
  }

  /** Tells the events that the chunk completes; false when one is over the bound. */
  push(chunk: Buffer): boolean {
    const { parser } = this;
    parser.feed(chunk);
    window.release();
    if (this.begun.length > 0 && !this.isOver()) this.recallBegun(chunk);
    while (parser.position < chunk.length && !this.isOver()) {
      const from = parser.position;
      const isWhole = parser.isBetweenEvents;
      if (isWhole && this.recall(chunk, from)) continue;
      const event = parser.next();
      if (event === undefined) {
        this.keepBegun(chunk, { from, isWhole });
        break;
      }
      this.begun = NONE;
      if (event === 'too-large') return false;
      const body = bodyOf(event);
      if (body === undefined) this.sink.event(event);
      else {
        this.sink.object(body);
        if (isWhole) this.known.learn({ bytes: chunk.subarray(from, parser.position), ...event, body });
      }
    }
    window.release();
    return true;
  }

  /** What the end of the response left open. */
  end(): SseEvent | undefined {
    return this.parser.end();
  }

  private recall(chunk: Buffer, from: number): boolean {
    const { known } = this;
    if (known.isIdle || this.misfits >= MAX_MISFITS) return false;
    const at = window.show(chunk, from, this.maxShapeBytes);
    const found = known.find(window, at, this.last);
    if (found === undefined) {
      this.misfits += 1;
      return false;
    }
    if (this.misfits > 0) this.misfits -= 1;
    this.parser.skipTo(from + known.foundEnd - at);
    this.lend(found);
    return true;
  }

  /** Reads the event that ends in this chunk and has begun in another. */
  private recallBegun(chunk: Buffer): void {
    const { known, begun, parser } = this;
    if (known.isIdle || this.misfits >= MAX_MISFITS || !chunk.includes(LF)) return;
    window.join(begun, chunk, this.maxShapeBytes);
    const found = known.find(window, 0, this.last);
    const end = known.foundEnd - begun.length;
    if (found === undefined || end <= 0) return;
    this.begun = NONE;
    parser.restart();
    parser.skipTo(end);
    this.lend(found);
  }

  private keepBegun(
    chunk: Buffer,
    { from, isWhole }: { readonly from: number; readonly isWhole: boolean },
  ): void {
    const isKnown = isWhole || this.begun.length > 0;
    const bytes = (isWhole ? 0 : this.begun.length) + chunk.length - from;
    if (!isKnown || bytes > this.maxShapeBytes || this.known.isIdle) this.begun = NONE;
    else if (isWhole) this.begun = Buffer.from(chunk.subarray(from));
    else this.begun = Buffer.concat([this.begun, chunk.subarray(from)]);
  }

  private lend(found: KnownShape): void {
    this.last = found;
    this.known.lend(found, this.tell);
  }
}

/** The object of an event that has one and is no error. */
function bodyOf({ event, data }: SseEvent): JsonRecord | undefined {
  return event !== 'error' && data.startsWith('{') ? recordOf(parseJson(data)) : undefined;
}
