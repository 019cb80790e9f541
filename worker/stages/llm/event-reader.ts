/**
 * Feeds the events of a response to its stream, and remembers their shapes: most events are the one before with another
 * text, and those need no parser.
 *
 * Invariant: the stream is told what it would be told if every event went through JSON.parse. Learning is bounded: each
 * attempt costs a credit, events that fit earn it back, and without credit everything is parsed.
 */
import { Window } from './byte-window.ts';
import { fit, learn, type ReadEvent, type Shape } from './event-shape.ts';
import { parseJson, recordOf, type JsonRecord } from './json.ts';
import { SseParser, type SseEvent } from './sse.ts';

const MAX_SHAPES = 4;
/** Longer events are parsed. */
const MAX_SHAPE_BYTES = 2_048;
/** An event is learned from when one of so many parsed before it was of its kind. */
const MAX_KINDS = 3;
/** Attempts to learn that fit nothing, until shapes are given up; so many events that fit pay for another attempt. */
const MAX_ATTEMPTS = 24;
const FITS_OF_ATTEMPT = 8;

/** Shared by all streams: it is filled and read within one event. */
const window = new Window(MAX_SHAPE_BYTES);

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
}

export class EventReader {
  private readonly sink: EventSink;
  private readonly isOver: () => boolean;
  private readonly parser: SseParser;
  /** The newest first. */
  private readonly shapes: Shape[] = [];
  /** Of the last events that were parsed. */
  private readonly kinds: string[] = [];
  private credit = MAX_ATTEMPTS * FITS_OF_ATTEMPT;

  constructor(sink: EventSink, { maxEventBytes, isOver }: EventBounds) {
    this.sink = sink;
    this.isOver = isOver;
    this.parser = new SseParser(maxEventBytes);
  }

  /** Tells the events that the chunk completes; false when one is over the bound. */
  push(chunk: Buffer): boolean {
    const { parser } = this;
    parser.feed(chunk);
    while (parser.position < chunk.length && !this.isOver()) {
      const from = parser.position;
      const isWhole = parser.isBetweenEvents;
      if (isWhole && this.recall(chunk, from)) continue;
      const event = parser.next();
      if (event === undefined) return true;
      if (event === 'too-large') return false;
      const body = bodyOf(event);
      if (body === undefined) this.sink.event(event);
      else {
        this.sink.object(body);
        if (isWhole) this.remember({ bytes: chunk.subarray(from, parser.position), ...event, body });
      }
    }
    return true;
  }

  /** What the end of the response left open. */
  end(): SseEvent | undefined {
    return this.parser.end();
  }

  private recall(chunk: Buffer, from: number): boolean {
    if (this.shapes.length === 0 || this.credit < FITS_OF_ATTEMPT) return false;
    window.show(chunk, from);
    for (const shape of this.shapes) {
      const length = fit(shape, window);
      if (length === 0) continue;
      this.credit = Math.min(MAX_ATTEMPTS * FITS_OF_ATTEMPT, this.credit + 1);
      this.parser.skipTo(from + length);
      this.sink.object(shape.value);
      return true;
    }
    return false;
  }

  private remember(event: ReadEvent): void {
    if (event.bytes.length > MAX_SHAPE_BYTES || this.credit < FITS_OF_ATTEMPT || this.isNew(event)) return;
    this.credit -= FITS_OF_ATTEMPT;
    const shape = learn(event, this.shapes);
    if (shape === undefined) return;
    const known = this.shapes.findIndex(({ skeleton }) => skeleton === shape.skeleton);
    if (known >= 0) this.shapes[known] = shape;
    else if (this.shapes.unshift(shape) > MAX_SHAPES) this.shapes.pop();
  }

  /** What opens and what ends a stream comes once; to learn from it would be in vain. */
  private isNew({ event, body }: ReadEvent): boolean {
    const kind = `${event} ${Object.keys(body).join()}`;
    const isNew = !this.kinds.includes(kind);
    if (this.kinds.push(kind) > MAX_KINDS) this.kinds.shift();
    return isNew;
  }
}

/** The object of an event that has one and is no error. */
function bodyOf({ event, data }: SseEvent): JsonRecord | undefined {
  return event !== 'error' && data.startsWith('{') ? recordOf(parseJson(data)) : undefined;
}
