/** A level as the mean power of frames: of all of them at first, and then of about the last so many. */
import { decibels } from './frame-sound.ts';

export class MeanLevel {
  readonly #frames: number;
  #power = 0;
  #count = 0;

  constructor(frames: number) {
    this.#frames = frames;
  }

  add(power: number): void {
    this.#count += 1;
    this.#power += (power - this.#power) / Math.min(this.#count, this.#frames);
  }

  /** As if it had been so for long. */
  set(db: number): void {
    this.#power = 10 ** (db / 10);
    this.#count = this.#frames;
  }

  reset(): void {
    this.#power = 0;
    this.#count = 0;
  }

  get count(): number {
    return this.#count;
  }

  get db(): number {
    return decibels(this.#power);
  }
}
