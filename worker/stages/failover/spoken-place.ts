/**
 * Where a voice goes on whose predecessor died in the middle of a text: at the first word that was not said where the voice told
 * the times of its words, and otherwise at the first piece that was not heard whole.
 *
 * Pure; characters count from the start of the text, milliseconds from its first sample.
 */

/** Milliseconds a character takes until the voice has shown its own pace. */
const usualMsPerChar = 62;
const leastMsPerChar = 25;
const mostMsPerChar = 160;
/** How much a new measurement counts. */
const newShare = 0.5;
/** How long after a word the one behind it may be told. */
const lateMs = 1_500;

export interface WordPlace {
  readonly chars: number;
  readonly startMs: number;
}

/** The pieces up to `from` are said, and those behind it from `fromMs` on. */
export interface SaidSoFar {
  readonly from: number;
  readonly fromMs: number;
  /** Of what came behind `fromMs`; empty where the voice tells no times. */
  readonly words: readonly WordPlace[];
  /** Length of the audio that came, and of what of it cannot be taken back. */
  readonly deliveredMs: number;
  readonly releasedMs: number;
  readonly msPerChar: number;
}

export interface ResumePlace {
  /** Where the next voice begins; the length of the text when all of it was said. */
  readonly chars: number;
  /** Audio behind this is left out. */
  readonly cutMs: number;
}

export function resumeAt(text: string, said: SaidSoFar): ResumePlace {
  const { from, fromMs, words, deliveredMs, releasedMs } = said;
  if (words.length > 0) return { chars: afterTimedWords(text, said), cutMs: deliveredMs };
  // A piece of which the listener has a part is said again from its start, so that nothing of the answer is missing.
  return { chars: from, cutMs: Math.max(fromMs, releasedMs) };
}

/** The first word of which less than half came. */
function afterTimedWords(text: string, { from, fromMs, words, deliveredMs, msPerChar }: SaidSoFar): number {
  let atMs = fromMs;
  for (const match of text.slice(from).matchAll(/\S+\s*/g)) {
    const word = { chars: from + match.index, text: match[0] };
    const known = placeAt(words, word.chars);
    if (known !== undefined) atMs = known;
    const usualMs = word.text.length * msPerChar;
    const nextMs = placeAt(words, word.chars + word.text.length) ?? atMs + usualMs;
    // Time that is longer than any word is a pause behind the word.
    const spokenMs = Math.min(nextMs - atMs, 2 * usualMs) * (word.text.trimEnd().length / word.text.length);
    if (deliveredMs < atMs + spokenMs / 2) return word.chars;
    // A word of which nothing was told has not begun, unless the voice tells late.
    const isLastTold = known !== undefined && words.at(-1)?.chars === word.chars;
    atMs = isLastTold ? Math.max(nextMs, Math.min(deliveredMs, atMs + lateMs)) : nextMs;
  }
  return text.length;
}

function placeAt(words: readonly WordPlace[], chars: number): number | undefined {
  return words.find((word) => word.chars === chars)?.startMs;
}

/** What a voice has shown of itself: how fast it speaks, and whether it tells the times of its words. */
export class Pace {
  tellsTimes = false;
  #measured: number | undefined;

  get msPerChar(): number {
    return this.#measured ?? usualMsPerChar;
  }

  /** So many characters took so long. A word or two say little about a voice. */
  learn(chars: number, ms: number): void {
    if (chars < 8) return;
    const found = Math.min(mostMsPerChar, Math.max(leastMsPerChar, ms / chars));
    this.#measured =
      this.#measured === undefined ? found : this.#measured * (1 - newShare) + found * newShare;
  }
}
