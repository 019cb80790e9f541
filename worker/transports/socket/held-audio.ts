/** Caller audio that the engine did not take yet: bounded, and offered again in frames of 20 ms, so that an engine with little room still gets on. */
import { readBytes } from './late-frames.ts';

export class HeldAudio {
  readonly #most: number;
  /** A buffer and the range of it in use. */
  #held: Buffer | undefined;
  #start = 0;
  #end = 0;
  #draining = false;

  /** `maxAudioBytes`: the largest frame. Beside one of them there is room for what one read brings. */
  constructor({ maxAudioBytes }: { readonly maxAudioBytes: number }) {
    this.#most = maxAudioBytes + readBytes;
  }

  get isEmpty(): boolean {
    return this.#held === undefined;
  }

  /** Keeps a copy. False when there is no room. */
  add(data: Buffer): boolean {
    this.#held ??= Buffer.allocUnsafe(this.#most);
    if (this.#end + data.length > this.#held.length) return false;
    data.copy(this.#held, this.#end);
    this.#end += data.length;
    return true;
  }

  /** Offers frames until one is not taken. `moved`: some was. Undefined while an offer is being made already, or nothing is held. */
  drain(
    frameBytes: number,
    take: (frame: Buffer) => boolean,
  ): { readonly isOver: boolean; readonly moved: boolean } | undefined {
    const held = this.#held;
    if (held === undefined || frameBytes === 0 || this.#draining) return undefined;
    const before = this.#start;
    this.#draining = true;
    try {
      while (this.#start < this.#end) {
        const end = Math.min(this.#start + frameBytes, this.#end);
        if (!take(held.subarray(this.#start, end))) break;
        this.#start = end;
      }
    } finally {
      this.#draining = false;
    }
    return { isOver: this.#start >= this.#end, moved: this.#start > before };
  }

  drop(): void {
    this.#held = undefined;
    this.#start = 0;
    this.#end = 0;
  }
}
