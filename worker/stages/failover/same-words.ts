/**
 * Finds where two voices that say the same words are at the same word, by the sound of them.
 *
 * Invariant: the places keep their order, and all of the first stretch from its begin on is matched with a beginning of the second.
 * Pure; the work is bounded by the lengths of the two, and done in parts so that nobody waits for all of it.
 */
import { frameMs, frameSize } from './speech-sound.ts';
import type { SpeechSound } from './speech-sound.ts';

/** How far two frames are from one another, at the mean, when they are of the same word. */
const usualDistance = 1;
/** Where the begin is not known, a late one would always be the cheapest: a pair, and a frame of the first, is worth so much more. */
const pairReward = 0.1;
const frameReward = 0.35;
/** A frame is like another when those so far before and behind it are so too. */
const aroundFrames = 3;
/** What it costs to begin a frame away from where it is likely. */
const unlikelyCost = 0.3;
/** What it costs to let one voice go on and the other not: half of that where it is quiet, since pauses differ. */
const waitCost = 0.5;
const quietWeight = 0.5;
/** The second voice is this much slower or faster than the first at most, and begins this much earlier or later. */
const leastPace = 0.4;
const mostPace = 2.2;
const leastFrames = 25;
const mostFrames = 40;
/** Pairs of frames that are compared in one part of the work. */
const pairsInPart = 2_000;

/** Steps that lead to a pair of frames. */
const begin = 0;
const together = 1;
const firstAlone = 2;
const secondAlone = 3;

/** For each frame of the first the frame of the second; those before its begin are with the first one. */
export type Matched = Int32Array;

export interface Stretches {
  readonly first: SpeechSound;
  readonly second: SpeechSound;
  /** Between these frames of the first lies what the second begins with, and most likely at this one. */
  readonly from: number;
  readonly to: number;
  readonly likely: number;
}

export class WordMatching {
  private readonly stretches: Stretches;
  private readonly width: number;
  private readonly steps: Uint8Array;
  /** Squared distances of single frames, and how many rows of them are there. */
  private readonly squares: Float32Array;
  private compared = 0;
  private row: number;
  /** What it costs to come to each frame of the second, at the row before and at this one. */
  private before: Float64Array;
  private costs: Float64Array;

  constructor(stretches: Stretches) {
    const { first, second, from } = stretches;
    this.stretches = stretches;
    this.width = second.count;
    this.steps = new Uint8Array(first.count * this.width);
    this.squares = new Float32Array(first.count * this.width);
    this.row = from;
    this.before = new Float64Array(this.width).fill(Number.POSITIVE_INFINITY);
    this.costs = this.before.slice();
  }

  /** Does a part of the work; true when nothing is left of it. */
  work(): boolean {
    const { first } = this.stretches;
    for (let pairs = 0; this.row < first.count && pairs < pairsInPart; this.row += 1) {
      const { from, to } = this.band(this.row);
      while (this.compared < Math.min(first.count, this.row + aroundFrames + 1)) this.compareRow();
      this.go(this.row, from, to);
      pairs += to - from + 1;
    }
    return this.row >= first.count;
  }

  /** When the work is done; absent when there was too little to compare. */
  get matched(): Matched | undefined {
    const { first, from } = this.stretches;
    if (this.width === 0 || from >= first.count) return undefined;
    let j = 0;
    for (let other = 1; other < this.width; other += 1)
      if ((this.before[other] ?? 0) < (this.before[j] ?? 0)) j = other;
    const frames = new Int32Array(first.count);
    let i = first.count - 1;
    while (i >= from && j >= 0) {
      frames[i] = j;
      const step = this.steps[i * this.width + j];
      if (step === begin) break;
      if (step !== secondAlone) i -= 1;
      if (step !== firstAlone) j -= 1;
    }
    return frames;
  }

  private band(row: number): { readonly from: number; readonly to: number } {
    const { from, to } = this.stretches;
    return {
      from: Math.max(0, Math.floor((row - to) * leastPace) - leastFrames),
      to: Math.min(this.width - 1, Math.ceil((row - from) * mostPace) + mostFrames),
    };
  }

  private compareRow(): void {
    const { first, second } = this.stretches;
    const i = this.compared;
    const [from, to] = [
      this.band(i - aroundFrames).from - aroundFrames,
      this.band(i + aroundFrames).to + aroundFrames,
    ];
    for (let j = Math.max(0, from); j < Math.min(this.width, to + 1); j += 1) {
      let sum = 0;
      for (let q = 0; q < frameSize; q += 1) {
        const off = (first.values[i * frameSize + q] ?? 0) - (second.values[j * frameSize + q] ?? 0);
        sum += off * off;
      }
      this.squares[i * this.width + j] = sum / frameSize;
    }
    this.compared += 1;
  }

  private go(i: number, from: number, to: number): void {
    const { first, second, to: lastBegin, likely } = this.stretches;
    const { before, costs } = this;
    const usual = lastBegin === 0 ? usualDistance : usualDistance + pairReward;
    const reward = lastBegin === 0 ? 0 : frameReward;
    costs.fill(Number.POSITIVE_INFINITY);
    const wait = first.quiet[i] === 1 ? quietWeight : 1;
    for (let j = from; j <= to; j += 1) {
      const distance = this.distance(i, j) - usual;
      const otherWait = second.quiet[j] === 1 ? quietWeight : 1;
      const both = j > 0 ? (before[j - 1] ?? 0) + 2 * distance - reward : Number.POSITIVE_INFINITY;
      const down = (before[j] ?? 0) + (distance + waitCost) * wait - reward;
      const across =
        j > 0 ? (costs[j - 1] ?? 0) + (distance + waitCost) * otherWait : Number.POSITIVE_INFINITY;
      const start =
        j === 0 && i <= lastBegin ? distance + Math.abs(i - likely) * unlikelyCost : Number.POSITIVE_INFINITY;
      const least = Math.min(both, down, across, start);
      costs[j] = least;
      const alone = down <= across ? firstAlone : secondAlone;
      this.steps[i * this.width + j] = start <= least ? begin : both <= least ? together : alone;
    }
    this.before = costs;
    this.costs = before;
  }

  private distance(i: number, j: number): number {
    const { squares, width } = this;
    const [lastRow, last] = [this.stretches.first.count - 1, width - 1];
    const before = Math.max(0, i - aroundFrames) * width + Math.max(0, j - aroundFrames);
    const behind = Math.min(lastRow, i + aroundFrames) * width + Math.min(last, j + aroundFrames);
    return Math.sqrt(((squares[i * width + j] ?? 0) + (squares[before] ?? 0) + (squares[behind] ?? 0)) / 3);
  }
}

/** The frame in whose middle a moment lies, as far as there are frames. */
export function frameAt(sound: SpeechSound, ms: number): number {
  return Math.max(0, Math.min(sound.count - 1, Math.round((ms - sound.centreMs) / frameMs)));
}
