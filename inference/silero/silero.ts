/**
 * Silero VAD, v5 or v6, for 16 kHz: a spectrum, four convolutions and an LSTM. Through ONNX Runtime a frame takes three times as long, also
 * after a moment of sleep, and the runtime takes 40 MB; the results are the same to six digits (decision 0110).
 *
 * One instance serves all calls of a thread: its arrays are work space, and its memory of a call lies with the call.
 */
import { readFileSync } from 'node:fs';
import { newPowerSpectrum } from '../power-spectrum.ts';
import { affineBytes } from './affine-bytes.ts';
import { readWeights, type Weights } from './weights.ts';

/** A model as VAD uses it. */
export interface VadModel {
  /**
   * How probably there is a voice in a frame, 0 to 1.
   * @param input `inputSamples` samples from -1 to 1: the end of the frame before, and the frame
   * @param memory `memoryFloats` numbers, all zero at the beginning of a call: the model's memory of the call, which it changes
   */
  judge(input: Float32Array, memory: Float32Array): number;
}

export const inputSamples = 576;
export const memoryFloats = 256;

/** A spectrum is that of so many samples; the next one begins `hop` later. There are four in the input and its mirrored end. */
const window = 256;
const hop = 128;
const spectra = 4;
const mirrored = 64;
const bins = window / 2 + 1;
const hidden = 128;
const gates = 4 * hidden;
const floatBytes = Float32Array.BYTES_PER_ELEMENT;
const kernelPages = 16;

/** The convolutions: numbers of a moment that come in and out, moments that come out, and moments in from one of these to the next. */
const convolutions = [
  { channels: bins, rows: 128, columns: spectra, stride: 1 },
  { channels: 128, rows: 64, columns: 2, stride: 2 },
  { channels: 64, rows: 64, columns: 1, stride: 2 },
  { channels: 64, rows: hidden, columns: 1, stride: 1 },
] as const;

/** A matrix times each of some vectors, as affine.wat takes it. */
interface Step {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
  readonly length: number;
  readonly x: Float32Array;
  readonly xStep: number;
  readonly out: Float32Array;
  readonly columns: number;
  /** A smaller result becomes this. */
  readonly least: number;
}

/** The part of the platform's interface that is used here; the types of Node 20 leave it out. */
declare const WebAssembly: {
  Memory: new (options: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { readonly affine: (...numbers: number[]) => void } };
};

export class Silero implements VadModel {
  readonly #affine: (...numbers: number[]) => void;
  readonly #kernelMemory: ArrayBuffer;
  #taken = 0;
  readonly #window: Float32Array;
  readonly #spectrum = newPowerSpectrum(window);
  readonly #signals = [new Float64Array(window), new Float64Array(window)] as const;
  readonly #powers = [new Float64Array(bins), new Float64Array(bins)] as const;
  readonly #samples = new Float64Array(inputSamples + mirrored);
  /** Magnitudes of the spectra, one moment behind the other. */
  readonly #magnitudes: Float32Array;
  readonly #encoder: readonly Step[];
  /** The encoder's result, and behind it what the LSTM said of the frame before. */
  readonly #heard: Float32Array;
  readonly #lstm: Step;
  readonly #decoder: { readonly weights: Float32Array; readonly bias: number };

