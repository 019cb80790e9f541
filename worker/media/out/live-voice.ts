/**
 * The voice of a person who speaks to the caller in the agent's place, on its way out. It comes as it is spoken, over a network that delivers
 * unevenly: a little is kept before it is heard, and what comes too early or too late is left out. Nothing is heard while nothing comes.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import { Level } from './level.ts';
import type { Backdrop } from './outbound.ts';

/** Kept before the first of a stretch is heard. */
const storeMs: Millis = 80;
/** A person who came further ahead than this would be heard late for the rest of the call: the oldest is left out. */
const mostMs: Millis = 400;

export class LiveVoice implements Backdrop {
  readonly #rate: number;
  readonly #fromRate: number;
  /** Made with the first of the voice. */
  #resampler: Resampler | undefined;
  #waiting: Int16Array;
  #length = 0;
  #isHeard = false;
  readonly #level: Level | undefined;

  /** @param rate of the call, and `fromRate` of the voice, in Hz; `lufs` that it is brought to, where it is. */
  constructor(rate: number, fromRate: number, lufs?: number) {
    this.#rate = rate;
    this.#fromRate = fromRate;
    this.#waiting = new Int16Array(0);
    this.#level = lufs === undefined ? undefined : new Level(lufs, { fromRate, toRate: rate });
  }

  /** A whole frame is there, and enough behind it. */
  get sounds(): boolean {
    if (this.#length < this.#samples(FRAME_MS)) this.#isHeard = false;
    else if (this.#length >= this.#samples(storeMs)) this.#isHeard = true;
    return this.#isHeard;
  }

  push(pcm: Int16Array): void {
    if (this.#waiting.length === 0) this.#waiting = new Int16Array(this.#samples(mostMs));
    if (this.#fromRate !== this.#rate)
      this.#resampler ??= newResampler({ from: this.#fromRate, to: this.#rate });
    this.#level?.delivered(pcm);
    const given = this.#resampler?.process(pcm) ?? pcm;
    const most = this.#waiting.length;
    const newest = given.length > most ? given.subarray(given.length - most) : given;
    this.#drop(this.#length + newest.length - most);
    this.#waiting.set(newest, this.#length);
    this.#length += newest.length;
  }

  mix(samples: Int16Array): void {
    const count = Math.min(samples.length, this.#length);
    this.#level?.apply(this.#waiting.subarray(0, count));
    for (let at = 0; at < count; at += 1) {
      const sum = (samples[at] ?? 0) + (this.#waiting[at] ?? 0);
      samples[at] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : sum;
    }
    this.#drop(count);
  }

  /** Nobody speaks any more. */
  clear(): void {
    this.#length = 0;
    this.#resampler?.reset();
  }

  #drop(count: number): void {
    if (count <= 0) return;
    this.#waiting.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  #samples(ms: Millis): number {
    return Math.round((ms * this.#rate) / 1000);
  }
}
