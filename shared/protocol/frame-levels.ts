/**
 * How loud the newest frames of a call are, in its mailbox beside their samples: the worker has measured it, and inference need
 * not do so again. Written before a frame counts, read before its place is used again; it judges nothing.
 */

/** Frames of which the levels are known; a power of two. */
export const levelRing = 16;
export const levelBytes = 2 * levelRing * 4;

/** Mean squares, with full scale at 1; not a number where nobody has measured. */
export interface FrameLevel {
  readonly power: number;
  /** Of the part above about 1 kHz. */
  readonly brightPower: number;
}

export class FrameLevels {
  readonly #powers: Float32Array;

  constructor(memory: ArrayBuffer, at: number) {
    this.#powers = new Float32Array(memory, at, 2 * levelRing);
  }

  put(index: number, level: FrameLevel | undefined): void {
    const at = 2 * (index & (levelRing - 1));
    this.#powers[at] = level?.power ?? Number.NaN;
    this.#powers[at + 1] = level?.brightPower ?? Number.NaN;
  }

  /** The level of one of the newest `levelRing` frames. */
  of(index: number): FrameLevel {
    const at = 2 * (index & (levelRing - 1));
    return { power: this.#powers[at] ?? Number.NaN, brightPower: this.#powers[at + 1] ?? Number.NaN };
  }
}
