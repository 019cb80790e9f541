/**
 * Whether a frame is one steady tone, as the beep of an answering machine is: nearly all of its power lies at one frequency. The tones of
 * keys have two, voices have many, and noise has all of them.
 */

/** Beeps of machines lie from 400 to 2,600 Hz; a frame tells its frequency to a few. */
const lowestHz = 390;
const highestHz = 2_610;
/** So far apart are the frequencies that are looked at; between two of them the loudest is found by a parabola. */
const stepHz = 31.25;
/** Share of a frame's power that lies in its tone: of beeps with noise 10 dB below them it is nine tenths, of vowels seldom so much. */
const leastShare = 0.85;
/** A softer tone is no beep: lines carry those at -25 dBFS and above. */
const leastPower = 10 ** (-45 / 10);

export class ToneMeter {
  readonly #rate: number;
  #window = new Float64Array(0);
  /** Power of a sine with the amplitude 1 behind the window, in relation to its peak in the spectrum. */
  #scale = 0;
  #frame = new Float64Array(0);

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** Frequency of the tone that a frame of PCM16 is; undefined where it is none. */
  measure(pcm: Int16Array): number | undefined {
    this.#prepare(pcm.length);
    const frame = this.#frame;
    let power = 0;
    let windowed = 0;
    for (let i = 0; i < pcm.length; i += 1) {
      const sample = (pcm[i] ?? 0) / 32_768;
      const weighted = sample * (this.#window[i] ?? 0);
      frame[i] = weighted;
      power += sample * sample;
      windowed += weighted * weighted;
    }
    if (power / pcm.length < leastPower) return undefined;
    const hz = this.#loudest();
    if (hz === undefined) return undefined;
    return (this.#at(hz) * this.#scale) / windowed >= leastShare ? hz : undefined;
  }

  #prepare(length: number): void {
    if (this.#window.length === length) return;
    this.#frame = new Float64Array(length);
    this.#window = Float64Array.from(
      { length },
      (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / length),
    );
    let sum = 0;
    let squares = 0;
    for (const weight of this.#window) {
      sum += weight;
      squares += weight * weight;
    }
    this.#scale = (2 * squares) / (sum * sum);
  }

  /** Undefined where the loudest frequency lies beyond what is looked at. */
  #loudest(): number | undefined {
    let best = 0;
    let bestHz = 0;
    for (let hz = lowestHz - stepHz; hz <= highestHz + stepHz; hz += stepHz) {
      const power = this.#at(hz);
      if (power <= best) continue;
      best = power;
      bestHz = hz;
    }
    const [before, behind] = [this.#at(bestHz - stepHz), this.#at(bestHz + stepHz)];
    const bend = before - 2 * best + behind;
    const hz = bend < 0 ? bestHz + (stepHz * (before - behind)) / (2 * bend) : bestHz;
    return hz >= lowestHz && hz <= highestHz ? hz : undefined;
  }

  /** Power of the frame at one frequency, by Goertzel's recursion. */
  #at(hz: number): number {
    const turn = 2 * Math.cos((2 * Math.PI * hz) / this.#rate);
    let last = 0;
    let before = 0;
    for (const sample of this.#frame) {
      const next = sample + turn * last - before;
      before = last;
      last = next;
    }
    return last * last + before * before - turn * last * before;
  }
}
