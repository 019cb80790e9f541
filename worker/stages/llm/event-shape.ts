/**
 * The shape of an event: deltas of one answer are the same bytes but for a few strings and numbers, the holes. An event
 * that fits a shape has the value that JSON.parse would give, with what stands in the holes.
 *
 * Why that is so: every byte outside the holes is compared. A string hole takes bytes up to the first quote. Without a
 * backslash and without control characters they are its value; else JSON.parse reads that string alone, and what it
 * refuses does not fit. A number hole takes digits, or again what JSON.parse reads. So a hole holds one whole scalar and
 * no line ending, the lines and the structure are those of the learned event, and both sides of a hole are ASCII, so
 * that it can be decoded by itself.
 *
 * Invariant: a doubt is a misfit. It must not keep what it was given; shapes are small and hold no chunk.
 */
import { MISFIT, sampleOf, type Run, type Window } from './byte-window.ts';
import type { JsonRecord } from './json.ts';
import { layoutOf, type Scalar } from './json-layout.ts';
import type { SseEvent } from './sse.ts';

interface Hole {
  readonly isText: boolean;
  readonly holder: Record<string, unknown>;
  readonly key: string;
  /** What follows. */
  readonly run: Run;
}

export interface Shape {
  /** The learned event, a character for each byte, without its scalars: only events with the same one can be merged. */
  readonly skeleton: string;
  /** The scalars of the learned event, as they were written. */
  readonly written: readonly string[];
  /** Which of them are holes. */
  readonly isHole: readonly boolean[];
  /** Its bytes, which those outside the holes are compared with. */
  readonly sample: DataView;
  readonly head: Run;
  readonly holes: readonly Hole[];
  /** The value of the event that fitted last; the next one changes it. */
  readonly value: JsonRecord;
}

/** An event, the bytes it came in, and what its data says. */
export interface ReadEvent extends SseEvent {
  readonly bytes: Buffer;
  readonly body: JsonRecord;
}

/** The data field up to the brace of its value. */
const TO_VALUE = /(?:^|[\r\n])data: ?(?=\{)/;
const LINE_END = /[\r\n]/g;

/**
 * Learns from an event that did not fit, and keeps its body. The scalars in which it differs from an event of the same
 * skeleton become holes, in addition to those that are. Undefined when it is not certain what a hole would be.
 */
export function learn({ bytes, data, body }: ReadEvent, known: readonly Shape[]): Shape | undefined {
  const latin1 = bytes.toString('latin1');
  const found = TO_VALUE.exec(latin1);
  if (found === null) return undefined;
  const start = found.index + found[0].length;
  LINE_END.lastIndex = start;
  LINE_END.exec(latin1);
  const isOneLine = bytes.toString('utf8', start, LINE_END.lastIndex - 1) === data;
  if (!isOneLine) return undefined;
  const scalars = layoutOf({ bytes, latin1 }, { start, value: body });
  if (scalars === undefined) return undefined;
  const written = scalars.map(({ from, to }) => latin1.slice(from, to));
  const skeleton = runsAround(scalars, bytes.length)
    .map(({ from, length }) => latin1.slice(from, from + length))
    .join('\0');
  const last = known.find((shape) => shape.skeleton === skeleton);
  const isHole = scalars.map(
    (_, n) => last !== undefined && (last.isHole[n] === true || last.written[n] !== written[n]),
  );
  const open = scalars.filter((_, n) => isHole[n]);
  const [head, ...runs] = runsAround(open, bytes.length);
  if (head === undefined) return undefined;
  const holes = open.map(({ isText, holder, key }, n) => ({ isText, holder, key, run: runs[n] ?? head }));
  return { skeleton, written, isHole, sample: sampleOf(bytes), head, holes, value: body };
}

/** What stands before, between and after the scalars, to the end. */
function runsAround(scalars: readonly Scalar[], end: number): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const scalar of scalars) {
    runs.push({ from, length: scalar.from - from });
    from = scalar.to;
  }
  runs.push({ from, length: end - from });
  return runs;
}

/**
 * Reads the event at the start of the window. When it fits, `shape.value` is what JSON.parse would make of its data.
 *
 * @returns the event's length in bytes, 0 when it does not fit or is not whole.
 */
export function fit({ sample, head, holes }: Shape, window: Window): number {
  if (!window.has(sample, head, 0)) return 0;
  let at = head.length;
  for (const { isText, holder, key, run } of holes) {
    at = isText ? window.text(at) : window.number(at);
    if (at === MISFIT || !window.has(sample, run, at)) return 0;
    holder[key] = window.found;
    at += run.length;
  }
  return at;
}
