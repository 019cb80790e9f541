/**
 * Where a voice goes on whose predecessor died in the middle of a text, and how much of the predecessor's audio is kept. Audio
 * that was not passed on yet may be left out, so the change is put where the text is sure: the end of a piece, or a pause.
 * Where neither is at hand it is put as early as possible, because an estimate is the better the less it spans.
 *
 * Pure; characters count from the start of the text, milliseconds from its first sample.
 */
import type { SpeechPause } from './speech-pauses.ts';
import { anchorsOf, placeWords, wordsOf } from './spoken-words.ts';
import type { PlacedWord } from './spoken-words.ts';

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

/** So much of what was heard is said again: less cannot be found in the audio. */
const rehearsedMs = 800;
/** How much slower or faster than its pace a voice may be. */
const unsure = 1.2;
/** How far a single word may be from where it would be by its pace. */
const wordOffMs = 250;

/** A voice that was once listened to is taken to sound like that for so many pieces. */
const piecesBetweenLooks = 64;

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

/** What a voice says again from here on is heard again; in the audio that was said, the place lies between two times. */
export interface AgainPlace {
  readonly chars: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly likelyMs: number;
}

export interface ResumePlace {
  /** Where the next voice begins; the length of the text when all of it was said. */
  readonly chars: number;
  /** Audio behind this is left out. */
  readonly cutMs: number;
  /** `told` by the voice; by the `share` of the text that its sounds, which are no speech, have covered; or an `estimate`. */
  readonly basis: 'told' | 'share' | 'estimate';
}

export function resumeAt(text: string, said: SaidSoFar): ResumePlace {
  if (said.words.length > 0)
    return { chars: afterTimedWords(text, said), cutMs: said.deliveredMs, basis: 'told' };
  if (said.fromMs >= said.releasedMs) return { chars: said.from, cutMs: said.fromMs, basis: 'told' };
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
  return { chars: anchor.chars, cutMs: Math.min(cutMs, said.deliveredMs), basis: 'estimate' };
}

function byEstimate(text: string, said: SaidSoFar): ResumePlace {
  const cutMs = said.releasedMs;
  const heardMs = cutMs - said.fromMs;
  const next = placeWords(text, said.from, heardOf(said, said.deliveredMs)).find(
    ({ fromMs, toMs }) => heardMs < fromMs + (toMs - fromMs) * estimatedShare,
  );
  return { chars: next?.chars ?? text.length, cutMs, basis: 'estimate' };
}

/**
 * The last word that was surely said a moment before what was heard ended, with what it takes to find it in the audio. The first
 * word when there is none.
 */
export function againAt(text: string, said: SaidSoFar): AgainPlace {
  const { from, fromMs, releasedMs, deliveredMs, msPerChar } = said;
  const placed = (pace: number): PlacedWord[] =>
    placeWords(text, from, heardOf({ ...said, msPerChar: msPerChar * pace }, deliveredMs));
  const latest = placed(unsure).findLast((word) => word.fromMs <= releasedMs - fromMs - rehearsedMs);
  const [earliest, likely] = [1 / unsure, 1].map((pace) =>
    placed(pace).find(({ chars }) => chars === latest?.chars),
  );
  if (latest === undefined || earliest === undefined || likely === undefined || latest.chars === from)
    return { chars: from, fromMs: 0, toMs: 0, likelyMs: 0 };
  return {
    chars: latest.chars,
    fromMs: Math.max(0, Math.min(earliest.fromMs, latest.fromMs) - wordOffMs),
    toMs: latest.fromMs + wordOffMs,
    likelyMs: likely.fromMs,
  };
}

/**
 * Where a voice goes on whose sounds are no speech: every character takes the same time in them. When the word that is being
 * said has come whole, it is still heard; else it is said again.
 *
 * @param options `end`: of the piece, as characters of the text. `measured`: milliseconds of a character, where it is known.
 */
export function resumeByShare(
  text: string,
  said: SaidSoFar,
  { end, measured }: { readonly end: number; readonly measured: number | undefined },
): ResumePlace {
  const { from, fromMs, releasedMs, deliveredMs } = said;
  const words = wordsOf(text.slice(0, end), from);
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return { chars: end, cutMs: releasedMs, basis: 'share' };
  const lastChars = last.chars + last.text.trimEnd().length;
  const length = lastChars - first.chars;
  // More would have come if it had ended.
  const msPerChar = Math.max(measured ?? usualMsPerChar, (deliveredMs - fromMs) / length);
  const timeOf = (chars: number): number => fromMs + (chars - first.chars) * msPerChar;
  const nearly = msPerChar / 2;
  const at = words.findIndex((word) => releasedMs < timeOf(word.chars + word.text.trimEnd().length) - nearly);
  const word = words[at] ?? last;
  const endMs = timeOf(word.chars + word.text.trimEnd().length);
  const isBegun = releasedMs > timeOf(word.chars) + nearly;
  // The last word of a voice whose pace nobody knows is never known to be whole.
  const isWhole = deliveredMs >= endMs - nearly && (word !== last || measured !== undefined);
  if (!isBegun || !isWhole) return { chars: word.chars, cutMs: releasedMs, basis: 'share' };
  const cutMs = Math.min(deliveredMs, Math.max(releasedMs, endMs));
  return { chars: words[words.indexOf(word) + 1]?.chars ?? end, cutMs, basis: 'share' };
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
  /** Milliseconds of a character, spaces included, in the last piece; what it is where sounds are no speech. */
  evenMsPerChar: number | undefined;
  /** What it says sounds like speech; absent until it has said enough. */
  isSpeech: boolean | undefined;
  /** Pieces until it is listened to again. */
  private unheardPieces = 0;
  private measured: number | undefined;

  get msPerChar(): number {
    return this.measured ?? usualMsPerChar;
  }

  get isMeasured(): boolean {
    return this.measured !== undefined;
  }

  /** So many characters took so long. Pieces of a word or two say little about a voice. */
  learn(chars: number, ms: number): void {
    if (chars < 8) return;
    const found = Math.min(mostMsPerChar, Math.max(leastMsPerChar, ms / chars));
    this.measured = this.measured === undefined ? found : this.measured * (1 - newShare) + found * newShare;
  }

  /** So many characters took so long in a whole piece, whatever it sounds like. */
  learnEven(chars: number, ms: number): void {
    if (chars > 0 && ms > 0) this.evenMsPerChar = ms / chars;
  }

  /** A piece ends; now and then it is listened to, since that is work. */
  learnSound(listen: () => boolean | undefined): void {
    this.unheardPieces -= 1;
    if (this.unheardPieces >= 0) return;
    const found = listen();
    if (found === undefined) return;
    this.isSpeech = found;
    this.unheardPieces = piecesBetweenLooks;
  }

  /** So much audio took so long to come, from its first sample on. */
  learnSpeed(audioMs: number, tookMs: number): void {
    const found = audioMs / Math.max(1, tookMs);
    this.speed = Math.max(found, (this.speed ?? found) * (1 - slowerShare) + found * slowerShare);
  }
}
