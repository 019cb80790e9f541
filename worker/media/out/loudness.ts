/**
 * How loud a voice is, as ITU-R BS.1770 weighs it in a simple form: what lies below a voice counts little, what lies above 1.5 kHz a little more,
 * and pauses nothing. In LUFS, of about the last three seconds of voice. Allocates nothing.
 */

const fullScale = 32_768;
/** A first-order filter below the voice, and a shelf of 4 dB above this. */
const lowHz = 60;
const shelfHz = 1_500;
const shelf = 10 ** (4 / 20) - 1;
/** What the standard adds, so that a tone of 1 kHz has its level. */
const offsetDb = -0.691;

const blockS = 0.1;
const mostBlocks = 30;
/** A block is a pause that is this quiet, or so much quieter than the voice. */
const silentDb = -55;
const pauseDb = 12;

const followOf = (hz: number, rate: number): number => 1 - Math.exp((-2 * Math.PI * hz) / rate);
const decibels = (power: number): number => 10 * Math.log10(power + Number.MIN_VALUE) + offsetDb;

export class Loudness {
  readonly #followLow: number;
  readonly #followShelf: number;
  readonly #blockSamples: number;
  #low = 0;
  #shelved = 0;
  #sum = 0;
  #count = 0;
  #power = 0;
  #blocks = 0;

  /** Of samples at this rate, in Hz. */
  constructor(rate: number) {
    this.#followLow = followOf(lowHz, rate);
    this.#followShelf = followOf(shelfHz, rate);
    this.#blockSamples = Math.round(rate * blockS);
  }

  /** How many tenths of a second of voice are known, 30 at most. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Meaningful once there are blocks. */
  get lufs(): number {
    return decibels(this.#power);
  }

  reset(): void {
    this.#low = 0;
    this.#shelved = 0;
    this.#sum = 0;
    this.#count = 0;
    this.#power = 0;
    this.#blocks = 0;
  }

  add(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length;) {
      const end = Math.min(pcm.length, at + this.#blockSamples - this.#count);
      this.#weigh(pcm, at, end);
      this.#count += end - at;
      at = end;
      if (this.#count === this.#blockSamples) this.#close();
    }
  }

  #weigh(pcm: Int16Array, from: number, end: number): void {
    const followLow = this.#followLow;
    const followShelf = this.#followShelf;
    let low = this.#low;
    let shelved = this.#shelved;
    let sum = 0;
    for (let at = from; at < end; at += 1) {
      const sample = pcm[at] ?? 0;
      low += followLow * (sample - low);
      const voice = sample - low;
      shelved += followShelf * (voice - shelved);
      const weighed = voice + shelf * (voice - shelved);
      sum += weighed * weighed;
    }
    this.#low = low;
    this.#shelved = shelved;
    this.#sum += sum / (fullScale * fullScale);
  }

  #close(): void {
    const power = this.#sum / this.#count;
    this.#sum = 0;
    this.#count = 0;
    const db = decibels(power);
    if (db < silentDb || (this.#blocks > 0 && db < this.lufs - pauseDb)) return;
    this.#blocks = Math.min(this.#blocks + 1, mostBlocks);
    this.#power += (power - this.#power) / this.#blocks;
  }
}

/** Of a whole recording; undefined where nothing can be heard in it. */
export function loudnessOf(pcm: Int16Array, rate: number): number | undefined {
  const loudness = new Loudness(rate);
  loudness.add(pcm);
  return loudness.blocks === 0 ? undefined : loudness.lufs;
}
