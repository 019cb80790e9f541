/**
 * Finds where two voices that say the same words are at the same word, by the sound of them.
 *
 * Invariant: the places keep their order, and all of the first stretch is matched with a beginning of the second. Pure; the
 * work is bounded by the lengths of the two.
 */
import { frameMs, frameSize } from './speech-sound.ts';
import type { SpeechSound } from './speech-sound.ts';

/** How far two frames are from one another, at the mean, when they are of the same word. */
const usualDistance = 1;
/** What it costs to let one voice go on and the other not: half of that where it is quiet, since pauses differ. */
const waitCost = 0.5;
const quietWeight = 0.5;
/** The second voice is this much slower or faster than the first at most, and begins this much earlier or later. */
const leastPace = 0.4;
const mostPace = 2.2;
const leastFrames = 25;
const mostFrames = 40;

/** Steps that lead to a pair of frames. */
const together = 0;
const firstAlone = 1;
const secondAlone = 2;

/** For each frame of the first the frame of the second. */
export type Matched = Int32Array;

/** Absent when there is too little to compare. */
export function matchWords(first: SpeechSound, second: SpeechSound): Matched | undefined {
  if (first.count === 0 || second.count === 0) return undefined;
  const width = second.count;
  const costs = new Float64Array(first.count * width).fill(Number.POSITIVE_INFINITY);
  const steps = new Uint8Array(first.count * width);
  for (let i = 0; i < first.count; i += 1) {
    const { from, to } = band(i, width);
    const wait = first.quiet[i] === 1 ? quietWeight : 1;
    for (let j = from; j <= to; j += 1) {
      const distance = between(first, second, i * frameSize, j * frameSize) - usualDistance;
      const at = i * width + j;
      if (at === 0) {
        costs[at] = distance;
        continue;
      }
      const otherWait = second.quiet[j] === 1 ? quietWeight : 1;
      const both = i > 0 && j > 0 ? (costs[at - width - 1] ?? 0) + 2 * distance : Number.POSITIVE_INFINITY;
      const down = i > 0 ? (costs[at - width] ?? 0) + (distance + waitCost) * wait : Number.POSITIVE_INFINITY;
      const across =
        j > 0 ? (costs[at - 1] ?? 0) + (distance + waitCost) * otherWait : Number.POSITIVE_INFINITY;
      costs[at] = Math.min(both, down, across);
      steps[at] = both <= down && both <= across ? together : down <= across ? firstAlone : secondAlone;
    }
  }
  return traced(costs, steps, { rows: first.count, width });
}

function band(row: number, width: number): { readonly from: number; readonly to: number } {
  return {
    from: Math.max(0, Math.floor(row * leastPace) - leastFrames),
    to: Math.min(width - 1, Math.ceil(row * mostPace) + mostFrames),
  };
}

function between(first: SpeechSound, second: SpeechSound, i: number, j: number): number {
  let sum = 0;
  for (let q = 0; q < frameSize; q += 1) {
    const off = (first.values[i + q] ?? 0) - (second.values[j + q] ?? 0);
    sum += off * off;
  }
  return Math.sqrt(sum / frameSize);
}

/** The cheapest way to the end of the first, backwards. */
function traced(
  costs: Float64Array,
  steps: Uint8Array,
  { rows, width }: { readonly rows: number; readonly width: number },
): Matched {
  const lastRow = (rows - 1) * width;
  let j = 0;
  for (let other = 1; other < width; other += 1)
    if ((costs[lastRow + other] ?? 0) < (costs[lastRow + j] ?? 0)) j = other;
  const matched = new Int32Array(rows);
  let i = rows - 1;
  matched[i] = j;
  while (i > 0 || j > 0) {
    const step = i === 0 ? secondAlone : j === 0 ? firstAlone : steps[i * width + j];
    if (step !== secondAlone) i -= 1;
    if (step !== firstAlone) j -= 1;
    matched[i] = j;
  }
  return matched;
}

/** The frame in whose middle a moment lies, as far as there are frames. */
export function frameAt(sound: SpeechSound, ms: number): number {
  return Math.max(0, Math.min(sound.count - 1, Math.round((ms - sound.centreMs) / frameMs)));
}
