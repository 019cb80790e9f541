/**
 * One call's mailbox in the shared memory: a header and a ring of frames. It has one producer (the worker that owns the slot) and one
 * consumer (the thread that owns the slot), so loads and stores in sequential order are enough. Counters only grow; they index rings
 * by remainder. `generation` names the call in the slot, so that nothing of an earlier call is mistaken for this one's.
 */
import { assert } from '../base/assert.ts';
import { codeOfNoise, noiseOfCode, type NoiseMode } from './noise-mode.ts';
import { FrameLevels, levelBytes, type FrameLevel } from './frame-levels.ts';
import { PeekBox } from './peek-box.ts';
import { TurnBox } from './turn-box.ts';

/** Samples of a frame at 16 kHz: the window of Silero VAD, 32 ms. */
export const vadFrameSamples = 512;
export const vadFrameMs = 32;
/** The consumer leaves out the oldest frames when more than this many wait: late speech facts are worse than few. */
export const maxUnreadFrames = 8;
/** Probabilities that the header holds; the producer must look at least this often, in frames. */
export const resultRing = 16;

export const headerBytes = 320;
export const frameBytes = vadFrameSamples * 2;

const header = { produced: 0, consumed: 1, generation: 2, base: 3, noise: 32 } as const;
/** Where the questions to the turn model and to VAD begin in the header, in bytes. */
const boxesAt = { turn: 16, peek: 48 } as const;
const firstResultFloat = 16;

export class Mailbox {
  /** The question to the turn model about this slot's audio. */
  readonly turn: TurnBox;
  readonly peek: PeekBox;
  /** Of frames up to `levelRing` old. */
  readonly levels: FrameLevels;
  readonly #ints: Int32Array;
  readonly #results: Float32Array;
  readonly #frames: Int16Array;
  readonly #mask: number;

  constructor(memory: ArrayBuffer, options: { at: number; ringFrames: number }) {
    assert((options.ringFrames & (options.ringFrames - 1)) === 0, 'the ring length is a power of two');
    this.turn = new TurnBox(memory, options.at + boxesAt.turn);
    this.peek = new PeekBox(memory, options.at + boxesAt.peek);
    this.levels = new FrameLevels(memory, options.at + headerBytes - levelBytes);
    this.#ints = new Int32Array(memory, options.at, headerBytes / 4);
    this.#results = new Float32Array(memory, options.at + firstResultFloat * 4, resultRing);
    this.#frames = new Int16Array(memory, options.at + headerBytes, options.ringFrames * vadFrameSamples);
    this.#mask = options.ringFrames - 1;
  }

  // ---- producer: the worker ----

  /** Begins a new call in the slot. Frames of the former call are out of the way from here on. */
  begin(noise: NoiseMode = 'off'): void {
    Atomics.store(this.#ints, header.noise, codeOfNoise(noise));
    Atomics.store(this.#ints, header.base, Atomics.load(this.#ints, header.produced));
    Atomics.store(this.#ints, header.generation, (Atomics.load(this.#ints, header.generation) + 1) | 0);
  }

  get produced(): number {
    return Atomics.load(this.#ints, header.produced);
  }

  /** Where the next frame is written; it counts once `publish` is called. */
  frameToWrite(): Int16Array {
    return this.frame(this.produced);
  }

  /** Hands the frame over; without `level`, how loud it is is not known. */
  publish(level?: FrameLevel): void {
    this.levels.put(this.produced, level);
    Atomics.store(this.#ints, header.produced, this.produced + 1);
  }

  /** Speech probability of frame `index` below `consumed`; NaN when inference left the frame out. */
  result(index: number): number {
    return this.#results[index & (resultRing - 1)] ?? Number.NaN;
  }

  // ---- consumer: the inference thread ----

  get generation(): number {
    return Atomics.load(this.#ints, header.generation);
  }

  /** What the present call wants to be done about its noise; to be read behind `generation`. */
  get noise(): NoiseMode {
    return noiseOfCode(Atomics.load(this.#ints, header.noise));
  }

  /** First frame of the present call. */
  get base(): number {
    return Atomics.load(this.#ints, header.base);
  }

  get consumed(): number {
    return Atomics.load(this.#ints, header.consumed);
  }

  frame(index: number): Int16Array {
    const at = (index & this.#mask) * vadFrameSamples;
    return this.#frames.subarray(at, at + vadFrameSamples);
  }

  /** Copies of the frames from `index` on; empty when the call has changed or some are overwritten. */
  copyFrom(index: number, generation: number): Int16Array[] {
    const length = this.produced - index;
    if (this.generation !== generation || length >= this.#mask || length < 0) return [];
    return Array.from({ length }, (_, at) => this.frame(index + at).slice());
  }

  /** Writes the result of frame `index` and everything before it that was left out. */
  deliver(index: number, probability: number): void {
    this.#results[index & (resultRing - 1)] = probability;
    Atomics.store(this.#ints, header.consumed, index + 1);
  }

  /** Leaves out the frames before `index`. */
  skipTo(index: number): void {
    const from = Math.max(this.consumed, index - resultRing);
    for (let i = from; i < index; i += 1) this.#results[i & (resultRing - 1)] = Number.NaN;
    Atomics.store(this.#ints, header.consumed, index);
  }
}
