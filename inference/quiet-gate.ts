/**
 * Which frames of a call need no run of the VAD model: those in which nothing happens. Somebody has spoken in the call, the model has
 * heard nobody for half a second, and the frame is as loud, in whole and above 1 kHz, as those in which it heard nobody. A louder or softer frame is judged at
 * once, so a gate delays nothing. It knows levels and probabilities, and nothing of audio (decision 0033).
 */
import type { FrameLevel } from '../shared/protocol/frame-levels.ts';

/** Below this probability there is surely nobody: no setting takes it for voice. */
const nobodyBelow = 0.02;
/** So many frames in a row must have been judged so, and sound alike: half a second. */
const settledFrames = 16;
/** After so many nobody waits for the next judgement: every pause that may end a turn began long ago. */
const calmFrames = 32;
/** From this probability on the model has heard a voice. */
const voiceFrom = 0.5;
/** The model comes to a call without a memory, and is not itself before it has heard a voice, or as much as 16 s. */
const awakeFrames = 512;
/** As loud as others is what lies within 1.5 dB of them. */
const likeFactor = 10 ** 0.15;
/** What wavers by more than 4.5 dB is no background: a voice could begin inside of that. */
const widestFactor = 10 ** 0.45;
/** Louder backgrounds are left to the model: -50 dBFS. */
const loudestQuiet = 1e-5;
/** What is softer than one step of PCM16 is equally soft: -90 dBFS. */
const softest = 1e-9;
/** Then one frame is judged all the same. */
const mostInARow = 64;

/** The softest and the loudest of some frames. */
class Span {
  #lowest = Number.POSITIVE_INFINITY;
  #highest = 0;

  reset(): void {
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#highest = 0;
  }

  add(power: number): void {
    this.#lowest = Math.min(this.#lowest, Math.max(power, softest));
    this.#highest = Math.max(this.#highest, power, softest);
  }

  get isWide(): boolean {
    return this.#highest > this.#lowest * widestFactor;
  }

  isLike(power: number): boolean {
    const floored = Math.max(power, softest);
    return floored >= this.#lowest / likeFactor && floored <= this.#highest * likeFactor;
  }
}

export class QuietGate {
  readonly #power = new Span();
  readonly #bright = new Span();
  /** Frames in a row in which the model heard nobody, and how many of them sound alike. */
  #calm = 0;
  #alike = 0;
  /** Frames of the call that were judged, as far as they matter. */
  #heard = 0;
  #skipped = 0;

  /** Forgets the call. */
  reset(): void {
    this.#heard = 0;
    this.#calm = 0;
    this.#skipped = 0;
    this.#startAnew();
  }

  /** Whether the next frame needs no judgement. It may be asked again about a frame that needs one. */
  skips({ power, brightPower }: FrameLevel): boolean {
    if (this.#alike === 0) return false;
    // A level that nobody has measured is like none.
    if (!this.#power.isLike(power) || !this.#bright.isLike(brightPower)) {
      this.#startAnew();
      return false;
    }
    if (this.#heard < awakeFrames || this.#alike < settledFrames) return false;
    if (power > loudestQuiet || this.#skipped >= mostInARow) return false;
    this.#skipped += 1;
    return true;
  }

  /** Takes what the model says of a frame. */
  judged({ power, brightPower }: FrameLevel, probability: number): void {
    this.#skipped = 0;
    this.#heard = probability >= voiceFrom ? awakeFrames : Math.min(this.#heard + 1, awakeFrames);
    // Written so that NaN counts as somebody.
    if (!(probability < nobodyBelow)) {
      this.#calm = 0;
      this.#startAnew();
      return;
    }
    this.#calm = Math.min(this.#calm + 1, calmFrames);
    this.#power.add(power);
    this.#bright.add(brightPower);
    if (this.#power.isWide || this.#bright.isWide) this.#startAnew();
    else this.#alike = Math.min(this.#alike + 1, settledFrames);
  }

  /** Nobody has spoken for so long that nobody waits for the next judgement. */
  get isCalm(): boolean {
    return this.#calm >= calmFrames;
  }

  #startAnew(): void {
    this.#alike = 0;
    this.#power.reset();
    this.#bright.reset();
  }
}
