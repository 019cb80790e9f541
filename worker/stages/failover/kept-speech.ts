/**
 * What a voice said since the last place that is sure, at a low rate, so that another voice's audio can be compared with it.
 *
 * Invariant: the first 8 s are kept, and `isWhole` tells that there was no more. Pure; times are milliseconds from the first
 * sample.
 */

/** At least so many samples a second are kept: enough to tell sounds of speech apart. */
const leastRate = 8_000;
const mostMs = 8_000;

export class KeptSpeech {
  /** Hz of what is kept. */
  readonly rate: number;
  /** Everything that came is still there. */
  isWhole = true;
  /** Samples that become one. */
  private readonly step: number;
  private pcm: Int16Array;
  private samples = 0;
  private sum = 0;
  private summed = 0;

  constructor(sampleRate: number) {
    this.step = Math.max(1, Math.floor(sampleRate / leastRate));
    this.rate = sampleRate / this.step;
    this.pcm = new Int16Array(Math.ceil(this.rate));
  }

  push(pcm: Int16Array): void {
    if (!this.isWhole) return;
    const { step } = this;
    const most = Math.floor((mostMs * this.rate) / 1000);
    this.grow(Math.min(most, this.samples + Math.ceil(pcm.length / step) + 1));
    const { pcm: kept } = this;
    let { samples, sum, summed } = this;
    for (let at = 0; at < pcm.length; at += 1) {
      sum += pcm[at] ?? 0;
      summed += 1;
      if (summed < step) continue;
      if (samples === most) {
        this.isWhole = false;
        break;
      }
      kept[samples] = sum / step;
      samples += 1;
      sum = summed = 0;
    }
    this.samples = samples;
    this.sum = sum;
    this.summed = summed;
  }

  get lengthMs(): number {
    return (this.samples * 1000) / this.rate;
  }

  until(ms: number): Int16Array {
    return this.pcm.subarray(0, Math.min(this.samples, Math.round((ms * this.rate) / 1000)));
  }

  /** What came behind `ms` was not said. */
  cut(ms: number): void {
    this.samples = this.until(ms).length;
    this.sum = this.summed = 0;
  }

  private grow(needed: number): void {
    if (needed <= this.pcm.length) return;
    const grown = new Int16Array(Math.max(needed, this.pcm.length + Math.ceil(this.rate)));
    grown.set(this.pcm.subarray(0, this.samples));
    this.pcm = grown;
  }
}
