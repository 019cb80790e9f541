/**
 * G.722 at 64 kbit/s (ITU-T G.722): speech of 7 kHz in the bandwidth of a telephone line. A filter splits the sound into two bands, and
 * each is sent as the difference to what both sides predict of it, with steps that grow and shrink with the sound.
 *
 * Invariant: everything is computed in the 16-bit arithmetic of the recommendation, so that both sides predict the same.
 */

const limited = (value: number): number => (value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value);

/** Low band: thresholds of the 60 steps (table 4), and the codes of their signs (tables 5 and 6). */
const thresholds = Int16Array.of(
  ...[0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714],
  ...[786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919],
);
const codeOf = (step: number, isNegative: boolean): number =>
  isNegative ? (step < 3 ? 64 - step : 34 - step) : 62 - step;

/** Values of the codes, in 6 bits for the listener and in 4 for the prediction. */
const steps6 = Int16Array.of(
  ...[-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232],
  ...[-9360, -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400],
  ...[-2032, -1688, -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232],
  ...[9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688],
  ...[1360, 1040, 728, 432, 136, -432, -136],
);
const steps4 = Int16Array.of(
  ...[0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0],
);
/** How the size of steps changes after each code. */
const growthLow = Int16Array.of(
  ...[-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60],
);
const steps2 = Int16Array.of(-7408, -1616, 7408, 1616);
const growthHigh = Int16Array.of(798, -214, 798, -214);
/** 2048 times 2 to the power of n/32. */
const powers = Int16Array.of(
  ...[2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834],
  ...[2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008],
);

/** What is known of one band: the prediction of its next sample, and the size of its steps. */
class Band {
  /** The prediction, and the part of it that comes from differences alone. */
  predicted = 0;
  #fromZeros = 0;
  step: number;
  #scale = 0;
  readonly #mostScale: number;
  readonly #shift: number;
  readonly #differences = new Int32Array(7);
  readonly #zeros = new Int32Array(7);
  readonly #rebuilt = new Int32Array(3);
  readonly #partial = new Int32Array(3);
  #pole1 = 0;
  #pole2 = 0;

  constructor(kind: 'low' | 'high') {
    this.step = kind === 'low' ? 32 : 8;
    this.#mostScale = kind === 'low' ? 18_432 : 22_528;
    this.#shift = kind === 'low' ? 8 : 10;
  }

