/**
 * Whether the last quarter of a second of the caller's audio is the bot's own voice that came back. It is asked about audio in which
 * there is a voice, and says yes only when what was sent explains nearly all of it (echo-fit.ts) at a delay that another look has
 * found as well: what is left of a caller who speaks into the echo is as loud as a voice, so that is no echo.
 *
 * The delay of a call is looked for once and remembered on a line of samples, which network jitter does not move. A remembered
 * delay shortens the next look and is no reason by itself. It allocates nothing for a look: work areas belong to the thread.
 */
import { ENGINE_RATE, type Millis } from '../../shared/base/units.ts';
import { bestPlace, lagsFor } from './echo-correlation.ts';
import { explains, taps } from './echo-fit.ts';
import { PlayedAudio } from './echo-played.ts';
import { lookRate, readFlat } from './echo-samples.ts';

const lookMs = 256;
const samplesOf = (ms: Millis): number => (ms * lookRate) / 1000;
const lookSamples = samplesOf(lookMs);
/** The echo of what was sent has come back by then. */
const echoWithinMs = 1_500;
/**
 * What comes back after the end of a stretch came back before its end, if it was this long: without any echo by then, none is
 * looked for in what follows, which is where most callers begin to speak.
 */
const tellingStretchMs = 2_000;
const tailMs = 160;
/**
 * Share of the energy that must be explained: at a delay that was searched for, among thousands that might explain something by
 * chance, at one near to that of an echo a moment ago, and at the one that is known. What callers and echoes have stands in docs/decisions/0028-echo-by-waveform.md.
 */
const newShare = 0.85;
const movedShare = 0.65;
const knownShare = 0.55;
/** Energy is told apart in stretches of this length. */
const stretchSamples = samplesOf(8);
/** Two looks find the same delay when they differ by less. */
const sameDelay = samplesOf(8);
/** A client that runs dry plays later from then on, or sooner when it has caught up; what moves further is another echo. */
const movedDelay = samplesOf(200);
const movedWithin = samplesOf(1_500);
/** The fit begins this much before the delay that was found. */
const before = samplesOf(4);

/** Work areas of all calls of the thread. */
const heard = new Float64Array(lookSamples);
const played = new Float64Array(lookSamples + lagsFor(lookSamples));
const nearby = new Float64Array(lookSamples + taps);

const warmingLooks = 12;

export interface EchoDetectorOptions {
  readonly played: Pick<PlayedAudio, 'within' | 'stretchMs' | 'placeOf' | 'read'>;
  /** Fills an array with the last of the caller's audio, flattened, and gives the place of its end on that line of samples. */
  readonly readHeard: (into: Float64Array) => number;
}

export class EchoDetector {
  readonly #options: EchoDetectorOptions;
  /** From a place of the caller's audio to that of the played one, where an echo was found; and what the last search found. */
  #known: number | undefined;
  #searched: number | undefined;
  /** The place of the caller's audio up to which the newest echo was heard. */
  #echoAt = Number.NEGATIVE_INFINITY;

  constructor(options: EchoDetectorOptions) {
    this.#options = options;
  }

  /** The voice that is heard now is the bot's own. Costs a look, and nothing where nothing was sent a short time ago. */
  isEcho(now: Millis): boolean {
    const source = this.#options.played;
    const hasNone = this.#known === undefined && source.stretchMs >= tellingStretchMs;
    if (!source.within(hasNone ? tailMs : echoWithinMs, now)) return false;
    const end = this.#options.readHeard(heard);
    const length = effectiveLength();
    if (length <= taps) return false;
    if (!this.#isKnown(end, length) && !this.#isFound(end, { length, now })) return false;
    this.#echoAt = end;
    return true;
  }

  #isKnown(end: number, length: number): boolean {
    return (
      this.#known !== undefined && this.#explains(end, { delay: this.#known, share: knownShare, length })
    );
  }

  /** Searches all delays. */
  #isFound(end: number, { length, now }: { length: number; now: Millis }): boolean {
    const source = this.#options.played;
    const playedEnd = source.placeOf(now);
    source.read(playedEnd, played);
    const delay = playedEnd - played.length + bestPlace(played, heard, taps) - (end - lookSamples);
    const isMoved = end - this.#echoAt < movedWithin && isNear(delay, this.#known, movedDelay);
    const isRepeated = isNear(delay, this.#searched, sameDelay);
    this.#searched = delay;
    if (!isMoved && !isRepeated) return false;
    if (!this.#explains(end, { delay, share: isMoved ? movedShare : newShare, length })) return false;
    this.#known = delay;
    return true;
  }

  /** What was sent explains what is heard, with delays from the given one on. */
  #explains(
    end: number,
    { delay, share, length }: { delay: number; share: number; length: number },
  ): boolean {
    this.#options.played.read(end + delay + before, nearby);
    // So many free weights explain their part of anything: of a short sound more is asked.
    return explains(heard, nearby, 1 - ((1 - share) * (length - taps)) / length);
  }
}

/** Samples that matter in what is heard: all of them where it is equally loud all the time, few where only its end is. */
function effectiveLength(): number {
  let sum = 0;
  let squares = 0;
  for (let at = 0; at < lookSamples; at += stretchSamples) {
    let energy = 0;
    for (let i = at; i < at + stretchSamples; i += 1) energy += (heard[i] ?? 0) ** 2;
    sum += energy;
    squares += energy * energy;
  }
  return squares === 0 ? 0 : (sum * sum * stretchSamples) / squares;
}

const isNear = (delay: number, other: number | undefined, distance: number): boolean =>
  other !== undefined && Math.abs(delay - other) <= distance;

/**
 * Makes the code of looks fast before the first call needs it: while it is interpreted, a look takes many times as long. For the
 * start of a worker, which it takes some tens of milliseconds.
 */
export function warmUpLooks(): void {
  const noise = (seed: number): Int16Array =>
    Int16Array.from({ length: ENGINE_RATE }, (_, i) => 1_000 * Math.sin(i * i * seed));
  const sent = new PlayedAudio(ENGINE_RATE);
  sent.add(noise(1), 0);
  const other = { ring: noise(2), rate: ENGINE_RATE, count: ENGINE_RATE };
  const readOther = (into: Float64Array): number => {
    readFlat(other, lookRate, into);
    return lookRate;
  };
  // Several functions, so that the compiler does not count on one of them, and begins anew with the first call's.
  const readers = [
    readOther,
    (into: Float64Array) => readOther(into),
    (into: Float64Array) => 0 + readOther(into),
  ];
  const detectors = [...readers, (into: Float64Array) => readOther(into) + 0, readOther].map(
    (readHeard) => new EchoDetector({ played: sent, readHeard }),
  );
  // Nothing is an echo here, and every look finds the same delay: each of them is as long as looks can be.
  for (let look = 0; look < warmingLooks; look += 1) for (const echo of detectors) echo.isEcho(1_000);
}
