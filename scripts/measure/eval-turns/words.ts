/**
 * A recogniser that knows the words: what a caller says in a scenario is known, so when each word has been said can be told to
 * within a syllable. It stands for a good streaming STT; a real one makes errors, which this one does not.
 */

/** A word and when it has been spoken, in milliseconds of the scenario. */
export interface SpokenWord {
  readonly word: string;
  readonly fromMs: number;
  readonly endMs: number;
}

/** A word is known this long after it was said. */
const wordDelayMs = 300;

/** Spreads the words over the speech by their letters. */
export function wordsOver(text: string, fromMs: number, endMs: number): SpokenWord[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const letters = words.reduce((sum, word) => sum + word.length + 1, 0);
  const perLetterMs = (endMs - fromMs) / Math.max(1, letters);
  let at = fromMs;
  return words.map((word) => {
    const begin = at;
    at += (word.length + 1) * perLetterMs;
    return { word, fromMs: begin, endMs: at };
  });
}

/** Puts a pause into words: those that are spoken behind `atMs` come so much later. */
export const pausedAt = (words: readonly SpokenWord[], atMs: number, pauseMs: number): SpokenWord[] =>
  words.map((word) => {
    const middle = (word.fromMs + word.endMs) / 2;
    return middle < atMs ? word : { ...word, fromMs: word.fromMs + pauseMs, endMs: word.endMs + pauseMs };
  });

/** Of the words that are spoken, those that STT has been given and had the time to tell. */
export class WordEar {
  readonly #words: readonly SpokenWord[];
  /** Where the present utterance begins; nothing is told of what was said before. */
  #fromMs = Number.NEGATIVE_INFINITY;
  #listens = false;
  #told = '';

  constructor(words: readonly SpokenWord[]) {
    this.#words = [...words].sort((a, b) => a.endMs - b.endMs);
  }

  /** It is given audio from this time on, or from where the last utterance ended. */
  listen(fromMs: number): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#fromMs = Math.max(this.#fromMs, fromMs);
    this.#told = '';
  }

  /** All words of the utterance that are known by now, when there is a new one. */
  partial(nowMs: number): string | undefined {
    if (!this.#listens) return undefined;
    const text = this.#text(nowMs - wordDelayMs);
    if (text === this.#told) return undefined;
    this.#told = text;
    return text;
  }

  /** The utterance ends here. */
  finish(nowMs: number): string {
    const text = this.#listens ? this.#text(nowMs) : '';
    this.#listens = false;
    this.#fromMs = nowMs;
    return text;
  }

  #text(untilMs: number): string {
    const heard = this.#words.filter(({ endMs }) => endMs > this.#fromMs && endMs <= untilMs);
    return heard.map(({ word }) => word).join(' ');
  }
}
