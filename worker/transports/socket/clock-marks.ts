/**
 * The marks of a client that echoes none and plays in real time: each is played when the audio before it must have been. Pure.
 *
 * Invariant: marks come out in the order in which they went in, each once. A mark that is cut is forgotten, as by a client that
 * clears.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';

export class ClockMarks {
  readonly #delayMs: Millis;
  readonly #marks: { readonly id: string; readonly playedAt: Millis }[] = [];
  /** When the client will have played what it was sent. */
  #endsAt: Millis = Number.NEGATIVE_INFINITY;

  /** `delayMs`: from sending a frame to hearing it, where the client has nothing else to play. */
  constructor({ delayMs }: { readonly delayMs: Millis }) {
    this.#delayMs = delayMs;
  }

  /** A frame went out. */
  sent(now: Millis): void {
    this.#endsAt = Math.max(this.#endsAt, now + this.#delayMs) + FRAME_MS;
  }

  /** A mark stands behind what went out. */
  add(id: string): void {
    this.#marks.push({ id, playedAt: this.#endsAt });
  }

  /** Nobody waits for these any more. */
  clear(): void {
    this.#marks.length = 0;
  }

  /** The next mark that was played by now; undefined when there is none. */
  next(now: Millis): string | undefined {
    const [first] = this.#marks;
    if (first === undefined || now < first.playedAt) return undefined;
    this.#marks.shift();
    return first.id;
  }
}
