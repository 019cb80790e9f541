/** What STT got before each text that it owes: only where that was audio is its answer a proof of life. */
import type { Order } from '../../support/core/order.ts';
import type { CallEvent } from '../../../worker/core/events.ts';

export class SttLedger {
  #asked: { readonly hasAudio: boolean }[] = [];
  #hasNew = false;
  #listens = false;

  /** True when the fact proves that STT is alive. */
  proves(event: CallEvent): boolean {
    if (event.type === 'call.resumed') this.#begin(event.turnAudio);
    return event.type === 'stt.finalized' && this.#asked.shift()?.hasAudio === true && event.isLate !== true;
  }

  order(type: Order['type']): void {
    switch (type) {
      case 'stt.reopen':
        this.#begin(this.#listens);
        return;
      case 'stt.finalize':
      case 'stt.flush':
        this.#asked.push({ hasAudio: this.#hasNew });
        this.#hasNew = false;
        this.#listens = false;
        return;
      case 'stt.replay':
        this.#hasNew = true;
        return;
      case 'stt.listen':
        this.#hasNew = true;
        this.#listens = true;
        return;
      default:
    }
  }

  #begin(hasNew: boolean): void {
    this.#asked = [];
    this.#hasNew = hasNew;
  }
}
