/**
 * VAD's opinion about the newest 32 ms of a call between two of its frames, where it may decide something: a caller's audio comes in
 * packets that end inside a frame, and what is in it would wait for the end of the frame and for the packet after that.
 * An opinion is asked once a packet at most, is never waited for, and changes nothing in what VAD remembers.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { vadFrameSamples, type Mailbox } from '../../../shared/protocol/mailbox-slot.ts';
import { leastPeekSamples } from '../../../shared/protocol/peek-box.ts';
import { periodicity } from './frame-pitch.ts';
import { MeasuredSound, SoundMeter, type FrameSound } from './frame-sound.ts';

/** Samples that settle the filters of the meter. */
const settlingSamples = 64;
const samplesPerMs = 16;

export interface PeekOptions {
  /** An opinion about audio that is so much newer than the last frame may decide something. */
  readonly isWanted: (sinceMs: Millis) => boolean;
  /** Told after the judgement of the frame before and before that of the frame itself. `sound` is valid until it returns. */
  readonly judged: (probability: number, sinceMs: Millis, sound: FrameSound) => void;
}

export class VadPeek {
  readonly #mailbox: Mailbox;
  readonly #options: PeekOptions;
  readonly #window = new Int16Array(vadFrameSamples);
  readonly #before = new Int16Array(vadFrameSamples);
  readonly #meter = new SoundMeter();
  readonly #sound = new MeasuredSound(() => periodicity(this.#window, this.#before));
  /** Name of the question that has no answer yet, and the unfinished frame that it is about. */
  #code = 0;
  /** It has been asked about the newest packet. */
  #isAsked = false;
  #frame = -1;
  #sinceMs = 0;

  constructor(mailbox: Mailbox, options: PeekOptions) {
    this.#mailbox = mailbox;
    this.#options = options;
  }

  /** A packet has come: asks, if it is wanted. The unfinished frame has so many samples, and all frames before it have been judged or wait for it. True when it asked. */
  ask(filled: number): boolean {
    this.#isAsked = false;
    // A question about the same frame is answered first, or one after the other would be forgotten.
    if (this.#frame !== this.#mailbox.produced) this.#code = 0;
    return this.askLate(filled);
  }

  /** Asks about the same packet once more may be wanted: the frame before was judged meanwhile, or another question answered. */
  askLate(filled: number): boolean {
    if (this.#isAsked || this.#code !== 0) return false;
    if (filled < leastPeekSamples || filled > vadFrameSamples - leastPeekSamples) return false;
    const { produced, base } = this.#mailbox;
    const sinceMs = filled / samplesPerMs;
    if (produced - base < 2 || !this.#options.isWanted(sinceMs)) return false;
    this.#copy(produced, filled);
    this.#meter.measure(this.#before.subarray(vadFrameSamples - settlingSamples), this.#sound);
    this.#meter.measure(this.#window, this.#sound);
    this.#sinceMs = sinceMs;
    this.#frame = produced;
    this.#isAsked = true;
    this.#code = this.#mailbox.peek.ask(produced, filled);
    return true;
  }

  /** Tells the answer if there is one and `next` is the next frame to be told. */
  collect(next: number): void {
    if (this.#code === 0 || next !== this.#frame) return;
    const probability = this.#mailbox.peek.answer(this.#code);
    if (probability === undefined) return;
    this.#code = 0;
    this.#options.judged(probability, this.#sinceMs, this.#sound);
  }

  /** The window and what comes before it, out of three frames. */
  #copy(frame: number, filled: number): void {
    const last = this.#mailbox.frame(frame - 1);
    this.#window.set(last.subarray(filled));
    this.#window.set(this.#mailbox.frame(frame).subarray(0, filled), vadFrameSamples - filled);
    this.#before.set(this.#mailbox.frame(frame - 2).subarray(filled));
    this.#before.set(last.subarray(0, filled), vadFrameSamples - filled);
  }
}
