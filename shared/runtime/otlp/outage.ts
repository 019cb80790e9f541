/**
 * When to speak of a collector that does not take what it is sent: at once for each new cause, and then every ten minutes with all that was lost since the
 * last word. A night without one must not bury the log of the calls.
 */
import type { Millis } from '../../base/units.ts';
import type { OtlpOutcome } from './otlp-sender.ts';

const againMs = 600_000;

/** `rejected`: thrown away by a collector that had taken it. */
export type LossCause = Exclude<OtlpOutcome, 'sent'> | 'rejected';

export class Outage {
  #cause: LossCause | undefined;
  #toldAt: Millis = 0;
  #untold = 0;

  /** How much was lost since the last word, when one is due. */
  lose(cause: LossCause, count: number, now: Millis): number | undefined {
    this.#untold += count;
    if (cause === this.#cause && now - this.#toldAt < againMs) return undefined;
    const told = this.#untold;
    [this.#cause, this.#toldAt, this.#untold] = [cause, now, 0];
    return told;
  }
}
