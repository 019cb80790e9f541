/**
 * Streaming sample rate conversion between the rates of a call (docs/call-protocol.md, A call).
 *
 * A polyphase FIR: the ratio of the rates is reduced to `up / down`, and each of the `up` phases of one Kaiser-windowed
 * low-pass has a row of coefficients of its own. Positions are whole numbers, so nothing drifts over a long call, and
 * every output sample is one sum in one fixed order, so the result does not depend on how the input was cut into chunks.
 *
 * Rows and the work area of a pair of rates are shared by all calls of the thread; a call owns only its history (16-bit
 * samples, one filter length) and its output buffer. Must not be made to keep state in the shared work area between
 * two calls of `process`. The sums themselves are in resampler-kernel.wat.
 */
import { SAMPLE_RATES } from '../base/units.ts';
import { BLOCK, FLOAT, GROUP, bankOf, type Bank } from './resampler-bank.ts';

export interface ResamplerOptions {
  /** Rate of the input in Hz, one of {@link SAMPLE_RATES}. */
  readonly from: number;
  /** Rate of the output in Hz, one of {@link SAMPLE_RATES}. */
  readonly to: number;
}

export interface Resampler {
  /**
   * Takes any number of mono samples. After n samples in all, exactly ceil(n * to / from) have come out. The result is
   * valid until the next call of this resampler; with equal rates it is the input itself.
   */
  process(input: Int16Array): Int16Array;
  /** The end of the stream: gives the samples still inside the filter, and starts anew. Valid as above. */
  flush(): Int16Array;
  /** Forgets everything heard so far. */
  reset(): void;
  /** By how much the output lags behind the input, in milliseconds. */
  readonly delayMs: number;
}

/** Opens a resampler. Throws `RangeError` naming the rate that is not one of {@link SAMPLE_RATES}. */
export function newResampler(options: ResamplerOptions): Resampler {
  for (const key of ['from', 'to'] as const) {
    if (!SAMPLE_RATES.includes(options[key])) {
      throw new RangeError(`resampler: ${key} must be one of ${SAMPLE_RATES.join(', ')} Hz`);
    }
  }
  if (options.from === options.to) return passThrough;
  return new PolyphaseResampler(bankOf(options), options.from);
}

const nothing = new Int16Array(0);

const passThrough: Resampler = {
  process: (input) => input,
  flush: () => nothing,
  reset: () => undefined,
  delayMs: 0,
};

class PolyphaseResampler implements Resampler {
  readonly delayMs: number;
  readonly #bank: Bank;
  /** The last `taps - 1` input samples. */
  readonly #history: Int16Array;
  #output = nothing;
  /** The part of `#output` that was given out last; kept because its length hardly ever changes. */
  #view = nothing;
  /** Position of the next output sample: whole input samples from the end of the history, and the phase. */
  #next = 0;
  #phase = 0;

  constructor(bank: Bank, from: number) {
    this.#bank = bank;
    this.#history = new Int16Array(bank.taps - 1);
    this.delayMs = ((bank.taps / 2) * 1000) / from;
  }

  process(input: Int16Array): Int16Array {
    const { up, down } = this.#bank;
    const capacity = Math.ceil((input.length * up) / down) + 1;
    if (this.#output.length < capacity) this.#output = new Int16Array(capacity);
    let written = 0;
    for (let start = 0; start < input.length; start += BLOCK) {
      written = this.#block(input, start, written);
    }
    if (this.#view.length !== written || this.#view.buffer !== this.#output.buffer) {
      this.#view = this.#output.subarray(0, written);
    }
    return this.#view;
  }

  flush(): Int16Array {
    const tail = this.process(new Int16Array(this.#bank.taps / 2));
    this.reset();
    return tail;
  }

  reset(): void {
    this.#history.fill(0);
    this.#next = 0;
    this.#phase = 0;
  }

  /** Converts up to one block of `input` from `start`; gives the new number of samples in the output. */
  #block(input: Int16Array, start: number, written: number): number {
    const bank = this.#bank;
    const past = bank.taps - 1;
    const length = Math.min(BLOCK, input.length - start);
    const history = this.#history;
    bank.input.set(history);
    bank.input.set(length === input.length ? input : input.subarray(start, start + length), past);
    const position = this.#next * bank.up + this.#phase;
    const count = Math.max(0, Math.ceil((length * bank.up - position) / bank.down));
    if (count > 0) convert(bank, { length, count, next: this.#next, phase: this.#phase });
    for (let i = 0; i < count; i++) this.#output[written + i] = bank.output[i] ?? 0;
    for (let i = 0; i < past; i++) history[i] = bank.input[length + i] ?? 0;
    const end = position + count * bank.down;
    this.#next = Math.floor(end / bank.up) - length;
    this.#phase = end % bank.up;
    return written + count;
  }
}

interface Run {
  /** Samples of the block. */
  readonly length: number;
  /** Samples that come out, at least one. */
  readonly count: number;
  /** First row of input: index into the work area, and phase. */
  readonly next: number;
  readonly phase: number;
}

/** From the bank's input to its output. */
function convert(bank: Bank, run: Run): void {
  const { up, down, taps, kernel } = bank;
  const samples = Math.ceil((taps - 1 + run.length) / GROUP) * GROUP;
  kernel.widen(bank.inputAt, bank.workAt, samples);
  kernel.convert(
    bank.rowsAt,
    taps * FLOAT,
    bank.workAt + run.next * FLOAT,
    bank.outputAt,
    run.count,
    run.phase,
    up,
    Math.floor(down / up) * FLOAT,
    down % up,
  );
}
