/**
 * The voice of a person who speaks to the caller in the agent's place, on its way out. It comes as it is spoken, over a network that delivers
 * unevenly: a little is kept before it is heard, and what comes too early or too late is left out. Nothing is heard while nothing comes. It
 * rises where it begins and fades where it stops, because both are in the middle of a wave.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import { Gain } from './gain.ts';
import { Level } from './level.ts';
import type { Person } from './outbound.ts';

/** Kept before the first of a stretch is heard. */
const storeMs: Millis = 80;
/** A person who came further ahead than this would be heard late for the rest of the call: the oldest is left out. */
const mostMs: Millis = 400;

export class LiveVoice implements Person {
  readonly #rate: number;
  readonly #fromRate: number;
  /** Made with the first of the voice. */
  #resampler: Resampler | undefined;
  #waiting: Int16Array;
  #length = 0;
  #isHeard = false;
  /** The last 20 ms of it, as they fade. */
  #tail: Int16Array | undefined;
  /** The newest sample that was heard. */
  #last = 0;
  readonly #gain: Gain;
  readonly #level: Level | undefined;

  /** @param rate of the call, and `fromRate` of the voice, in Hz; `lufs` that it is brought to, where it is. */
  constructor(rate: number, fromRate: number, lufs?: number) {
    this.#rate = rate;
    this.#fromRate = fromRate;
    this.#waiting = new Int16Array(0);
    this.#gain = new Gain(rate);
    this.#gain.silence();
    this.#level = lufs === undefined ? undefined : new Level(lufs, { fromRate, toRate: rate });
  }

  /** A whole frame is there, and enough behind it; or the last of it is yet to be heard. */
  get sounds(): boolean {
    if (this.#length < this.#samples(FRAME_MS)) this.#stop();
    else if (this.#length >= this.#samples(storeMs)) this.#isHeard = true;
    return this.#isHeard || this.#tail !== undefined;
  }

  get ends(): boolean {
    return this.#tail !== undefined;
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
    const voice = this.#tail ?? this.#taken(samples.length);
    this.#tail = undefined;
    for (let at = 0; at < voice.length; at += 1) {
      const sum = (samples[at] ?? 0) + (voice[at] ?? 0);
      samples[at] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : sum;
    }
  }

  /** Nobody speaks any more. */
  clear(): void {
    this.#stop();
    this.#length = 0;
    this.#resampler?.reset();
  }

  /** The next of what waits, as loud as it is heard. */
  #taken(most: number): Int16Array {
    const count = Math.min(most, this.#length);
    const voice = this.#waiting.slice(0, count);
    this.#drop(count);
    this.#level?.apply(voice);
    this.#gain.open();
    this.#gain.apply(voice);
    this.#last = voice.at(-1) ?? this.#last;
    return voice;
  }

  /** Nothing whole is there, or nothing is to be heard: what is left fades, and where nothing is, the last sample. */
  #stop(): void {
    if (!this.#isHeard) return;
    this.#isHeard = false;
    const left = this.#taken(this.#samples(FRAME_MS));
    const tail = new Int16Array(this.#samples(FRAME_MS)).fill(this.#last);
    tail.set(left);
    this.#gain.close();
    this.#gain.apply(tail);
    this.#tail = tail;
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
