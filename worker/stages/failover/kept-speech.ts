/**
 * What a voice said since the last place that is sure, at a low rate, so that another voice's audio can be compared with it.
 *
 * Invariant: the newest 4 to 8 s are kept. Pure; times are milliseconds from the first sample that came, kept or not.
 */

/** At least so many samples a second are kept: enough to tell sounds of speech apart. */
const leastRate = 8_000;
const mostMs = 8_000;

export class KeptSpeech {
  /** Hz of what is kept. */
  readonly rate: number;
  /** Samples that become one. */
  private readonly step: number;
  private pcm: Int16Array;
  private samples = 0;
  /** Samples that came before those that are kept. */
  private gone = 0;
  private sum = 0;
  private summed = 0;

  constructor(sampleRate: number) {
    this.step = Math.max(1, Math.floor(sampleRate / leastRate));
    this.rate = sampleRate / this.step;
    this.pcm = new Int16Array(Math.ceil(this.rate));
  }

  push(pcm: Int16Array): void {
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
        const half = most >> 1;
        kept.copyWithin(0, half);
        this.gone += half;
        samples -= half;
      }
      kept[samples] = sum / step;
      samples += 1;
      sum = summed = 0;
    }
    this.samples = samples;
    this.sum = sum;
    this.summed = summed;
  }

  /** Everything that came, and where what is kept of it begins. */
  get lengthMs(): number {
    return ((this.gone + this.samples) * 1000) / this.rate;
  }

  get fromMs(): number {
    return (this.gone * 1000) / this.rate;
  }

  /** What is kept between two times. */
  between(fromMs: number, toMs: number): Int16Array {
    return this.pcm.subarray(this.at(fromMs), this.at(toMs));
  }

  /** What came behind `ms` was not said. */
  cut(ms: number): void {
    this.samples = this.at(ms);
    this.sum = this.summed = 0;
  }

  private at(ms: number): number {
    return Math.max(0, Math.min(this.samples, Math.round((ms * this.rate) / 1000) - this.gone));
  }

  private grow(needed: number): void {
    if (needed <= this.pcm.length) return;
    const grown = new Int16Array(Math.max(needed, this.pcm.length + Math.ceil(this.rate)));
    grown.set(this.pcm.subarray(0, this.samples));
    this.pcm = grown;
  }
}
