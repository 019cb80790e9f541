/**
 * Where a voice goes on whose predecessor died in the middle of a text: at the first word of which less than half has been
 * delivered as audio.
 *
 * Places of words come from the provider where it tells them; from the last known place on they are estimated from the
 * length of words and the pace of the voice. Pure; characters count from the start of the text.
 */

/** Milliseconds a character takes until the voice has shown its own pace. */
const usualMsPerChar = 62;
const leastMsPerChar = 25;
const mostMsPerChar = 160;
/** How much a new measurement counts. */
const newShare = 0.5;

export interface WordPlace {
  readonly chars: number;
  readonly startMs: number;
}

/** Characters `from` to the end are said from `fromMs` on; `words` are the known places after that, in order. */
export interface SaidSoFar {
  readonly from: number;
  readonly fromMs: number;
  readonly words: readonly WordPlace[];
  /** Length of the audio that was delivered. */
  readonly deliveredMs: number;
  readonly msPerChar: number;
}

/** The character at which the next voice begins; the length of the text when all of it has been said. */
export function goOnAt(text: string, said: SaidSoFar): number {
  let atMs = said.fromMs;
  for (const match of text.slice(said.from).matchAll(/\S+\s*/g)) {
    const chars = said.from + match.index;
    const known = placeAt(said.words, chars);
    if (known !== undefined) atMs = known;
    const next = chars + match[0].length;
    const usualMs = match[0].length * said.msPerChar;
    const nextMs = placeAt(said.words, next) ?? atMs + usualMs;
    // What is longer than words are is a pause behind the word.
    const spokenMs = Math.min(nextMs - atMs, 2 * usualMs) * (match[0].trimEnd().length / match[0].length);
    if (said.deliveredMs < atMs + spokenMs / 2) return chars;
    atMs = nextMs;
  }
  return text.length;
}

function placeAt(words: readonly WordPlace[], chars: number): number | undefined {
  return words.find((word) => word.chars === chars)?.startMs;
}

/** How fast a voice speaks, from the pieces that it has finished. */
export class Pace {
  private measured: number | undefined;

  get msPerChar(): number {
    return this.measured ?? usualMsPerChar;
  }

  /** So many characters took so long. Pieces of a word or two say little about a voice. */
  learn(chars: number, ms: number): void {
    if (chars < 8) return;
    const found = Math.min(mostMsPerChar, Math.max(leastMsPerChar, ms / chars));
    this.measured = this.measured === undefined ? found : this.measured * (1 - newShare) + found * newShare;
  }
}
