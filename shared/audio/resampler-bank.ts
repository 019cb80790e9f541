/**
 * The filter of a pair of sample rates: one Kaiser-windowed low-pass, whose coefficients are dealt out to a row for each phase. It is
 * designed once a thread and shared by all resamplers of the pair, together with the memory that the kernel works in.
 */
import { assert } from '../base/assert.ts';
import { openKernel, type Kernel } from './resampler-kernel.ts';

/** Sample rates in Hz. */
interface Rates {
  readonly from: number;
  readonly to: number;
}

/**
 * The filter, in units of the lower Nyquist frequency. The stop band begins where aliasing would; the band edge is placed so that
 * the roll-off costs less than 0.5 dB at 0.8. See docs/decisions/0002-own-polyphase-resampler.md for the figures.
 */
const STOP_EDGE = 1;
const TRANSITION = 0.24;
const STOP_DB = 96;
/** Rows are whole groups of this many taps, as the kernel takes them. */
export const GROUP = 8;
/** Longest stretch of input that is converted in one go: 20 ms at the highest rate. */
export const BLOCK = 960;
/** Bytes of a coefficient. */
export const FLOAT = Float32Array.BYTES_PER_ELEMENT;

/** What all resamplers of one pair of rates share. Addresses are those of the kernel's memory, in bytes. */
export interface Bank {
  readonly up: number;
  readonly down: number;
  /** Coefficients of one phase. */
  readonly taps: number;
  readonly kernel: Kernel;
  /** `up` rows of `taps` coefficients, each row in the order of the input samples. */
  readonly rowsAt: number;
  /** Work area: `taps - 1` samples of history, then a block; as it came, and as the kernel multiplies it. */
  readonly input: Int16Array;
  readonly inputAt: number;
  readonly workAt: number;
  readonly output: Int16Array;
  readonly outputAt: number;
}

const banks = new Map<string, Bank>();

export function bankOf(options: Rates): Bank {
  const key = `${options.from}:${options.to}`;
  const known = banks.get(key);
  if (known !== undefined) return known;
  const bank = design(options);
  banks.set(key, bank);
  return bank;
}

/** Designs the prototype low-pass at `up * from` Hz and deals its coefficients out to the phases. */
function design({ from, to }: Rates): Bank {
  const divisor = greatestCommonDivisor(from, to);
  const up = to / divisor;
  const down = from / divisor;
  const lowest = Math.min(from, to);
  // Kaiser's estimate of the length for an attenuation and a transition width, per input sample.
  const width = (Math.PI * TRANSITION * lowest) / from;
  const taps = Math.ceil((STOP_DB - 7.95) / (2.285 * width) / GROUP) * GROUP;
  const cutoff = ((STOP_EDGE - TRANSITION / 2) * lowest) / from;
  const beta = 0.1102 * (STOP_DB - 8.7);
  const scale = besselI0(beta);
  const bank = newBank({ up, down, taps });
  const rows = new Float32Array(bank.kernel.memory, bank.rowsAt, up * taps);
  for (let phase = 0; phase < up; phase++) {
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      // Distance of the output sample's centre from input sample k of the row, in input samples.
      const t = taps / 2 - 1 - k + phase / up;
      const edge = (2 * t) / taps;
      const window = Math.abs(edge) >= 1 ? 0 : besselI0(beta * Math.sqrt(1 - edge * edge)) / scale;
      const x = Math.PI * cutoff * t;
      const value = window * cutoff * (t === 0 ? 1 : Math.sin(x) / x);
      rows[phase * taps + k] = value;
      sum += value;
    }
    // Every phase passes a constant signal unchanged: without this its image at the input rate would remain.
    for (let k = 0; k < taps; k++) rows[phase * taps + k] = (rows[phase * taps + k] ?? 0) / sum;
  }
  assert(up * taps <= 65_536, 'a filter bank is small');
  return bank;
}

/** Lays out the memory of a bank without coefficients. */
function newBank({ up, down, taps }: { up: number; down: number; taps: number }): Bank {
  const samples = Math.ceil((taps - 1 + BLOCK) / GROUP) * GROUP;
  const outputs = Math.ceil((BLOCK * up) / down) + 1;
  const workAt = up * taps * FLOAT;
  const inputAt = workAt + samples * FLOAT;
  const outputAt = inputAt + samples * Int16Array.BYTES_PER_ELEMENT;
  const kernel = openKernel(outputAt + outputs * Int16Array.BYTES_PER_ELEMENT);
  return {
    up,
    down,
    taps,
    kernel,
    rowsAt: 0,
    input: new Int16Array(kernel.memory, inputAt, samples),
    inputAt,
    workAt,
    output: new Int16Array(kernel.memory, outputAt, outputs),
    outputAt,
  };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Modified Bessel function of the first kind and order 0, by its power series. */
function besselI0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
