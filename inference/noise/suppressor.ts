/**
 * RNNoise as WebAssembly: takes noise out of a call's sound, frame by frame. One instance serves all calls of a thread, each with a state of
 * its own in the instance's memory. The model works at 48 kHz in blocks of 10 ms; what comes out is 19 ms older than what goes in.
 */
import { readFileSync } from 'node:fs';
import { assert } from '../../shared/base/assert.ts';
import { vadFrameSamples } from '../../shared/protocol/mailbox-slot.ts';
import { blockSamples, Thirder, tripledSamples, Tripler } from './triple-rate.ts';

interface Rnnoise {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly __wasm_call_ctors: () => void;
  readonly malloc: (bytes: number) => number;
  /** 0 when there is no memory; the argument 0 stands for the built-in weights. */
  readonly rnnoise_create: (weights: number) => number;
  readonly rnnoise_destroy: (state: number) => void;
  readonly rnnoise_process_frame: (state: number, into: number, from: number) => number;
}

/** The part of the platform's interface that is used here; the types of Node 20 leave it out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Rnnoise };
};

const pageBytes = 65_536;
/** The memory of an instance grows to this at most: far more calls than a thread can clean. */
const mostMemory = 256 * 1024 * 1024;
/** Frames are no whole number of blocks: so much is held back, that there is always a frame. */
const heldSamples = 128;

export class NoiseModel {
  readonly #rnnoise: Rnnoise;
  /** The memory of the model that a block is written to and read from. */
  readonly #at: number;
  #block: Float32Array;

  private constructor(rnnoise: Rnnoise) {
    this.#rnnoise = rnnoise;
    this.#at = rnnoise.malloc(tripledSamples * Float32Array.BYTES_PER_ELEMENT);
    assert(this.#at !== 0, 'the noise model has memory');
    this.#block = new Float32Array(rnnoise.memory.buffer, this.#at, tripledSamples);
  }

  /** Throws when the file is not there or is no such model. */
  static open(path: string, mostBytes = mostMemory): NoiseModel {
    const resize = (bytes: number): number => {
      const { memory } = rnnoise;
      // The argument is an unsigned number of 32 bits.
      const wanted = bytes >>> 0;
      if (wanted > mostBytes) return 0;
      return memory.grow(Math.ceil((wanted - memory.buffer.byteLength) / pageBytes)) < 0 ? 0 : 1;
    };
    const copy = (to: number, from: number, length: number): void => {
      new Uint8Array(rnnoise.memory.buffer).copyWithin(to, from, from + length);
    };
    const fail = (): never => {
      throw new Error('the noise model has failed');
    };
    const env = { emscripten_resize_heap: resize, emscripten_memcpy_big: copy, __assert_fail: fail };
    const rnnoise: Rnnoise = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)), { env })
      .exports;
    rnnoise.__wasm_call_ctors();
    return new NoiseModel(rnnoise);
  }

  /** A state for one call. Throws when there is no memory for it. */
  begin(): number {
    const state = this.#rnnoise.rnnoise_create(0);
    assert(state !== 0, 'the noise model has memory for a call');
    return state;
  }

  end(state: number): void {
    this.#rnnoise.rnnoise_destroy(state);
  }

  /** 10 ms at 48 kHz, as loud as PCM16: to be filled before `run`, and read behind it. */
  get block(): Float32Array {
    // Growing takes the old buffer away.
    if (this.#block.buffer !== this.#rnnoise.memory.buffer)
      this.#block = new Float32Array(this.#rnnoise.memory.buffer, this.#at, tripledSamples);
    return this.#block;
  }

  /** Gives the model's own probability of a voice. */
  run(state: number): number {
    return this.#rnnoise.rnnoise_process_frame(state, this.#at, this.#at);
  }
}

/** The part of the model that a call uses. */
type CallsModel = Pick<NoiseModel, 'begin' | 'end' | 'block' | 'run'>;

/** Takes the noise out of one call. */
export class NoiseSuppressor {
  readonly #model: CallsModel;
  readonly #state: number;
  readonly #up = new Tripler();
  readonly #down = new Thirder();
  /** Samples of the next block that are there. */
  #filled = 0;
  /** Samples that came out and were not taken. */
  readonly #out = new Float32Array(heldSamples + vadFrameSamples + blockSamples);
  #held = heldSamples;

  constructor(model: CallsModel) {
    this.#model = model;
    this.#state = model.begin();
  }

  /** Takes the next frame of 16 kHz PCM16 and gives one without its noise, as loud as PCM16. */
  take(frame: Int16Array, into: Float32Array): void {
    for (let at = 0; at < vadFrameSamples;) {
      const count = Math.min(vadFrameSamples - at, blockSamples - this.#filled);
      this.#up.block.set(frame.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === blockSamples) this.#runBlock();
    }
    into.set(this.#out.subarray(0, vadFrameSamples));
    this.#out.copyWithin(0, vadFrameSamples, this.#held);
    this.#held -= vadFrameSamples;
  }

  #runBlock(): void {
    const { block } = this.#model;
    this.#up.run(block);
    this.#model.run(this.#state);
    this.#down.run(block, this.#out.subarray(this.#held, this.#held + blockSamples));
    this.#held += blockSamples;
    this.#filled = 0;
  }

  /** Gives the memory back; nothing may be taken after that. */
  close(): void {
    this.#model.end(this.#state);
  }
}
