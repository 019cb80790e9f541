/**
 * Whether the last quarter of a second of the caller's audio is the agent's own voice that came back. It says yes only when what was
 * sent explains nearly all of it (fit.ts) at a delay that another look has found as well, or that loudness makes likely: what is
 * left of a caller who speaks into the echo is as loud as a voice, so that is no echo. Or, in a room that echoes for long, when the spectra
 * of both are alike (spectra.ts).
 *
 * The delay of a call is looked for once and remembered on a line of samples, which network jitter does not move. A remembered
 * delay shortens the next look and is no reason by itself. It allocates nothing for a look: work areas belong to the thread.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { bestPlace, lagsFor } from './correlation.ts';
import { explainedShare, taps } from './fit.ts';
import {
  following,
  mayBeAnyEcho,
  mayBeEcho,
  strayShare,
  type EchoHistory,
  type Following,
} from './history.ts';
import { kernelFloats } from './kernel.ts';
import { levelMs, type SoundLevels } from './levels.ts';
import type { PlayedAudio } from './played.ts';
import { lookRate } from './samples.ts';
import { mostAlike, type WideEar, type WideSource } from './spectra.ts';
import { echoThresholds as limits } from './thresholds.ts';

const lookMs = 256;
const samplesOf = (ms: Millis): number => (ms * lookRate) / 1000;
const lookSamples = samplesOf(lookMs);
/** The newest half of a look: what came before may have been a noise that is over. */
const newestSamples = samplesOf(128);
/** The echo of what was sent has come back by then. */
const echoWithinMs = 1_500;
/**
 * What comes back after the end of a stretch came back before its end, if it was this long: without any echo by then, none is
 * looked for in what follows, which is where most callers begin to speak.
 */
const tellingStretchMs = 2_000;
const tailMs = 160;
/** Less of what is heard than so many samples that matter is the beginning of a voice. */
const fewSamples = 256;
/** What spectra must be like for an echo. */
interface AlikeRule {
  /** Correlation, and the same where the look before found this delay as well. */
  readonly least: number;
  readonly leastAgain: number;
  /** Correlation of the newest of it. */
  readonly newest: number;
  /** How much louder than before it may be. */
  readonly excessDb: number;
}

const alikeRules: Readonly<Record<'new' | 'known' | 'clear', AlikeRule>> = {
  new: {
    least: limits.newLikeness,
    leastAgain: limits.newLikenessAgain,
    newest: limits.newNewest,
    excessDb: limits.alikeExcessDb,
  },
  known: {
    least: limits.knownLikeness,
    leastAgain: limits.knownLikenessAgain,
    newest: limits.knownNewest,
    excessDb: limits.alikeExcessDb,
  },
  clear: {
    least: limits.clearLikeness,
    leastAgain: limits.clearLikeness,
    newest: limits.clearNewest,
    excessDb: limits.clearExcessDb,
  },
};
/** It takes so many looks to know what share is usual. */
const looksForUsual = 10;
/** So much of a newer share counts for the usual one. */
const learning = 0.05;
/** Only echoes that are no later are likely. */
const likelyWithin = samplesOf(1_000);
const latest = samplesOf(echoWithinMs);
const levelSamples = samplesOf(levelMs);
/** Energy is told apart in stretches of this length. */
const stretchSamples = samplesOf(8);
/** Two looks find the same delay when they differ by less. */
const sameDelay = samplesOf(8);
/** Spectra tell the delay of an echo no better. */
const sameRoom = samplesOf(24);
/** What is plainly unlike an echo is not looked at again for so long. */
const unlikeFor = samplesOf(80);
/** Where the waveform of an echo is explained best, although not enough, is no further from its delay. */
const nearSearched = samplesOf(48);
/** A client that runs dry plays later from then on, or sooner when it has caught up; what moves further is another echo. */
const movedDelay = samplesOf(200);
const movedWithin = samplesOf(1_500);
/** The path that is fitted is longer, so none between two steps is passed over. */
const movedStep = samplesOf(16);
/** The fit begins this much before the delay that was found. */
const before = samplesOf(4);

