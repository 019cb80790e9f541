/** How loud each side of a call was, in so few numbers that a page draws a call of any length. Pure. */
import { levelsOfSide } from '../../shared/recording/layout.ts';

const loudest = 32_768;

export class Waveform {
  /** The loudest samples of the caller, and behind them those of what the caller heard. */
  readonly #peaks = new Uint16Array(levelsOfSide * 2);
  readonly #samples: number;

  /** @param samples of each side. */
  constructor(samples: number) {
    this.#samples = samples;
  }

  /** Takes samples of both sides in turns, from this one of each side on, and gives them back. */
  take(from: number, both: Int16Array): Int16Array {
    const until = Math.min(from + both.length / 2, this.#samples);
    let bucket = Math.floor((from * levelsOfSide) / this.#samples);
    for (let sample = from; sample < until; bucket += 1) {
      const end = Math.min(until, Math.ceil(((bucket + 1) * this.#samples) / levelsOfSide));
      let [heard, sent] = [0, 0];
      for (; sample < end; sample += 1) {
        const at = (sample - from) * 2;
        heard = Math.max(heard, Math.abs(both[at] ?? 0));
        sent = Math.max(sent, Math.abs(both[at + 1] ?? 0));
      }
      this.#keep(bucket, heard);
      this.#keep(bucket + levelsOfSide, sent);
    }
    return both;
  }

  #keep(at: number, level: number): void {
    this.#peaks[at] = Math.max(this.#peaks[at] ?? 0, level);
  }

  /** From 0 to 255. */
  get levels(): Uint8Array {
    return Uint8Array.from(this.#peaks, (peak) => Math.min(255, Math.round((peak * 255) / loudest)));
  }
}
