/**
 * How the sound began that VAD does not take for a voice yet: the consonant before a vowel grows and is still there when the vowel
 * begins; a knock or a cough is loudest at once and has nearly died away when its tone comes. It judges loudness only.
 */
import type { Millis } from '../../shared/base/units.ts';

/** A consonant that is told from a knock lasts so long, */
const longEnoughMs = 128;
/** is loudest no sooner than so long after it began, its loudest frame included, */
const growsForMs = 96;
/** and has not fallen by more than this, in dB. */
const longestFallDb = 6;

export class SoundRise {
  #lengthMs = 0;
  #loudestAfterMs = 0;
  #loudestDb = Number.NEGATIVE_INFINITY;
  #newestDb = Number.NEGATIVE_INFINITY;

  /** Takes the next frame of the sound, at a level in dB below full scale. */
  take(levelDb: number, frameMs: Millis): void {
    this.#lengthMs += frameMs;
    this.#newestDb = levelDb;
    if (levelDb <= this.#loudestDb) return;
    this.#loudestDb = levelDb;
    this.#loudestAfterMs = this.#lengthMs;
  }

  /** What was heard up to now began as a consonant does. */
  get isSlow(): boolean {
    const isLong = this.#lengthMs >= longEnoughMs && this.#loudestAfterMs >= growsForMs;
    return isLong && this.#loudestDb - this.#newestDb <= longestFallDb;
  }

  forget(): void {
    this.#lengthMs = 0;
    this.#loudestAfterMs = 0;
    this.#loudestDb = Number.NEGATIVE_INFINITY;
    this.#newestDb = Number.NEGATIVE_INFINITY;
  }
}
