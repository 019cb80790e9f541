/**
 * How loud one direction of a call was in the last two seconds, in stretches of 8 ms on its line of samples. It costs a multiplication
 * for each sample and two kilobytes for a call, whether anybody asks or not; it keeps no sound and judges nothing.
 */

/** Stretches that are kept; their length is `levelMs`. */
const kept = 256;
export const levelMs = 8;

export class SoundLevels {
  readonly #blockSamples: number;
  readonly #energies = new Float64Array(kept);
  /** Samples so far, and the energy of those in the stretch that is not full yet. */
  #count = 0;
  #energy = 0;

  /** @param rate of the samples, in Hz. */
  constructor(rate: number) {
    this.#blockSamples = (rate * levelMs) / 1000;
  }

  /** Takes PCM16 of any length that follows on what came before. */
  add(pcm: Int16Array): void {
    const block = this.#blockSamples;
    let energy = this.#energy;
    let left = block - (this.#count % block);
    for (let i = 0; i < pcm.length; i += 1) {
      const sample = pcm[i] ?? 0;
      energy += sample * sample;
      left -= 1;
      if (left > 0) continue;
      this.#energies[Math.floor((this.#count + i) / block) % kept] = energy / block;
      energy = 0;
      left = block;
    }
    this.#count += pcm.length;
    this.#energy = energy;
  }

  /** So many samples of silence. */
  pass(samples: number): void {
    const block = this.#blockSamples;
    const first = Math.floor(this.#count / block);
    const end = Math.floor((this.#count + samples) / block);
    for (let at = Math.max(first, end - kept); at < end; at += 1)
      this.#energies[at % kept] = at === first ? this.#energy / block : 0;
    if (end > first) this.#energy = 0;
    this.#count += samples;
  }

  /** Mean square of a number of stretches from one on, counted from the first sample; audio that is not known is silence. */
  mean(from: number, stretches: number): number {
    const end = Math.floor(this.#count / this.#blockSamples);
    let sum = 0;
    for (let at = Math.max(0, from, end - kept); at < Math.min(end, from + stretches); at += 1)
      sum += this.#energies[at % kept] ?? 0;
    return sum / stretches;
  }
}
