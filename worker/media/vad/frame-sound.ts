/**
 * How a frame of the caller's audio sounds: its power, how much of that lies above the pitch and the first resonance of a voice, and
 * how periodic it is (frame-pitch.ts). A hum has next to nothing up there, a hiss everything, and spoken vowels something in
 * between. The powers cost a dozen operations for each sample; the pitch is measured when it is asked for. It judges nothing.
 */

/** Mean squares, with full scale at 1. */
export interface FrameSound {
  readonly power: number;
  /** Of the part above about 1 kHz. */
  readonly brightPower: number;
  /** Of each quarter, one after another. */
  readonly quarters: readonly number[];
  /** How like itself it is one period of a voice before (frame-pitch.ts), from 0 to 1; 0 also where it is too quiet to tell. Reading it costs 5 µs. */
  readonly periodicity: number;
  /** The probability of speech that goes with it is only a judgement of its loudness. */
  readonly judgedByEnergy: boolean;
}

/** To be filled in; the owner of the samples measures how periodic they are. */
export class MeasuredSound implements FrameSound {
  power = 0;
  brightPower = 0;
  readonly quarters = [0, 0, 0, 0];
  judgedByEnergy = false;
  readonly #periodicity: () => number;

  constructor(periodicity: () => number = () => 0) {
    this.#periodicity = periodicity;
  }

  get periodicity(): number {
    return this.#periodicity();
  }
}

const splitHz = 1_000;
const sampleRate = 16_000;
/** Of a low-pass filter of the first order; two of them one after another cut the dark part off. */
const follow = 1 - Math.exp((-2 * Math.PI * splitHz) / sampleRate);
const fullScale = 32_768;

export class SoundMeter {
  #low = 0;
  #lowest = 0;

  /** Measures the next frame of 16 kHz PCM16; frames follow one another without a gap. */
  measure(frame: Int16Array, into: MeasuredSound): void {
    let low = this.#low;
    let lowest = this.#lowest;
    let sum = 0;
    let brightSum = 0;
    let before = 0;
    const quarter = Math.max(1, frame.length >> 2);
    let edge = quarter - 1;
    for (let i = 0; i < frame.length; i += 1) {
      const sample = frame[i] ?? 0;
      low += follow * (sample - low);
      const high = sample - low;
      lowest += follow * (high - lowest);
      const bright = high - lowest;
      sum += sample * sample;
      brightSum += bright * bright;
      if (i !== edge) continue;
      into.quarters[(edge + 1) / quarter - 1] = (sum - before) / (quarter * fullScale * fullScale);
      before = sum;
      edge = edge + quarter < quarter * 4 ? edge + quarter : -1;
    }
    this.#low = low;
    this.#lowest = lowest;
    const scale = Math.max(1, frame.length) * fullScale * fullScale;
    into.power = sum / scale;
    into.brightPower = brightSum / scale;
  }
}

/** Decibels below full scale; silence is -120. */
export const decibels = (power: number): number => 10 * Math.log10(Math.max(power, 1e-12));