/** Work areas of all calls of the thread. */
const heard = kernelFloats(lookSamples);
const played = kernelFloats(lookSamples + lagsFor(lookSamples));
const nearby = kernelFloats(lookSamples + taps);
const heardNewest = heard.subarray(lookSamples - newestSamples);
const nearbyNewest = kernelFloats(newestSamples + taps);

export interface EchoDetectorOptions {
  readonly played: Pick<PlayedAudio, 'within' | 'stretchMs' | 'placeOf' | 'read' | 'levels'> & WideSource;
  readonly heard: WideEar & {
    /** Fills an array with the last of the caller's audio, flattened, and gives the place of its end on that line of samples. */
    readonly read: (into: Float32Array) => number;
    readonly levels: SoundLevels;
  };
}

export class EchoDetector {
  readonly #options: EchoDetectorOptions;
  /** From a place of the caller's audio to that of the played one, where an echo was found; and what the last search found. */
  #known: number | undefined;
  #searched: number | undefined;
  /** The share of it that looks explain, and how many have. */
  #usualShare = 0;
  #explained = 0;
  /** The delay at which spectra were most alike in the look before; where they were not, none are compared up to this place. */
  #alike: number | undefined;
  #unlikeTo = Number.NEGATIVE_INFINITY;
  /** The place of the caller's audio up to which the newest echo was heard. */
  #echoAt = Number.NEGATIVE_INFINITY;

  constructor(options: EchoDetectorOptions) {
    this.#options = options;
  }

