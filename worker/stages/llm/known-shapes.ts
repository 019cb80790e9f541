/**
 * The shapes of events that a stage has learned, for all its answers: the second answer of a provider is read by what the
 * first one taught.
 *
 * Invariant: the same object serves every answer, so one event at a time is lent, and nothing is lent to whoever reads
 * while another one's is. What is kept is bounded, and learning is: an attempt costs a credit, events that fit earn it back.
 * Whatever a server sends, what is not known is parsed.
 */
import type { Window } from './byte-window.ts';
import {
  draftOf,
  fit,
  forget,
  outlineOf,
  shapeOf,
  type Draft,
  type ReadEvent,
  type Shape,
} from './event-shape.ts';
import type { JsonRecord } from './json.ts';

const MAX_SHAPES = 16;
const MAX_DRAFTS = 16;
/** Longer events are not learned. */
export const MAX_SHAPE_BYTES = 2_048;
/** Attempts to learn that fit nothing, until an event that fits or another answer pays for more. */
const MAX_ATTEMPTS = 32;
const FITS_OF_ATTEMPT = 8;
const ATTEMPTS_OF_ANSWER = 2;
const FULL = MAX_ATTEMPTS * FITS_OF_ATTEMPT;

/** Members of an event's object that a stream looks at in no event with this `type`, whatever they are. */
export type UnreadOf = (body: JsonRecord) => readonly string[];

/** A shape, and what answers went on with after such an event when it was not another one. */
export interface KnownShape {
  shape: Shape;
  next: KnownShape | undefined;
  /** Counts up with every event that fits any shape. */
  fittedAt: number;
}

export class KnownShapes {
  /** Where the event ends that was found last. */
  foundEnd = 0;
  private readonly unreadOf: UnreadOf;
  private readonly shapes: KnownShape[] = [];
  /** The oldest first. */
  private readonly drafts: Draft[] = [];
  private credit = FULL;
  private fitted = 0;
  private isLent = false;

  constructor(unreadOf: UnreadOf = () => []) {
    this.unreadOf = unreadOf;
  }

  /** True when there is nothing to compare an event with. */
  get isIdle(): boolean {
    return this.shapes.length === 0 || this.isLent;
  }

  /** An answer begins, which may be of another kind than those before. */
  answer(): void {
    this.earn(ATTEMPTS_OF_ANSWER * FITS_OF_ATTEMPT);
  }

  /** The shape that the event at this position of the window fits, likely ones first. */
  find(window: Window, at: number, last: KnownShape | undefined): KnownShape | undefined {
    const next = last?.next;
    if (last !== undefined && this.fits(last, window, at)) return last;
    if (next !== undefined && this.fits(next, window, at)) return next;
    for (const known of this.shapes) {
      if (known === last || known === next || !this.fits(known, window, at)) continue;
      if (last !== undefined) last.next = known;
      return known;
    }
    return undefined;
  }

  /** Lends the value of the shape that was found last. */
  lend({ shape }: KnownShape, to: (body: JsonRecord) => void): void {
    this.isLent = true;
    try {
      to(shape.value);
    } finally {
      forget(shape);
      this.isLent = false;
    }
  }

  /** Learns from an event that was parsed, as far as there is credit. Its body may be lent from now on. */
  learn(event: ReadEvent): void {
    if (event.bytes.length > MAX_SHAPE_BYTES || this.credit < FITS_OF_ATTEMPT || this.isLent) return;
    this.credit -= FITS_OF_ATTEMPT;
    const outline = outlineOf(event);
    if (outline === undefined) return;
    const { skeleton } = outline;
    const known = this.shapes.find(({ shape }) => shape.skeleton === skeleton);
    if (known !== undefined) {
      known.shape = shapeOf(outline, known.shape, this.unreadOf(event.body));
      return;
    }
    const drafted = this.drafts.findIndex((draft) => draft.skeleton === skeleton);
    const draft = this.drafts[drafted];
    if (draft === undefined) {
      if (this.drafts.push(draftOf(outline)) > MAX_DRAFTS) this.drafts.shift();
      return;
    }
    this.drafts.splice(drafted, 1);
    this.add(shapeOf(outline, draft, this.unreadOf(event.body)));
  }

  private fits(known: KnownShape, window: Window, at: number): boolean {
    const end = fit(known.shape, window, at);
    if (end === 0) return false;
    this.foundEnd = end;
    this.fitted += 1;
    known.fittedAt = this.fitted;
    this.earn(1);
    return true;
  }

  /** The one that was of no use for the longest time gives way. */
  private add(shape: Shape): void {
    const known = { shape, next: undefined, fittedAt: this.fitted };
    if (this.shapes.length < MAX_SHAPES) {
      this.shapes.push(known);
      return;
    }
    const oldest = this.shapes.reduce((a, b) => (b.fittedAt < a.fittedAt ? b : a));
    this.shapes[this.shapes.indexOf(oldest)] = known;
    for (const other of this.shapes) if (other.next === oldest) other.next = undefined;
  }

  private earn(credit: number): void {
    this.credit = Math.min(FULL, this.credit + credit);
  }
}
