/**
 * Keeps a fault that repeats from filling the disk: each logger (there is one per call) may say each of its fixed sentences
 * a number of times, and then once a second. Lines that were left out are counted and told with the next line that is written.
 *
 * Invariant: bounded, because sentences are fixed texts of the sources and a logger is forgotten with its call.
 */
import type { Millis } from '../base/units.ts';

/** Far more than one call says of one thing in its life, unless it turns in circles. */
const burst = 20;
const everyMs = 1_000;

interface Said {
  credit: number;
  filledAt: Millis;
  leftOut: number;
}

export class LineLimit {
  readonly #said = new WeakMap<object, Map<string, Said>>();

  /** How many lines like this one were left out before it; undefined when it is to be left out as well. */
  admit(logger: object, sentence: string, now: Millis): number | undefined {
    let sentences = this.#said.get(logger);
    if (sentences === undefined) {
      sentences = new Map();
      this.#said.set(logger, sentences);
    }
    let said = sentences.get(sentence);
    if (said === undefined) {
      said = { credit: burst, filledAt: now, leftOut: 0 };
      sentences.set(sentence, said);
    }
    said.credit = Math.min(burst, said.credit + (now - said.filledAt) / everyMs);
    said.filledAt = now;
    if (said.credit < 1) {
      said.leftOut += 1;
      return undefined;
    }
    said.credit -= 1;
    const { leftOut } = said;
    said.leftOut = 0;
    return leftOut;
  }
}