  /** The voice that is heard now is the agent's own. Costs a look, and nothing where nothing was sent a short time ago. */
  isEcho(now: Millis): boolean {
    const { played: source, heard: ear } = this.#options;
    const hasNone = this.#known === undefined && source.stretchMs >= tellingStretchMs;
    if (!source.within(hasNone ? tailMs : echoWithinMs, now)) return false;
    const end = ear.read(heard);
    const length = effectiveLength();
    if (length <= taps) return false;
    const known = this.#knownShare(end, length);
    if (this.#known === undefined && (end < this.#unlikeTo || !this.#mayBeAny(end, now))) return false;
    const share = known ?? this.#movedShare(end) ?? this.#foundShare(end, { length, now });
    if (share === undefined) return this.#isAlike(end, now);
    this.#learn(share, end);
    return true;
  }

  /**
   * Where waveforms do not prove it, in a room that echoes for long or while the delay changes: do spectra? They are less exact, so the
   * newest of what is heard must be alike as well, and no louder than before, or a caller would be hidden who begins to speak over an echo.
   */
  #isAlike(end: number, now: Millis): boolean {
    const { played: source, heard: ear } = this.#options;
    const atOnce = source.placeOf(now) - end;
    const isNew = this.#known === undefined;
    if (!isNew && (end < this.#unlikeTo || !this.#mayBeAny(end, now))) return false;
    // A call without echo pays for the delays around one only.
    const nearest = isNew ? (this.#searched ?? atOnce) + nearSearched : atOnce;
    const within = isNew ? 2 * nearSearched : likelyWithin;
    const found = mostAlike(ear, source, { playedEnd: end + nearest, within });
    const delay = nearest - found.later;
    const isRepeated = isNear(delay, this.#alike, sameRoom);
    this.#alike = delay;
    if (found.likeness < limits.plainlyUnlike) this.#unlikeTo = end + unlikeFor;
    if (isNew && delay < atOnce - likelyWithin) return false;
    const rule = this.#ruleAt(delay);
    if (found.likeness < (isRepeated ? rule.leastAgain : rule.least)) return false;
    const isDoubtful = isNew && found.likeness < rule.least;
    if (found.newest < (isDoubtful ? limits.newestAgain : rule.newest)) return false;
    const history = this.#historyTo(end);
    const { excessDb, spreadDb } = following(history, levelOf(delay));
    if (spreadDb >= limits.looseDb) return false;
    // Early in a call a caller who begins over the echo cannot be told by getting louder.
    if (excessDb === Infinity ? !isNew && found.newest < limits.earlyNewest : excessDb > rule.excessDb)
      return false;
    if (isNew && strayShare(history, levelOf(delay)) > (isDoubtful ? limits.strayAgain : limits.mostStray))
      return false;
    this.#known ??= delay;
    this.#echoAt = end;
    return true;
  }

  #ruleAt(delay: number): AlikeRule {
    if (this.#known === undefined) return alikeRules.new;
    return this.isClear && isNear(delay, this.#known, sameRoom) ? alikeRules.clear : alikeRules.known;
  }

  /** The call's echo is known so well that a voice it does not explain is somebody else's. */
  get isClear(): boolean {
    return this.#explained >= looksForUsual && this.#usualShare > limits.clearShare;
  }

  /**
   * What is heard now, a voice or not, is echo at the delay that an earlier look found. For every frame that is not silent, before VAD
   * judges it: VAD that has listened to the agent hears a caller late who speaks into the echo, and short words not at all.
   */
  isKnownEcho(now: Millis): boolean {
    const { played: source, heard: ear } = this.#options;
    if (this.#known === undefined || !source.within(echoWithinMs, now)) return false;
    const end = ear.read(heard);
    const from = levelOf(end - lookSamples + this.#known);
    if (source.levels.mean(from, lookSamples / levelSamples) < limits.leastPlayed) return false;
    const length = effectiveLength();
    const share = length <= taps ? undefined : this.#knownShare(end, length);
    if (share === undefined) return false;
    this.#learn(share, end);
    return true;
  }

  #learn(share: number, end: number): void {
    this.#explained += 1;
    this.#usualShare += (share - this.#usualShare) * (this.#usualShare === 0 ? 1 : learning);
    this.#echoAt = end;
  }

  /** The share at the delay that is known, where that proves the echo. */
  #knownShare(end: number, length: number): number | undefined {
    if (this.#known === undefined) return undefined;
    const share = this.#share(end, { delay: this.#known, length });
    const usual = Math.min(limits.enoughShare, this.#usualShare);
    // Found by its spectra: nothing is usual yet.
    if (this.#explained === 0) return share >= limits.againShare ? share : undefined;
    if (share >= leastKnown(usual)) return share;
    if (this.#isNewestKnown(end, this.#known, usual)) return this.#usualShare;
    if (share < limits.softPart * usual || usual > limits.clearShare) return undefined;
    const { spreadDb, excessDb } = following(this.#historyTo(end), levelOf(this.#known));
    return spreadDb < limits.closeDb && excessDb < limits.mostExcessDb ? share : undefined;
  }

  /** The newest half of it is echo. Asked of a path that looks explain well: in a room too little comes back within so short a time. */
  #isNewestKnown(end: number, known: number, usual: number): boolean {
    const length = effectiveLength(lookSamples - newestSamples);
    if (this.#explained < looksForUsual || length <= taps) return false;
    this.#options.played.read(end + known + before, nearbyNewest);
    return (
      adjustedShare(heardNewest, nearbyNewest, length) >= Math.max(limits.leastNewest, leastKnown(usual))
    );
  }

  /**
   * The same of the newest half at later delays: a client that ran dry has gone on a moment ago. A search would not find it, because so
   * little of a voice lies well beside anything.
   */
  #movedShare(end: number): number | undefined {
    if (this.#known === undefined || this.#explained < looksForUsual || end - this.#echoAt >= movedWithin)
      return undefined;
    const length = effectiveLength(lookSamples - newestSamples);
    if (length <= taps) return undefined;
    const usual = Math.min(limits.enoughShare, this.#usualShare);
    const least = Math.max(limits.leastMoved, leastKnown(usual));
    for (let later = movedStep; later <= movedDelay; later += movedStep) {
      const delay = this.#known - later;
      this.#options.played.read(end + delay + before, nearbyNewest);
      if (adjustedShare(heardNewest, nearbyNewest, length) < least) continue;
      this.#known = delay;
      return this.#usualShare;
    }
    return undefined;
  }

  /** The same at the best of all delays. */
  #foundShare(end: number, { length, now }: { length: number; now: Millis }): number | undefined {
    const source = this.#options.played;
    const playedEnd = source.placeOf(now);
    const history = this.#historyTo(end);
    const atOnce = playedEnd - end;
    source.read(playedEnd, played);
    const delay = playedEnd - played.length + bestPlace(played, heard, taps) - (end - lookSamples);
    const isMoved = end - this.#echoAt < movedWithin && isNear(delay, this.#known, movedDelay);
    const isRepeated = isNear(delay, this.#searched, sameDelay);
    this.#searched = delay;
    const isLikely =
      delay > atOnce - likelyWithin &&
      mayBeEcho(history, levelOf(delay)) &&
      mayGoOn(following(history, levelOf(delay)));
    if (!isLikely && !isMoved && !isRepeated) return undefined;
    const share = this.#share(end, { delay, length });
    const isShort = this.#known === undefined && length < fewSamples;
    if (share < Math.max(isShort ? limits.fewSamplesShare : 0, leastFound({ isLikely, isMoved, isRepeated })))
      return undefined;
    const usual = Math.min(limits.enoughShare, this.#usualShare);
    // A likeness that was not enough a moment ago is not enough only because it is found again.
    const isSame = isNear(delay, this.#known, sameDelay);
    if (this.#known !== undefined && share < (isSame ? leastKnown(usual) : limits.knownPart * usual))
      return undefined;
    this.#known = delay;
    return share;
  }

  /** Loudness allows an echo at some delay. */
  #mayBeAny(end: number, now: Millis): boolean {
    const atOnce = this.#options.played.placeOf(now) - end;
    return mayBeAnyEcho(this.#historyTo(end), levelOf(atOnce - latest), levelOf(atOnce));
  }

  #historyTo(end: number): EchoHistory {
    const { heard: ear, played: source } = this.#options;
    return { heard: ear.levels, played: source.levels, end: Math.floor(end / levelSamples) };
  }

  /** The share of what is heard that was sent, with delays from the given one on. */
  #share(end: number, { delay, length }: { delay: number; length: number }): number {
    this.#options.played.read(end + delay + before, nearby);
    return adjustedShare(heard, nearby, length);
  }
}

/** So many free weights explain their part of anything, and more of a short sound: of so many samples that matter. */
function adjustedShare(of: Float32Array, by: Float32Array, length: number): number {
  const byChance = length / (length - taps);
  return 1 - (1 - explainedShare(of, by, 1 - (1 - limits.enoughShare) / byChance)) * byChance;
}

/** How many samples of the heard sound count, from one on: all of them where it is equally loud all the time, few where only its end is loud. */
function effectiveLength(from = 0): number {
  let sum = 0;
  let squares = 0;
  for (let at = from; at < lookSamples; at += stretchSamples) {
    let energy = 0;
    for (let i = at; i < at + stretchSamples; i += 1) energy += (heard[i] ?? 0) ** 2;
    sum += energy;
    squares += energy * energy;
  }
  return squares === 0 ? 0 : (sum * sum * stretchSamples) / squares;
}

/** What was heard before was no other voice, and no noise over which somebody has begun to speak. */
const mayGoOn = ({ spreadDb, excessDb }: Following): boolean =>
  spreadDb < limits.looseDb && (excessDb < limits.looseExcessDb || excessDb === Infinity);

const levelOf = (place: number): number => Math.round(place / levelSamples);

const leastKnown = (usual: number): number =>
  Math.max(limits.leastShare, limits.knownPart * usual, 1 - limits.mostRest * (1 - usual));

function leastFound(at: { isLikely: boolean; isMoved: boolean; isRepeated: boolean }): number {
  if (at.isLikely) return at.isRepeated ? limits.againShare : limits.likelyShare;
  return at.isMoved ? limits.movedShare : limits.newShare;
}

const isNear = (delay: number, other: number | undefined, distance: number): boolean =>
  other !== undefined && Math.abs(delay - other) <= distance;