  constructor(weights: Weights) {
    const memory = new WebAssembly.Memory({ initial: kernelPages });
    this.#kernelMemory = memory.buffer;
    const module = new WebAssembly.Module(affineBytes);
    this.#affine = new WebAssembly.Instance(module, { kernel: { memory } }).exports.affine;
    // The first row of the spectrum's basis is the window times cos 0.
    this.#window = weights('stft.forward_basis_buffer', 2 * bins * window).subarray(0, window);
    this.#heard = this.#floats(2 * hidden);
    // Before and behind the moments of a convolution's input stands an empty one.
    const inputs = [spectra, 4, 2, 1].map((moments, at) =>
      this.#floats((moments + 2) * padded(convolutions[at]?.channels ?? 0)),
    );
    this.#magnitudes = (inputs[0] ?? this.#heard).subarray(padded(bins));
    this.#encoder = convolutions.map((shape, at) => ({
      ...this.#convolution(weights, at),
      length: 3 * padded(shape.channels),
      columns: shape.columns,
      least: 0,
      x: inputs[at] ?? this.#heard,
      xStep: shape.stride * padded(shape.channels),
      out: inputs[at + 1]?.subarray(shape.rows) ?? this.#heard,
    }));
    this.#lstm = {
      ...this.#recurrence(weights),
      length: 2 * hidden,
      columns: 1,
      least: -Infinity,
      x: this.#heard,
      xStep: 0,
      out: this.#floats(gates),
    };
    const [bias = 0] = weights('decoder.decoder.2.bias', 1);
    this.#decoder = { weights: weights('decoder.decoder.2.weight', hidden), bias };
  }

  /** @throws Error where the file cannot be read or holds no such model */
  static open(path: string): Silero {
    return new Silero(readWeights(readFileSync(path)));
  }

  judge(input: Float32Array, memory: Float32Array): number {
    this.#listen(input);
    for (const step of this.#encoder) this.#take(step);
    for (let i = 0; i < hidden; i += 1) this.#heard[hidden + i] = memory[i] ?? 0;
    this.#take(this.#lstm);
    return this.#decide(memory);
  }

  #take({ weights, bias, length, x, xStep, out, columns, least }: Step): void {
    const rows = bias.length;
    this.#affine(
      weights.byteOffset,
      bias.byteOffset,
      rows,
      length,
      x.byteOffset,
      xStep * floatBytes,
      out.byteOffset,
      rows * floatBytes,
      columns,
      least,
    );
  }

  /** The magnitudes of the four spectra. */
  #listen(input: Float32Array): void {
    const samples = this.#samples;
    samples.set(input);
    for (let i = 0; i < mirrored; i += 1) samples[inputSamples + i] = input[inputSamples - 2 - i] ?? 0;
    for (let first = 0; first < spectra; first += 2) {
      this.#cut(first * hop, this.#signals[0]);
      this.#cut((first + 1) * hop, this.#signals[1]);
      this.#spectrum(this.#signals, this.#powers);
      this.#measure(first, this.#powers[0]);
      this.#measure(first + 1, this.#powers[1]);
    }
  }

  #cut(from: number, signal: Float64Array): void {
    for (let i = 0; i < window; i += 1) signal[i] = (this.#samples[from + i] ?? 0) * (this.#window[i] ?? 0);
  }

  #measure(moment: number, powers: Float64Array): void {
    const at = moment * padded(bins);
    for (let bin = 0; bin < bins; bin += 1) this.#magnitudes[at + bin] = Math.sqrt(powers[bin] ?? 0);
  }

  /** The LSTM's step behind its matrix, and what it says of the frame. */
  #decide(memory: Float32Array): number {
    const gate = this.#lstm.out;
    const { weights, bias } = this.#decoder;
    let sum = bias;
    for (let i = 0; i < hidden; i += 1) {
      const admitted = sigmoid(gate[i] ?? 0) * Math.tanh(gate[2 * hidden + i] ?? 0);
      const cell = sigmoid(gate[hidden + i] ?? 0) * (memory[hidden + i] ?? 0) + admitted;
      const said = sigmoid(gate[3 * hidden + i] ?? 0) * Math.tanh(cell);
      memory[hidden + i] = cell;
      memory[i] = said;
      if (said > 0) sum += (weights[i] ?? 0) * said;
    }
    return sigmoid(sum);
  }

  /** In the file the three neighbours of a channel stand side by side, here the channels of a moment. */
  #convolution(read: Weights, at: number): Pick<Step, 'weights' | 'bias'> {
    const { channels, rows } = convolutions[at] ?? convolutions[0];
    const name = `encoder.${at}.reparam_conv`;
    const from = read(`${name}.weight`, rows * channels * 3);
    const weights = this.#floats(rows * padded(channels) * 3);
    for (let row = 0; row < rows; row += 1)
      for (let channel = 0; channel < channels; channel += 1)
        for (let tap = 0; tap < 3; tap += 1)
          weights[(row * 3 + tap) * padded(channels) + channel] =
            from[(row * channels + channel) * 3 + tap] ?? 0;
    const bias = this.#floats(rows);
    bias.set(read(`${name}.bias`, rows));
    return { weights, bias };
  }

  /** The weights of what is heard and of what was said before stand in one row, as both inputs do. */
  #recurrence(read: Weights): Pick<Step, 'weights' | 'bias'> {
    const ofHeard = read('decoder.rnn.weight_ih', gates * hidden);
    const ofSaid = read('decoder.rnn.weight_hh', gates * hidden);
    const weights = this.#floats(2 * gates * hidden);
    for (let row = 0; row < gates; row += 1) {
      weights.set(ofHeard.subarray(row * hidden, (row + 1) * hidden), 2 * row * hidden);
      weights.set(ofSaid.subarray(row * hidden, (row + 1) * hidden), (2 * row + 1) * hidden);
    }
    const [first, second] = [read('decoder.rnn.bias_ih', gates), read('decoder.rnn.bias_hh', gates)];
    const bias = this.#floats(gates);
    bias.set(first.map((value, row) => value + (second[row] ?? 0)));
    return { weights, bias };
  }

  /** An array in the kernel's memory, all zero; its length is a multiple of four. */
  #floats(length: number): Float32Array {
    const array = new Float32Array(this.#kernelMemory, this.#taken, length);
    this.#taken += length * floatBytes;
    return array;
  }
}

const padded = (length: number): number => Math.ceil(length / 4) * 4;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
