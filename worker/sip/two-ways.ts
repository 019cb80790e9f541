/**
 * Keys that a peer sends twice, as events with the audio and as messages (INFO): both are one press. Of each way the presses that the other
 * has not told yet are remembered for a while.
 */
import type { Millis } from '../../shared/base/units.ts';

/** A message over UDP may be lost and repeated a few times, and some peers send it when the key is let go. */
const mostApartMs = 5_000;
/** As many as anybody presses in that time. */
const mostWaiting = 32;

type Way = 'audio' | 'message';

export class TwoWays {
  readonly #waiting: { readonly digit: string; readonly way: Way; readonly at: Millis }[] = [];

  /** False for a press that has been told by the other way. */
  isPress(digit: string, way: Way, now: Millis): boolean {
    const waiting = this.#waiting;
    while (waiting[0] !== undefined && (now - waiting[0].at > mostApartMs || waiting.length >= mostWaiting))
      waiting.shift();
    const index = waiting.findIndex((press) => press.digit === digit && press.way !== way);
    if (index >= 0) waiting.splice(index, 1);
    else waiting.push({ digit, way, at: now });
    return index < 0;
  }
}
