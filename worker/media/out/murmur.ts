/**
 * What an agent that listens aloud says in the caller's turn: a short line, softer than an answer, mixed into what goes out. It is no audio of the
 * agent's as far as anything counts that. An answer that begins takes its place.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import type { Backdrop } from './outbound.ts';

const softer = 10 ** (-8 / 20);
/** A longer line is no murmur: the caller would wait for its end. */
const mostMs: Millis = 1_500;
/** Of what has to stop. */
const fadeFrames = 2;

export class Murmur implements Backdrop {
  readonly #rate: number;
  #pcm: Int16Array = new Int16Array(0);
  #at = 0;

  /** @param rate of the call, in Hz. */
  constructor(rate: number) {
    this.#rate = rate;
  }

  get sounds(): boolean {
    return this.#at < this.#pcm.length;
  }

  /** Begins with the next frame, unless something is still being said. */
  say(pcm: Int16Array, fromRate: number): void {
    if (this.sounds || pcm.length > (fromRate * mostMs) / 1000) return;
    const resampler = newResampler({ from: fromRate, to: this.#rate });
    const head = resampler.process(pcm).slice();
    const tail = resampler.flush();
    const frame = (this.#rate * FRAME_MS) / 1000;
    this.#pcm = new Int16Array(Math.ceil((head.length + tail.length) / frame) * frame);
    this.#pcm.set(head);
    this.#pcm.set(tail, head.length);
    this.#at = 0;
  }

  /** The agent answers: what is left fades. */
  stop(): void {
    if (!this.sounds) return;
    const left = (fadeFrames * this.#rate * FRAME_MS) / 1000;
    this.#pcm = this.#pcm.slice(this.#at, this.#at + left);
    this.#at = 0;
    for (let at = 0; at < this.#pcm.length; at += 1)
      this.#pcm[at] = Math.round((this.#pcm[at] ?? 0) * (1 - (at + 1) / this.#pcm.length));
  }

  /** The call is over: nothing more is heard. */
  end(): void {
    this.#at = this.#pcm.length;
  }

  mix(samples: Int16Array): void {
    const count = Math.min(samples.length, this.#pcm.length - this.#at);
    for (let at = 0; at < count; at += 1) {
      const sum = (samples[at] ?? 0) + softer * (this.#pcm[this.#at + at] ?? 0);
      samples[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
    }
    this.#at += count;
  }
}
