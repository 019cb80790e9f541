/**
 * What one call hears behind the agent's voice: each sound of the agent file from its beginning, for the whole call or while the caller
 * waits. It is added to frames on their way out and is known to nothing else.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import type { SoundLoop, Turn } from './loop.ts';

/** Frames from nothing to the whole of it, and back. */
const fadeFrames = 100 / FRAME_MS;
/** The caller has waited in silence for so long when thinking becomes audible. */
const thinkingAfterMs: Millis = 1_000;

/** Whether the agent thinks aloud now: the caller waits since then, and nothing ends it but the end of the wait. Pure. */
export const thinks = (wasThinking: boolean, waitsSince: Millis | undefined, now: Millis): boolean =>
  waitsSince !== undefined && (wasThinking || now - waitsSince >= thinkingAfterMs);

export class Background {
  readonly #layers: readonly Layer[];
  readonly #hasThinking: boolean;
  #isThinking = false;

  /** @param rate of the call, in Hz. */
  constructor(loops: readonly SoundLoop[], rate: number) {
    this.#layers = loops.map((loop) => new Layer(loop, rate));
    this.#hasThinking = loops.some(({ when }) => when === 'thinking');
  }

  /** Something is to be heard in the next frame. */
  get sounds(): boolean {
    return this.#layers.some((layer) => layer.sounds);
  }

  /** Looks whether the caller waits, and since when. */
  follow(waitsSince: () => Millis | undefined, now: Millis): void {
    if (!this.#hasThinking) return;
    const isThinking = thinks(this.#isThinking, waitsSince(), now);
    if (isThinking === this.#isThinking) return;
    this.#isThinking = isThinking;
    for (const layer of this.#layers) layer.think(isThinking);
  }

  /** The call is over: nothing more is heard. */
  end(): void {
    for (const layer of this.#layers) layer.end();
  }

  /** Adds what is heard in the next 20 ms. */
  mix(samples: Int16Array): void {
    for (const layer of this.#layers) if (layer.sounds) layer.mix(samples);
  }
}

class Layer {
  readonly #turn: Turn;
  readonly #isThinking: boolean;
  #next = 0;
  /** Frames of the fade that it is away from silence, and where that goes. */
  #level = 0;
  #target: number;

  constructor(loop: SoundLoop, rate: number) {
    this.#turn = loop.at(rate);
    this.#isThinking = loop.when === 'thinking';
    this.#target = this.#isThinking ? 0 : fadeFrames;
  }

  get sounds(): boolean {
    return this.#level > 0 || this.#target > 0;
  }

  think(isThinking: boolean): void {
    if (this.#isThinking) this.#target = isThinking ? fadeFrames : 0;
  }

  end(): void {
    this.#level = 0;
    this.#target = 0;
  }

  mix(samples: Int16Array): void {
    const sound = this.#turn.frame(this.#next);
    this.#next = (this.#next + 1) % this.#turn.frames;
    if (this.#level === fadeFrames && this.#target === fadeFrames) {
      for (let at = 0; at < samples.length; at += 1)
        samples[at] = within16((samples[at] ?? 0) + (sound[at] ?? 0));
      return;
    }
    const change = Math.sign(this.#target - this.#level);
    for (let at = 0; at < samples.length; at += 1) {
      const gain = (this.#level + (change * (at + 1)) / samples.length) / fadeFrames;
      samples[at] = within16((samples[at] ?? 0) + Math.round(gain * (sound[at] ?? 0)));
    }
    this.#level += change;
  }
}

const within16 = (sample: number): number => (sample > 32_767 ? 32_767 : sample < -32_768 ? -32_768 : sample);
