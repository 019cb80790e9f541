/**
 * The last two seconds of what was sent to the client, on a line of time that counts samples. Audio of one stretch follows
 * without a gap, however late the frames were; between stretches lies as much silence as time has passed. Sending costs a copy of
 * the samples and no more. It compares nothing.
 */
import { ENGINE_RATE, type Millis } from '../../../shared/base/units.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';
import { SoundLevels } from './levels.ts';
import { lookRate, readFlat, readWide } from './samples.ts';

const keptMs = 2_000;
/** Playout makes up for what it is behind, up to 100 ms; beyond that it begins a new stretch. */
const stretchEndsAfterMs = 120;

const nothing = new Int16Array(1);

export class PlayedAudio {
  readonly #rate: number;
  readonly #lower: Resampler | undefined;
  /** How loud it was, on the same line of time. */
  readonly levels: SoundLevels;
  /** Made with the first frame: some calls never play anything. */
  #ring = nothing;
  /** Samples on the line of time, and the time at which the last of them is over. */
  #count = 0;
  #endsAt: Millis = Number.NEGATIVE_INFINITY;
  /** When the newest stretch began. */
  #beganAt: Millis = 0;

  /** @param sampleRate of the call, in Hz. Where it is none that a look can halve, what is kept has 8 kHz. */
  constructor(sampleRate: number) {
    const isKept = sampleRate === 8_000 || sampleRate === ENGINE_RATE;
    this.#rate = isKept ? sampleRate : 8_000;
    this.levels = new SoundLevels(this.#rate);
    this.#lower = isKept ? undefined : newResampler({ from: sampleRate, to: this.#rate });
  }

  /** These samples, at the call's rate, go to the client now. */
  add(frame: Int16Array, now: Millis): void {
    const pcm = this.#lower?.process(frame) ?? frame;
    if (this.#ring === nothing) this.#ring = new Int16Array((this.#rate * keptMs) / 1000);
    if (now - this.#endsAt > stretchEndsAfterMs) this.#pass(now);
    const ring = this.#ring;
    const at = this.#count % ring.length;
    const first = Math.min(pcm.length, ring.length - at);
    ring.set(first === pcm.length ? pcm : pcm.subarray(0, first), at);
    if (first < pcm.length) ring.set(pcm.subarray(first), 0);
    this.levels.add(pcm);
    this.#count += pcm.length;
    this.#endsAt += (pcm.length * 1000) / this.#rate;
  }

  /** Nothing was sent up to now. */
  #pass(now: Millis): void {
    const ring = this.#ring;
    const samples = this.#count === 0 ? 0 : Math.round(((now - this.#endsAt) * this.#rate) / 1000);
    const at = this.#count % ring.length;
    ring.fill(0, at, at + samples);
    ring.fill(0, 0, Math.max(0, Math.min(at + samples - ring.length, ring.length)));
    this.levels.pass(samples);
    this.#count += samples;
    this.#endsAt = now;
    this.#beganAt = now;
  }

  /** Length of the newest stretch so far. */
  get stretchMs(): Millis {
    return this.#endsAt - this.#beganAt;
  }

  /** Something was sent so short a time ago. */
  within(ms: Millis, now: Millis): boolean {
    return now - this.#endsAt < ms;
  }

  /** Where `now` lies on the line of time, counted at `lookRate`. */
  placeOf(now: Millis): number {
    const silentMs = this.#count === 0 ? 0 : Math.max(0, now - this.#endsAt);
    return Math.round((this.#count / this.#rate + silentMs / 1000) * lookRate);
  }

  /** Fills `into` with what was sent up to a place, flattened; samples that are not known are silence. */
  read(end: number, into: Float32Array): void {
    readFlat({ ring: this.#ring, rate: this.#rate, count: this.#count }, end, into);
  }

  /** The same at `wideRate` and not flattened. */
  readWide(end: number, into: Float32Array): void {
    readWide({ ring: this.#ring, rate: this.#rate, count: this.#count }, end, into);
  }
}