  /** Takes the quantised difference of a sample. */
  take(difference: number, growth: number): void {
    const scale = ((this.#scale * 127) >> 7) + growth;
    this.#scale = scale < 0 ? 0 : Math.min(scale, this.#mostScale);
    const power = powers[(this.#scale >> 6) & 31] ?? 0;
    const down = this.#shift - (this.#scale >> 11);
    this.step = (down < 0 ? power << -down : power >> down) << 2;
    this.#adapt(difference);
  }

  #adapt(difference: number): void {
    const [rebuilt, partial] = [this.#rebuilt, this.#partial];
    rebuilt[0] = limited(this.predicted + difference);
    partial[0] = limited(this.#fromZeros + difference);
    const isNegative = partial[0] < 0;
    const same1 = isNegative === (partial[1] ?? 0) < 0;
    const same2 = isNegative === (partial[2] ?? 0) < 0;
    this.#adaptPoles(same1, same2);
    this.#adaptZeros(difference);
    this.#differences[0] = difference;
    this.#differences.copyWithin(1, 0, 6);
    rebuilt.copyWithin(1, 0, 2);
    partial.copyWithin(1, 0, 2);
    this.#predict();
  }

  #adaptPoles(same1: boolean, same2: boolean): void {
    const first = limited(this.#pole1 << 2);
    const turned = same1 ? Math.min(32_767, -first) : first;
    const pole2 = (turned >> 7) + (same2 ? 128 : -128) + ((this.#pole2 * 32_512) >> 15);
    this.#pole2 = Math.max(-12_288, Math.min(12_288, pole2));
    const pole1 = limited((same1 ? 192 : -192) + ((this.#pole1 * 32_640) >> 15));
    const most = limited(15_360 - this.#pole2);
    this.#pole1 = Math.max(-most, Math.min(most, pole1));
  }

  #adaptZeros(difference: number): void {
    const by = difference === 0 ? 0 : 128;
    for (let i = 1; i <= 6; i += 1) {
      const isSame = (this.#differences[i] ?? 0) < 0 === difference < 0;
      this.#zeros[i] = limited((isSame ? by : -by) + (((this.#zeros[i] ?? 0) * 32_640) >> 15));
    }
  }

  #predict(): void {
    const doubled1 = limited(2 * (this.#rebuilt[1] ?? 0));
    const doubled2 = limited(2 * (this.#rebuilt[2] ?? 0));
    const fromPoles = limited(((this.#pole1 * doubled1) >> 15) + ((this.#pole2 * doubled2) >> 15));
    let fromZeros = 0;
    for (let i = 6; i > 0; i -= 1)
      fromZeros += ((this.#zeros[i] ?? 0) * limited(2 * (this.#differences[i] ?? 0))) >> 15;
    this.#fromZeros = limited(fromZeros);
    this.predicted = limited(fromPoles + this.#fromZeros);
  }
}

/** Half of the filter that splits the bands and joins them again (table 11); the other half is its mirror image. */
const filter = Int16Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);

/** The last 24 samples, and the two sums over every other one of them. */
class Filter {
  readonly #samples = new Int32Array(24);
  even = 0;
  odd = 0;

  push(first: number, second: number): void {
    const samples = this.#samples;
    samples.copyWithin(0, 2);
    samples[22] = first;
    samples[23] = second;
    let [even, odd] = [0, 0];
    for (let i = 0; i < 12; i += 1) {
      odd += (samples[2 * i] ?? 0) * (filter[i] ?? 0);
      even += (samples[2 * i + 1] ?? 0) * (filter[11 - i] ?? 0);
    }
    this.even = even;
    this.odd = odd;
  }
}

const takeLow = (band: Band, code: number): void =>
  band.take((band.step * (steps4[code >> 2] ?? 0)) >> 15, growthLow[code >> 2] ?? 0);

export class G722Encoder {
  readonly #low = new Band('low');
  readonly #high = new Band('high');
  readonly #filter = new Filter();

  /** Writes a byte for each two samples of 16 kHz. */
  encode(pcm: Int16Array, out: Uint8Array): void {
    for (let i = 0; 2 * i + 1 < pcm.length; i += 1) {
      this.#filter.push(pcm[2 * i] ?? 0, pcm[2 * i + 1] ?? 0);
      const { even, odd } = this.#filter;
      out[i] = (this.#codeHigh((even - odd) >> 14) << 6) | this.#codeLow((even + odd) >> 14);
    }
  }

  #codeLow(sample: number): number {
    const band = this.#low;
    const difference = limited(sample - band.predicted);
    const size = difference < 0 ? ~difference : difference;
    let step = 1;
    while (step < 30 && size >= ((thresholds[step] ?? 0) * band.step) >> 12) step += 1;
    const code = codeOf(step, difference < 0);
    takeLow(band, code);
    return code;
  }

  #codeHigh(sample: number): number {
    const band = this.#high;
    const difference = limited(sample - band.predicted);
    const size = difference < 0 ? ~difference : difference;
    const isLarge = size >= (564 * band.step) >> 12;
    const code = difference < 0 ? (isLarge ? 0 : 1) : isLarge ? 2 : 3;
    band.take((band.step * (steps2[code] ?? 0)) >> 15, growthHigh[code] ?? 0);
    return code;
  }
}

/** Of what a band can hold. */
const heard = (value: number): number => Math.max(-16_384, Math.min(16_383, value));

export class G722Decoder {
  readonly #low = new Band('low');
  readonly #high = new Band('high');
  readonly #filter = new Filter();

  /** Writes two samples of 16 kHz for each byte. */
  decode(payload: Uint8Array, out: Int16Array): void {
    const [low, high] = [this.#low, this.#high];
    for (let i = 0; i < payload.length; i += 1) {
      const byte = payload[i] ?? 0;
      const code = byte & 63;
      const lowSample = heard(low.predicted + ((low.step * (steps6[code] ?? 0)) >> 15));
      takeLow(low, code);
      const difference = (high.step * (steps2[byte >> 6] ?? 0)) >> 15;
      const highSample = heard(high.predicted + difference);
      high.take(difference, growthHigh[byte >> 6] ?? 0);
      this.#filter.push(lowSample + highSample, lowSample - highSample);
      out[2 * i] = limited(this.#filter.even >> 11);
      out[2 * i + 1] = limited(this.#filter.odd >> 11);
    }
  }
}
