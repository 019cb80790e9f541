/**
 * One utterance on its way to the recognizer: what was recorded, and a transcription that may have begun before the end.
 *
 * Invariant: at most 30 s are kept, sound after that is dropped. The recognizer decodes whole turns, so a pause is used to decode what was
 * said so far; when nothing but silence follows, the words are there before the caller's turn is declared over. Speech
 * after the pause makes that result worthless and it is thrown away.
 */

/** Takes 16 kHz mono in [-1, 1], gives the words. */
export type Transcribe = (samples: Float32Array<ArrayBuffer>, signal: AbortSignal) => Promise<string>;

const sampleRate = 16_000;
const maxSamples = 30 * sampleRate;
const pauseSamples = 0.3 * sampleRate;

/** More pauses than this are not worth decoding early. */
const maxEarly = 6;

/** Below this share of the loudest sample, or below the absolute level, a chunk counts as silence. */
const quiet = { share: 0.06, level: 150 } as const;

interface Early {
  /** The text, or undefined when the attempt failed. */
  readonly text: Promise<string | undefined>;
  readonly speechEnd: number;
  readonly abort: AbortController;
}

export class Utterance {
  readonly #transcribe: Transcribe;
  readonly #gone = new AbortController();
  #samples = new Int16Array(sampleRate);
  #length = 0;
  #peak = 0;
  /** Where the last chunk that was not silent ended. */
  #speechEnd = 0;
  #early: Early | undefined;
  #attempts = 0;

  constructor(transcribe: Transcribe) {
    this.#transcribe = transcribe;
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  /** Takes 32-bit floats, little-endian, in [-1, 1]. */
  append(bytes: Buffer): void {
    const sampleAt = (index: number): number => {
      const value = Math.round(bytes.readFloatLE(index * 4) * 32_768);
      return Number.isNaN(value) ? 0 : Math.max(-32_768, Math.min(32_767, value));
    };
    this.add(Int16Array.from({ length: bytes.length / 4 }, (_, index) => sampleAt(index)));
  }

  /** Takes 16 kHz mono. */
  add(samples: Int16Array): void {
    const count = Math.min(samples.length, maxSamples - this.#length);
    this.#reserve(count);
    this.#samples.set(samples.subarray(0, count), this.#length);
    const chunkPeak = samples
      .subarray(0, count)
      .reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
    this.#length += count;
    this.#peak = Math.max(this.#peak, chunkPeak);
    if (chunkPeak > Math.max(quiet.level, quiet.share * this.#peak)) this.#speechEnd = this.#length;
    else if (this.#length - this.#speechEnd >= pauseSamples) this.#decodeEarly();
  }

  /** The words. Rejects when the recognizer cannot take the work. */
  async finish(): Promise<string> {
    const early = this.#early;
    const text = early?.speechEnd === this.#speechEnd ? await early.text : undefined;
    if (text !== undefined) return text;
    early?.abort.abort();
    return this.#transcribe(this.#recorded(), this.#gone.signal);
  }

  /** Nobody waits for the words any more. */
  drop(): void {
    this.#gone.abort();
    this.#early?.abort.abort();
  }

  #decodeEarly(): void {
    const known = this.#early?.speechEnd === this.#speechEnd;
    if (this.#speechEnd === 0 || known || this.#attempts >= maxEarly) return;
    this.#attempts += 1;
    this.#early?.abort.abort();
    const abort = new AbortController();
    const text = this.#transcribe(this.#recorded(), abort.signal).catch(() => undefined);
    this.#early = { text, speechEnd: this.#speechEnd, abort };
  }

  #reserve(count: number): void {
    const wanted = this.#length + count;
    if (wanted <= this.#samples.length) return;
    const grown = new Int16Array(Math.min(maxSamples, Math.max(wanted, this.#samples.length * 2)));
    grown.set(this.#samples.subarray(0, this.#length));
    this.#samples = grown;
  }

  #recorded(): Float32Array<ArrayBuffer> {
    return Float32Array.from(this.#samples.subarray(0, this.#length), (sample) => sample / 32_768);
  }
}
