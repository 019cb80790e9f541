/**
 * One call's frames without their noise, where the call wants that and is noisy. It hears every frame once, in order. After frames that it
 * did not hear it begins behind some that lie in the mailbox still, so that it knows the noise.
 */
import type { FrameLevel } from '../../shared/protocol/frame-levels.ts';
import { vadFrameSamples, type Mailbox } from '../../shared/protocol/mailbox-slot.ts';
import type { NoiseMode } from '../../shared/protocol/noise-mode.ts';
import type { NoiseLimit } from './noise-limit.ts';
import { NoiseSwitch } from './noise-switch.ts';
import { NoiseSuppressor, type NoiseModel } from './suppressor.ts';

/** Frames that are heard before the first one: a fifth of a second. The shortest ring holds them beside those that may wait. */
const leadFrames = 6;

export interface FrameCleanerOptions {
  /** The model of the thread; undefined where there is none that works. */
  readonly model: () => NoiseModel | undefined;
  /** The model has failed in the middle of a call. */
  readonly failed: (error: unknown) => void;
  readonly limit: NoiseLimit;
}

export class FrameCleaner {
  readonly #options: FrameCleanerOptions;
  readonly #switch = new NoiseSwitch();
  #mode: NoiseMode = 'off';
  #suppressor: NoiseSuppressor | undefined;
  /** It has heard a frame since the last sweep. */
  #isBusy = false;
  #hasBegun = false;
  /** The frame that the suppressor hears next. */
  #next = 0;
  #frame = new Float32Array(vadFrameSamples);
  #before = new Float32Array(vadFrameSamples);

  constructor(options: FrameCleanerOptions) {
    this.#options = options;
  }

  /** Another call has the slot, or none. */
  reset(mode: NoiseMode): void {
    this.#mode = mode;
    this.#switch.reset();
    this.rest();
  }

  /** The frame without its noise, once `clean` has said that there is one, as loud as PCM16; and the one before it. */
  get frame(): Float32Array {
    return this.#frame;
  }

  get before(): Float32Array {
    return this.#before;
  }

  /** The newest frame is the first one that was heard, or the first one behind a gap. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The call's noise is to be taken out now. */
  get isWanted(): boolean {
    return this.#mode === 'on' || (this.#mode === 'auto' && this.#switch.isOn);
  }

  /** Takes the noise out of frame `index`, where that is wanted. False where VAD is to hear it as it is: nothing may keep a call from being heard. */
  clean(mailbox: Mailbox, index: number): boolean {
    if (this.#options.limit.isOver) this.rest();
    try {
      this.#suppressor ??= this.#start();
      if (this.#suppressor === undefined) return false;
      this.#take(this.#suppressor, mailbox, index);
      return true;
    } catch (error) {
      this.#forget();
      this.#options.failed(error);
      return false;
    }
  }

  #start(): NoiseSuppressor | undefined {
    const { model, limit } = this.#options;
    const loaded = model();
    if (loaded === undefined || !limit.enter()) return undefined;
    this.#next = -1;
    try {
      return new NoiseSuppressor(loaded);
    } catch (error) {
      limit.leave();
      throw error;
    }
  }

  #take(suppressor: NoiseSuppressor, mailbox: Mailbox, index: number): void {
    this.#isBusy = true;
    this.#hasBegun = this.#next !== index;
    if (this.#hasBegun) this.#next = Math.max(mailbox.base, index - leadFrames);
    for (; this.#next <= index; this.#next += 1) {
      [this.#before, this.#frame] = [this.#frame, this.#before];
      suppressor.take(mailbox.frame(this.#next), this.#frame);
    }
  }

  /** Takes what VAD says of a frame. */
  judged(level: FrameLevel, probability: number): void {
    if (this.#mode === 'auto') this.#switch.take(level, probability);
  }

  /** To be called now and then: a call that is over, or quiet, needs no memory and no place. */
  sweep(): void {
    if (!this.#isBusy) this.rest();
    this.#isBusy = false;
  }

  /** The call is heard as it is for now: it needs no memory of the model. */
  rest(): void {
    this.#suppressor?.close();
    this.#forget();
  }

  #forget(): void {
    if (this.#suppressor === undefined) return;
    this.#options.limit.leave();
    this.#suppressor = undefined;
    this.#frame.fill(0);
  }
}
