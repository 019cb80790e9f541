/**
 * Marks where the client echoes none: a mark has been played once the audio before it had time to reach the client's ear, by the way of
 * the network and the client's own buffer. A mark that is cut is never played. Pure, time as an argument.
 */
import type { Millis } from '../../shared/base/units.ts';

/** What a client's jitter buffer and loudspeaker hold back; browsers keep 40 to 120 ms. */
const clientBufferMs: Millis = 80;
/** Until the client has reported. */
const assumedRoundTripMs: Millis = 60;
/** More are not out at once; of more, the oldest count as played. */
const mostMarks = 256;

interface SentMark {
  readonly id: string;
  readonly playedAt: Millis;
}

export class PlayoutClock {
  readonly #marks: SentMark[] = [];
  #roundTripMs: Millis = assumedRoundTripMs;
  #jitterMs: Millis = 0;
  /** When the newest audio went out; a mark behind it is played with it, however much later it comes. */
  #audioAt: Millis = Infinity;

  /** The client told how it is reached. */
  noteWay(way: { readonly roundTripMs?: Millis | undefined; readonly jitterMs: Millis }): void {
    if (way.roundTripMs !== undefined) this.#roundTripMs = way.roundTripMs;
    this.#jitterMs = way.jitterMs;
  }

  /** From sending audio to its being heard. */
  get delayMs(): Millis {
    return this.#roundTripMs / 2 + clientBufferMs + 2 * this.#jitterMs;
  }

  audioSent(now: Millis): void {
    this.#audioAt = now;
  }

  sent(id: string, now: Millis): void {
    const playedAt = Math.max(Math.min(now, this.#audioAt) + this.delayMs, this.#marks.at(-1)?.playedAt ?? 0);
    this.#marks.push({ id, playedAt });
    if (this.#marks.length > mostMarks) this.#marks.shift();
  }

  cleared(): void {
    this.#marks.length = 0;
  }

  /** The next mark that has been played by now. */
  takePlayed(now: Millis): string | undefined {
    const [mark] = this.#marks;
    if (mark === undefined || mark.playedAt > now) return undefined;
    this.#marks.shift();
    return mark.id;
  }
}
