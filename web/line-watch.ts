/**
 * How well the line carries sound, by how often audio of the agent came too late in the last half minute. Pure: the time is an argument.
 */
import type { LineQuality } from './words.ts';

const LOOKED_AT_MS = 30_000;
const OFTEN = 5;

export class LineWatch {
  #seen = 0;
  /** When each of the newest gaps was noticed. */
  #gaps: number[] = [];

  /** `lateFrames`: how often audio has come too late so far. */
  judge(lateFrames: number, nowMs: number): LineQuality {
    for (; this.#seen < lateFrames; this.#seen += 1) this.#gaps.push(nowMs);
    this.#gaps = this.#gaps.slice(-OFTEN).filter((atMs) => nowMs - atMs < LOOKED_AT_MS);
    if (this.#gaps.length >= OFTEN) return 'poor';
    return this.#gaps.length > 1 ? 'fair' : 'good';
  }
}
