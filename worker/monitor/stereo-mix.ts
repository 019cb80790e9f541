/**
 * Both sides of a call as one stream for those who listen while it runs: caller left, what the caller hears right, in frames of 20 ms. What
 * comes late is heard late, until its side is silent for as long; nothing waits for it. Pure, time as an argument.
 */
import type { Millis } from '../../shared/base/units.ts';
import { monitorFrameMs } from '../../shared/monitor/messages.ts';

/** Frames go out so much behind what they hold: the beginning of a stretch comes some frames later. */
const behindMs: Millis = 160;
/** More of one side does not wait; a power of two in samples is not needed. */
const mostMs: Millis = 4_000;

class Side {
  readonly #samples: Int16Array;
  /** Behind the last sample that was placed. */
  #end = 0;

  constructor(most: number) {
    this.#samples = new Int16Array(most);
  }

  place(pcm: Int16Array, at: number, next: number): void {
    const size = this.#samples.length;
    const from = Math.max(at, this.#end, next);
    const count = Math.min(pcm.length, next + size - from);
    for (let index = 0; index < count; index += 1) this.#samples[(from + index) % size] = pcm[index] ?? 0;
    if (count > 0) this.#end = from + count;
  }

  take(at: number): number {
    const index = at % this.#samples.length;
    const sample = this.#samples[index] ?? 0;
    this.#samples[index] = 0;
    return sample;
  }
}

export class StereoMix {
  readonly #rate: number;
  readonly #beganAt: Millis;
  readonly #frame: number;
  readonly #heard: Side;
  readonly #sent: Side;
  #next = 0;

  /** @param rate of the call, in Hz. */
  constructor(rate: number, beganAt: Millis) {
    this.#rate = rate;
    this.#beganAt = beganAt;
    this.#frame = (rate * monitorFrameMs) / 1000;
    const most = (rate * mostMs) / 1000;
    this.#heard = new Side(most);
    this.#sent = new Side(most);
  }

  heard(pcm: Int16Array, at: number): void {
    this.#heard.place(pcm, at, this.#next);
  }

  sent(pcm: Int16Array, at: number): void {
    this.#sent.place(pcm, at, this.#next);
  }

  /** The next frame that is due, left and right in turn as PCM16; undefined while none is. */
  take(now: Millis): Buffer | undefined {
    const due = ((now - this.#beganAt - behindMs) * this.#rate) / 1000;
    if (this.#next + this.#frame > due) return undefined;
    const frame = Buffer.allocUnsafe(this.#frame * 4);
    for (let index = 0; index < this.#frame; index += 1) {
      frame.writeInt16LE(this.#heard.take(this.#next + index), index * 4);
      frame.writeInt16LE(this.#sent.take(this.#next + index), index * 4 + 2);
    }
    this.#next += this.#frame;
    return frame;
  }
}
