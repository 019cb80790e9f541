/**
 * Pure. Whether a call is so noisy that taking the noise out pays: the caller's voice is compared with what is heard where nobody speaks.
 * Both are measured already, by the worker for each frame and by VAD.
 */
import type { FrameLevel } from '../../shared/protocol/frame-levels.ts';

/** On from this ratio of voice to noise down, and off from that one up, as powers: 8 and 12 dB. */
const noisyRatio = 10 ** 0.8;
const clearRatio = 10 ** 1.2;
/** VAD is sure of nobody, and of a voice. */
const nobodyBelow = 0.1;
const voiceFrom = 0.5;
/** Frames of either before a ratio means something: half a second. */
const leastFrames = 16;
/** Share of a frame in what is known of those before it: two seconds. */
const share = 1 / 64;

/** A mean that is one of all at first, and later follows. */
class Level {
  #mean = 0;
  #frames = 0;

  reset(): void {
    this.#mean = 0;
    this.#frames = 0;
  }

  take(power: number): void {
    this.#frames += 1;
    this.#mean += (power - this.#mean) * Math.max(share, 1 / this.#frames);
  }

  get mean(): number {
    return this.#mean;
  }

  get isKnown(): boolean {
    return this.#frames >= leastFrames;
  }
}

export class NoiseSwitch {
  readonly #noise = new Level();
  readonly #voice = new Level();
  #isOn = false;

  /** Forgets the call. */
  reset(): void {
    this.#noise.reset();
    this.#voice.reset();
    this.#isOn = false;
  }

  /** Takes what VAD says of a frame. */
  take({ power }: FrameLevel, probability: number): void {
    // A level that nobody has measured says nothing, and no microphone is as quiet as silence.
    if (!(power > 0)) return;
    if (probability >= voiceFrom) this.#voice.take(power);
    else if (probability < nobodyBelow) this.#noise.take(power);
    if (!this.#voice.isKnown || !this.#noise.isKnown) return;
    // Noise is under the voice as well.
    const ratio = this.#voice.mean / this.#noise.mean - 1;
    if (ratio < noisyRatio) this.#isOn = true;
    else if (ratio > clearRatio) this.#isOn = false;
  }

  get isOn(): boolean {
    return this.#isOn;
  }
}
