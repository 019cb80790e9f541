/** Calls that another worker left, while their agent is equipped here: what is said of such a call waits, in order. */
import type { ToWorker } from '../../shared/protocol/ipc.ts';

export interface LeftOffer {
  readonly offer: number;
  /** Slot of the record that says how the call was left. */
  readonly resumeFrom: number;
}

export class AgentsAwaited {
  readonly #pendingOf: (left: LeftOffer) => Promise<void> | undefined;
  readonly #waiting = new Map<number, (() => void)[]>();

  /** `pendingOf`: until what it gives is settled, the call cannot be taken up; undefined where it can be now. */
  constructor(pendingOf: (left: LeftOffer) => Promise<void> | undefined) {
    this.#pendingOf = pendingOf;
  }

  /** True where the message has to wait: `take` is called then, once. */
  holds(message: ToWorker, take: () => void): boolean {
    if (!('offer' in message)) return false;
    const { offer } = message;
    const isBehind = this.#waiting.get(offer)?.push(take) !== undefined;
    if (isBehind) return true;
    if (!('resumeFrom' in message) || message.resumeFrom === undefined) return false;
    const pending = this.#pendingOf({ offer, resumeFrom: message.resumeFrom });
    if (pending === undefined) return false;
    this.#waiting.set(offer, [take]);
    const go = (): void => {
      const waiting = this.#waiting.get(offer) ?? [];
      this.#waiting.delete(offer);
      for (const one of waiting) one();
    };
    // Without its agent the call cannot be taken up, which is told where that is tried.
    pending.then(go, go);
    return true;
  }
}
