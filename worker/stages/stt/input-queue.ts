/**
 * What waits to be sent to a recogniser: frames of audio and the ends of utterances, in order.
 *
 * Invariant: at most {@link QUEUED_FRAMES} frames wait, the newest ones; an end of utterance is never dropped. Pure.
 */

/** Bound of the stage's input: so many frames wait. */
const QUEUED_FRAMES = 64;

/** The end of an utterance that was asked for; `isEmpty` when it had no audio, so that nothing needs sending. */
export interface UtteranceEnd {
  readonly type: 'end';
  readonly dueMs: number;
  readonly isEmpty: boolean;
}

export type InputItem = { readonly type: 'frame'; readonly frame: Int16Array } | UtteranceEnd;

export class InputQueue {
  #items: InputItem[] = [];
  #frames = 0;

  get head(): InputItem | undefined {
    return this.#items[0];
  }

  get hasFrames(): boolean {
    return this.#frames > 0;
  }

  /** Less than half of the bound waits. */
  get hasRoom(): boolean {
    return this.#frames < QUEUED_FRAMES / 2;
  }

  /** The first end that waits. */
  get firstEnd(): UtteranceEnd | undefined {
    return this.#items.find((item) => item.type === 'end');
  }

  push(item: InputItem): void {
    this.#items.push(item);
    if (item.type === 'frame') this.#frames += 1;
  }

  /** Drops the oldest frames over the bound; true when any went. */
  trim(): boolean {
    if (this.#frames <= QUEUED_FRAMES) return false;
    while (this.#frames > QUEUED_FRAMES) {
      const oldest = this.#items.findIndex((item) => item.type === 'frame');
      this.#items.splice(oldest, 1);
      this.#frames -= 1;
    }
    return true;
  }

  shift(): InputItem | undefined {
    const item = this.#items.shift();
    if (item?.type === 'frame') this.#frames -= 1;
    return item;
  }
}
