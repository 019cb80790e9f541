/**
 * Samples as a look for echo compares them: 4 kHz, which holds the strongest part of a voice and is cheap, and flattened, so that
 * vowels do not drown everything above them. One work area serves all calls of the thread; nothing is kept in it between two reads.
 */
import { assert } from '../../shared/base/assert.ts';
import { ENGINE_RATE } from '../../shared/base/units.ts';

export const lookRate = 4_000;
/** The longest read, in samples of a look. */
export const longestRead = 8_192;

/** A ring of PCM16 and how many samples have been written into it in all. */
export interface Written {
  readonly ring: Int16Array;
  /** In Hz: `lookRate` times a power of two, and no more than the engine's. */
  readonly rate: number;
  readonly count: number;
}

/** A half-band low-pass: every second coefficient is zero but the one in the middle, which is a half. */
const outer = [0.3083, -0.0763, 0.0233, -0.0053] as const;
const half = 7;
/** How much of the sample before is taken away from each. */
const flattening = 0.7;

const work = new Float64Array((longestRead + 2 * half + 2) * (ENGINE_RATE / lookRate));

/**
 * Fills `into` with the samples that end at a place on the ring's line of time, both counted at `lookRate`. What has been
 * written over, and what has not been written, is silence.
 */
export function readFlat({ ring, rate, count }: Written, end: number, into: Float64Array): void {
  assert(into.length <= longestRead, 'a read fits into the work area');
  let halvings = 0;
  for (let at = rate; at > lookRate; at /= 2) halvings += 1;
  // One sample more at the beginning, from which the first is taken.
  let from = end - into.length - 1;
  let length = into.length + 1;
  for (let i = 0; i < halvings; i += 1) {
    from = 2 * from - half;
    length = 2 * length + 2 * half;
  }
  unroll({ ring, rate, count }, from, length);
  for (let i = 0; i < halvings; i += 1) {
    length = (length - 2 * half) / 2;
    halve(length);
  }
  for (let i = 0; i < into.length; i += 1) into[i] = (work[i + 1] ?? 0) - flattening * (work[i] ?? 0);
}

/** Lays a stretch of the ring into the work area. */
function unroll({ ring, count }: Written, from: number, length: number): void {
  const oldest = Math.max(0, count - ring.length);
  const first = Math.min(length, Math.max(0, oldest - from));
  const last = Math.max(first, Math.min(length, count - from));
  work.fill(0, 0, first);
  const start = (from + first) % ring.length;
  const turn = Math.min(last, first + ring.length - start);
  for (let i = first; i < turn; i += 1) work[i] = ring[start + i - first] ?? 0;
  for (let i = turn; i < last; i += 1) work[i] = ring[i - turn] ?? 0;
  work.fill(0, last, length);
}

/** Halves the rate of what lies in the work area, in place: a sample is written where nothing is read any more. */
function halve(length: number): void {
  const [a, b, c, d] = outer;
  for (let i = 0; i < length; i += 1) {
    const at = 2 * i;
    work[i] =
      0.5 * (work[at + 7] ?? 0) +
      a * ((work[at + 6] ?? 0) + (work[at + 8] ?? 0)) +
      b * ((work[at + 4] ?? 0) + (work[at + 10] ?? 0)) +
      c * ((work[at + 2] ?? 0) + (work[at + 12] ?? 0)) +
      d * ((work[at] ?? 0) + (work[at + 14] ?? 0));
  }
}
