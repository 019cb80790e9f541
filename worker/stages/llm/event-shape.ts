/**
 * The shape of an event: deltas are the same bytes but for a few strings and numbers, the holes. An event that fits a
 * shape has the value that JSON.parse would give, with what stands in the holes.
 *
 * Why that is so: every byte outside the holes is compared. A string hole takes bytes up to the first quote. Without a
 * backslash and without control characters they are its value; else JSON.parse reads that string alone, and what it
 * refuses does not fit. A number hole takes digits, or again what JSON.parse reads. So a hole holds one whole scalar and
 * no line ending, the lines and the structure are those of the learned event, and both sides of a hole are ASCII, so
 * that it can be decoded by itself.
 *
 * Invariant: a doubt is a misfit. A shape outlives the answer that it was learned from, so it keeps of it what two
 * events had in common and nothing else: neither chunks nor what stood in a hole.
 */
import { isComparable, MISFIT, type Run, type Window } from './byte-window.ts';
import type { JsonRecord } from './json.ts';
import { layoutOf, type Place, type Scalar } from './json-layout.ts';
import type { SseEvent } from './sse.ts';

interface Hole {
  readonly isText: boolean;
  /** Nobody looks at its value; it only has to be one. */
  readonly isUnread: boolean;
  readonly place: Place;
  /** What follows. */
  readonly run: Run;
}

export interface Shape {
  readonly skeleton: string;
  /** The scalars as they have to be written; undefined for holes. */
  readonly written: readonly (string | undefined)[];
  /** The bytes outside the holes, which an event is compared with. */
  readonly sample: DataView;
  readonly head: Run;
  readonly holes: readonly Hole[];
  /** The value of an event that fits, from `fit` until `forget`. */
  readonly value: JsonRecord;
}

/** What is remembered of the first event of its kind: enough to see what the second has in common with it. */
export interface Draft {
  readonly skeleton: string;
  /** A mark of each scalar as it was written. */
  readonly marks: readonly number[];
}

/** An event, the bytes it came in, and what its data says. */
export interface ReadEvent extends SseEvent {
  readonly bytes: Buffer;
  readonly body: JsonRecord;
}

/** An event taken apart. */
export interface Outline {
  /** The event without its scalars, a character for each byte; its `type` belongs to it. */
  readonly skeleton: string;
  readonly scalars: readonly Scalar[];
  /** The scalars as they are written. */
  readonly written: readonly string[];
  readonly bytes: Buffer;
  readonly body: JsonRecord;
}

/** The data field up to the brace of its value. */
const TO_VALUE = /(?:^|[\r\n])data: ?(?=\{)/;
const LINE_END = /[\r\n]/g;

/** Undefined when it is not certain what a hole would be. */
export function outlineOf({ bytes, data, body }: ReadEvent): Outline | undefined {
  const latin1 = bytes.toString('latin1');
  const found = TO_VALUE.exec(latin1);
  if (found === null) return undefined;
  const start = found.index + found[0].length;
  LINE_END.lastIndex = start;
  LINE_END.exec(latin1);
  const isOneLine = bytes.toString('utf8', start, LINE_END.lastIndex - 1) === data;
  if (!isOneLine) return undefined;
  const all = layoutOf({ bytes, latin1 }, { start, value: body });
  const scalars = all?.filter(
    ({ isText, place }) => !isText || place.holder !== body || place.key !== 'type',
  );
  if (scalars === undefined) return undefined;
  const runs = runsAround(scalars, bytes.length);
  if (!runs.every((run) => isComparable(bytes, run))) return undefined;
  const skeleton = runs.map(({ from, length }) => latin1.slice(from, from + length)).join('\0');
  const written = scalars.map(({ from, to }) => latin1.slice(from, to));
  return { skeleton, scalars, written, bytes, body };
}

export function draftOf({ skeleton, written }: Outline): Draft {
  return { skeleton, marks: written.map(markOf) };
}

/**
 * The shape of an event and of what is known of its kind, which has the same skeleton: holes are the scalars in which they
 * differ. It keeps the event's body.
 *
 * @param unread the members of the body that nobody looks at.
 */
export function shapeOf(outline: Outline, known: Draft | Shape, unread: readonly string[]): Shape {
  const { scalars, bytes, body } = outline;
  const written = outline.written.map((text, n) => {
    const isSame = 'marks' in known ? known.marks[n] === markOf(text) : known.written[n] === text;
    const { from = 0, to = 0 } = scalars[n] ?? {};
    return isSame && isComparable(bytes, { from, length: to - from }) ? text : undefined;
  });
  const open = scalars.filter((_, n) => written[n] === undefined);
  const [head = { from: 0, length: bytes.length }, ...runs] = runsAround(open, bytes.length);
  const holes = open.map(({ isText, place }, n): Hole => {
    const isUnread = !place.isList && place.holder === body && unread.includes(place.key);
    return { isText, isUnread, place, run: runs[n] ?? head };
  });
  const sample = new Uint8Array(bytes.length);
  for (const { from, length } of [head, ...runs]) sample.set(bytes.subarray(from, from + length), from);
  for (const { place, isText } of holes) put(place, isText ? '' : 0);
  return {
    skeleton: outline.skeleton,
    written,
    sample: new DataView(sample.buffer),
    head,
    holes,
    value: body,
  };
}

/**
 * Reads the event that begins at `at`. When it fits, `shape.value` is what JSON.parse would make of its data, except for
 * unread members.
 *
 * @returns the position of its end, 0 when it does not fit or is not whole.
 */
export function fit({ sample, head, holes }: Shape, window: Window, at: number): number {
  if (!window.has(sample, head, at)) return 0;
  let end = at + head.length;
  for (const { isText, isUnread, place, run } of holes) {
    if (isText) end = isUnread ? window.skipText(end) : window.text(end);
    else end = window.number(end);
    if (end === MISFIT || !window.has(sample, run, end)) return 0;
    if (!isUnread) put(place, window.found);
    end += run.length;
  }
  return end;
}

/** Takes out what the event said. */
export function forget({ holes }: Shape): void {
  for (const { isText, isUnread, place } of holes) if (isText && !isUnread) put(place, '');
}

function put(place: Place, value: string | number): void {
  if (place.isList) place.holder[place.key] = value;
  else place.holder[place.key] = value;
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

/** 32 bits of a text. Two texts with the same mark only make a sample of the second, which no event needs to fit. */
function markOf(text: string): number {
  let mark = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) mark = Math.imul(mark ^ text.charCodeAt(at), 0x01000193);
  return mark;
}
