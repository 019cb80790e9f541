/**
 * Where a voice goes on whose predecessor died in the middle of a text, and how much of the predecessor's audio is kept. Audio
 * that was not passed on yet may be left out, so the change is put where the text is sure: the end of a piece, or a pause.
 * Where neither is at hand it is put as early as possible, because an estimate is the better the less it spans.
 *
 * Pure; characters count from the start of the text, milliseconds from its first sample.
 */
import type { SpeechPause } from './speech-pauses.ts';
import { anchorsOf, placeWords, wordsOf } from './spoken-words.ts';

/** Milliseconds a character takes until the voice has shown its own pace. */
const usualMsPerChar = 62;
const leastMsPerChar = 25;
const mostMsPerChar = 160;
/** How much a new measurement counts, and one that finds a voice slower at making speech. */
const newShare = 0.5;
const slowerShare = 0.1;
/** How much of a pause is kept before the other voice: it takes time to begin. */
const keptPauseMs = 120;
/** How long after a word the one behind it may be told. */
const lateMs = 1_500;
/** A word of which this much is estimated to have been said is not said again. */
const estimatedShare = 0.2;

export interface WordPlace {
  readonly chars: number;
  readonly startMs: number;
}

/** Characters `from` to the end are said from `fromMs` on; `words` and `pauses` are what is known of the audio after that. */
export interface SaidSoFar {
  readonly from: number;
  readonly fromMs: number;
  /** Empty where the voice tells no times. */
  readonly words: readonly WordPlace[];
  /** Count from `fromMs`. */
  readonly pauses: readonly SpeechPause[];
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
  /** Told by the voice, not found in its pauses or by how long words usually take. */
  readonly isSure: boolean;
}

export function resumeAt(text: string, said: SaidSoFar): ResumePlace {
  if (said.words.length > 0)
    return { chars: afterTimedWords(text, said), cutMs: said.deliveredMs, isSure: true };
  if (said.fromMs >= said.releasedMs) return { chars: said.from, cutMs: said.fromMs, isSure: true };
  return inPause(text, said) ?? byEstimate(text, said);
}

/** The first word of which less than half came. */
function afterTimedWords(text: string, { from, fromMs, words, deliveredMs, msPerChar }: SaidSoFar): number {
  let atMs = fromMs;
  for (const word of wordsOf(text, from)) {
    const known = placeAt(words, word.chars);
    if (known !== undefined) atMs = known;
    const usualMs = word.text.length * msPerChar;
    const nextMs = placeAt(words, word.chars + word.text.length) ?? atMs + usualMs;
    // What is longer than words are is a pause behind the word.
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

/** The last pause in what can still be left out, when it is known which one of the text it is. */
function inPause(text: string, said: SaidSoFar): ResumePlace | undefined {
  const anchor = anchorsOf(text, said.from, heardOf(said, said.deliveredMs)).at(-1);
  if (anchor === undefined || anchor.chars === said.from) return undefined;
  const beganMs = said.fromMs + anchor.endMs;
  const endedMs = said.fromMs + anchor.ms;
  if (endedMs < said.releasedMs) return undefined;
  const cutMs = Math.max(said.releasedMs, Math.min(endedMs, beganMs + keptPauseMs));
  return { chars: anchor.chars, cutMs: Math.min(cutMs, said.deliveredMs), isSure: false };
}

function byEstimate(text: string, said: SaidSoFar): ResumePlace {
  const cutMs = said.releasedMs;
  const heardMs = cutMs - said.fromMs;
  const next = placeWords(text, said.from, heardOf(said, said.deliveredMs)).find(
    ({ fromMs, toMs }) => heardMs < fromMs + (toMs - fromMs) * estimatedShare,
  );
  return { chars: next?.chars ?? text.length, cutMs, isSure: false };
}

const heardOf = (
  { pauses, msPerChar, fromMs }: SaidSoFar,
  untilMs: number,
): { pauses: readonly SpeechPause[]; deliveredMs: number; msPerChar: number } => ({
  pauses,
  msPerChar,
  deliveredMs: untilMs - fromMs,
});

/** What a voice has shown of itself: how fast it speaks and makes speech, and whether it tells the times of its words. */
export class Pace {
  tellsTimes = false;
  /** Milliseconds of audio that it makes in one. Time in which nobody took its audio makes it look slower. */
  speed: number | undefined;
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

  /** So much audio took so long to come, from its first sample on. */
  learnSpeed(audioMs: number, tookMs: number): void {
    const found = audioMs / Math.max(1, tookMs);
    this.speed = Math.max(found, (this.speed ?? found) * (1 - slowerShare) + found * slowerShare);
  }
}
