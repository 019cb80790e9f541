/**
 * Samples as a look for echo compares them: 4 kHz, which holds the strongest part of a voice and is cheap, and flattened, so that
 * vowels do not drown everything above them. One work area serves all calls of the thread; nothing is kept in it between two reads.
 */
import { assert } from '../../../shared/base/assert.ts';
import { isInKernel, kernel, kernelFloats, kernelWords, vectorLength } from './kernel.ts';

export const lookRate = 4_000;
/** Rate at which spectra are compared, in Hz: as much of a voice as a telephone lets through. */
export const wideRate = 8_000;
/** The longest reads, in samples. */
const longestRead = 8_192;
const longestWideRead = 2 * longestRead;

/** A ring of PCM16 and how many samples have been written into it in all. */
export interface Written {
  readonly ring: Int16Array;
  /** In Hz: twice or four times `lookRate`. */
  readonly rate: number;
  readonly count: number;
}

/** Samples that the half-band low-pass needs before and behind one. */
const half = 7;
const longestStretch = 2 * (2 * (longestRead + 1) + 2 * half) + 2 * half;

const words = kernelWords(longestStretch);
const evens = kernelFloats(longestStretch / 2);
const odds = kernelFloats(longestStretch / 2);
const halved = kernelFloats(longestStretch / 2);
const flat = kernelFloats(longestRead);

/**
 * Fills `into` with the samples that end at a place on the ring's line of time, both counted at `lookRate`. Samples that have
 * been written over, or not been written, are silence.
 */
export function readFlat({ ring, rate, count }: Written, end: number, into: Float32Array): void {
  assert(into.length <= longestRead, 'a read fits into the work area');
  assert(rate === 2 * lookRate || rate === 4 * lookRate, 'a ring has twice or four times the rate of a look');
  // One sample more at the beginning, from which the first is taken.
  const last = { from: end - into.length - 1, length: into.length + 1 };
  const middle = { from: 2 * last.from - half, length: 2 * last.length + 2 * half };
  if (rate === 2 * lookRate) {
    unroll({ ring, count }, middle.from, middle.length);
  } else {
    const length = 2 * middle.length + 2 * half;
    unroll({ ring, count }, 2 * middle.from - half, length);
    halve(length, kernel.dealWords, words.byteOffset);
  }
  if (rate === 2 * lookRate) halve(middle.length, kernel.dealWords, words.byteOffset);
  else halve(middle.length, kernel.dealFloats, halved.byteOffset);
  const target = isInKernel(into) ? into : flat;
  kernel.flatten(halved.byteOffset, target.byteOffset, vectorLength(into.length));
  if (target !== into) into.set(target.subarray(0, into.length));
}

/** The same at `wideRate` and not flattened; the place is still one of `lookRate`. */
export function readWide({ ring, rate, count }: Written, end: number, into: Float32Array): void {
  assert(into.length <= longestWideRead, 'a read fits into the work area');
  assert(rate === wideRate || rate === 2 * wideRate, 'a ring has the rate of a wide read, or twice that');
  const from = 2 * end - into.length;
  if (rate === wideRate) {
    unroll({ ring, count }, from, into.length);
    for (let i = 0; i < into.length; i += 1) into[i] = words[i] ?? 0;
    return;
  }
  const length = 2 * into.length + 2 * half;
  unroll({ ring, count }, 2 * from - half, length);
  halve(length, kernel.dealWords, words.byteOffset);
  into.set(halved.subarray(0, into.length));
}

/** Lays a stretch of the ring into the work area. */
function unroll({ ring, count }: Pick<Written, 'ring' | 'count'>, from: number, length: number): void {
  const oldest = Math.max(0, count - ring.length);
  const first = Math.min(length, Math.max(0, oldest - from));
  const last = Math.max(first, Math.min(length, count - from));
  words.fill(0, 0, first);
  const start = (from + first) % ring.length;
  const turn = Math.min(last, first + ring.length - start);
  if (turn > first) words.set(ring.subarray(start, start + turn - first), first);
  if (last > turn) words.set(ring.subarray(0, last - turn), turn);
  words.fill(0, last, length);
}

/** Halves the rate of so many samples in a work area; the result is in `halved`. */
function halve(length: number, deal: typeof kernel.dealWords, from: number): void {
  deal(from, evens.byteOffset, odds.byteOffset, vectorLength(length / 2));
  kernel.halve(evens.byteOffset, odds.byteOffset, halved.byteOffset, vectorLength(length / 2 - half));
}
