/**
 * Whether a voice is surely speech, long before its length alone would prove it: VAD is sure of it, it has the pitch of a voice and
 * does not sound like a hum, and there has been sound for long enough, the soft beginning included that VAD is late for.
 * Loudness alone makes nothing sure. It knows nothing of turns, and what it is sure of may still be somebody else's voice.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { decibels, type FrameSound } from '../vad/frame-sound.ts';
import { proofThresholds as limits } from './thresholds.ts';

/** A sound that has gone on for longer without a proof is not the beginning of a voice. */
export const longestUnprovedMs: Millis = limits.longestUnprovedMs;

/** The background follows what is no voice: fast to something quieter, slowly to something louder. */
const fallShare = 0.5;
const riseShare = 0.06;
const lowestBackgroundDb = -80;

interface Voice {
  readonly frameMs: Millis;
  readonly levelDb: number;
  readonly brightDb: number;
  readonly judgedByEnergy: boolean;
  /** The frame before it was voice as well. */
  readonly continues: boolean;
}

const powerOf = (db: number): number => 10 ** (db / 10);

export class VoiceProof {
  /** Probabilities from which VAD takes a frame for voice, and is sure of it. */
  readonly #threshold: number;
  readonly #sureFrom: number;
  #backgroundDb = lowestBackgroundDb;
  #brightBackgroundDb = lowestBackgroundDb;
  #soundMs = 0;
  #holeMs = 0;
  #sureMs = 0;
  #hissMs = 0;
  #isVoiced = false;
  #pitchedMs = 0;
  /** How the last frame sounds is not known, or what it is was judged by its loudness alone. */
  #isUnknown = true;
  /** Level of the loudest frame of the sound. */
  #loudestDb = lowestBackgroundDb;
  #humMs = 0;
  #loudestHumDb = lowestBackgroundDb;
  #isHum = false;
  #wasVoice = false;

  /** @param threshold probability from which VAD takes a frame for voice; half way from there to 1 it is sure. */
  constructor(threshold: number) {
    this.#threshold = threshold;
    this.#sureFrom = (1 + threshold) / 2;
  }

  /** Takes the next frame; without `sound`, how it sounds is not known. */
  take(probability: number, frameMs: Millis, sound: FrameSound | undefined): void {
    this.#isUnknown = sound?.judgedByEnergy ?? true;
    if (sound === undefined) {
      this.#isHum = false;
      this.#forgetSound();
      return;
    }
    const { judgedByEnergy } = sound;
    const levelDb = decibels(sound.power);
    const isLoud = this.#isLoud(levelDb);
    const isVoice = probability >= this.#threshold;
    if (probability < limits.overBelow) this.#learnBackground(levelDb, decibels(sound.brightPower));
    this.#measureSound(isLoud || isVoice, frameMs);
    this.#loudestDb = Math.max(this.#loudestDb, levelDb);
    if (probability < limits.overBelow) this.#sureMs = 0;
    const brightDb = this.#brightDb(sound);
    if (isLoud || isVoice) this.#hearPitch(sound, frameMs, brightDb);
    else this.#pitchedMs = 0;
    this.#isHum = false;
    const continues = this.#wasVoice;
    this.#wasVoice = isVoice;
    if (levelDb < limits.quietestTellingDb) return;
    if (isVoice) this.#hearVoice(probability, { frameMs, levelDb, brightDb, judgedByEnergy, continues });
    else if (isLoud && brightDb > limits.hissDb) this.#hissMs += frameMs;
  }

  /** The pitch is measured only as long as it may decide something. A dark frame may be part of a word as well as of a hum. */
  #hearPitch(sound: FrameSound, frameMs: Millis, brightDb: number): void {
    const mayProve = !this.isSure && this.#soundMs <= limits.longestUnprovedMs;
    if (this.#isVoiced && !mayProve) return;
    const { periodicity } = sound;
    this.#isVoiced ||= periodicity >= limits.voicedFrom;
    if (brightDb < limits.humDb) return;
    this.#pitchedMs = periodicity >= limits.pitchedFrom ? this.#pitchedMs + frameMs : 0;
  }

  #hearVoice(probability: number, { frameMs, levelDb, brightDb, judgedByEnergy, continues }: Voice): void {
    this.#isHum = brightDb < limits.humDb || this.#isBreath(levelDb);
    if (brightDb < limits.humDb) {
      this.#humMs += frameMs;
      this.#loudestHumDb = Math.max(this.#loudestHumDb, levelDb);
    }
    if (this.#isHum || judgedByEnergy) return;
    if (this.#isPitched && probability >= limits.pitchedProbability)
      this.#sureMs = Math.max(this.#sureMs, limits.sureVoiceMs);
    if (probability < this.#sureFrom) return;
    const isBegun = continues || this.#hissMs >= limits.consonantMs;
    const isSyllable =
      isBegun && probability >= (this.#hasLongHiss ? limits.afterHiss : limits.plainProbability);
    this.#sureMs += isSyllable ? Math.max(frameMs, limits.sureVoiceMs) : frameMs;
  }

  /** The last frame was part of a hum: voice without words. */
  get isHum(): boolean {
    return this.#isHum;
  }

  /** The present sound may be a voice: it has a pitch, began as a consonant does, or there is too much noise to tell. Not known, it may be one. */
  get mayBeVoice(): boolean {
    return this.#isUnknown || this.#loudestDb < this.#backgroundDb + limits.clearDb || this.#hasPitchOrHiss;
  }

  get #hasPitchOrHiss(): boolean {
    return this.#isVoiced || this.#hissMs >= limits.consonantMs;
  }

  /** VAD is sure of the present voice, which is no hum and no clatter. */
  get isSure(): boolean {
    return this.#sureMs >= limits.sureVoiceMs && this.#hasPitchOrHiss;
  }

  get #hasLongHiss(): boolean {
    return this.#hissMs >= limits.longHissMs;
  }

  /** There has been the pitch of a voice, and not of one that hums. */
  get #isPitched(): boolean {
    return this.#pitchedMs >= limits.pitchedMs && this.#humMs <= limits.humsAfterMs;
  }

  /** One look at the newest audio may make it surely speech: a pitch, a voice or a hiss came right before, and no hum. */
  get maySoonBeSure(): boolean {
    return this.#isPitched || (this.#humMs === 0 && (this.#wasVoice || this.#hissMs >= limits.consonantMs));
  }

  /** That look makes it so: a syllable goes on, or begins after its consonant. It is about the last 32 ms, which are no whole frame. */
  isSureBy(probability: number, sound: FrameSound): boolean {
    const levelDb = decibels(sound.power);
    if (!this.maySoonBeSure || probability < this.#leastBetween(sound) || levelDb < limits.quietestTellingDb)
      return false;
    if (!this.#isLoud(levelDb) || this.#brightDb(sound) < limits.humDb) return false;
    return this.#hasPitchOrHiss || sound.periodicity >= limits.voicedFrom;
  }

  /** Probability from which on a look at this makes it so; above 1 where nothing does. */
  #leastBetween(sound: FrameSound): number {
    if (this.#isPitched && sound.periodicity >= limits.pitchedFrom)
      return Math.max(this.#threshold, limits.pitchedProbability);
    if (this.#humMs > 0) return Infinity;
    return this.#hasLongHiss ? limits.afterHiss : limits.plainBetween;
  }

  /** How long there has been sound without a hole. */
  get soundMs(): Millis {
    return this.#soundMs;
  }

  /** What was heard up to now was nobody's voice who could go on; the background stays known. */
  forget(): void {
    this.#isHum = false;
    this.#wasVoice = false;
    this.#forgetSound();
  }

  #isLoud(levelDb: number): boolean {
    return levelDb > Math.max(this.#backgroundDb + limits.overBackgroundDb, limits.quietestSoundDb);
  }

  #learnBackground(levelDb: number, brightDb: number): void {
    this.#backgroundDb = followed(this.#backgroundDb, levelDb);
    this.#brightBackgroundDb = followed(this.#brightBackgroundDb, brightDb);
  }

  #measureSound(isSound: boolean, frameMs: Millis): void {
    if (isSound) {
      this.#soundMs += frameMs + this.#holeMs;
      this.#holeMs = 0;
      return;
    }
    this.#holeMs += frameMs;
    if (this.#soundMs === 0 || this.#holeMs > limits.longestHoleMs) this.#forgetSound();
  }

  /** The bright part of what is not background, in dB of the whole of it. */
  #brightDb({ power, brightPower }: FrameSound): number {
    const own = Math.max(power - powerOf(this.#backgroundDb), power / 100, 1e-12);
    const bright = Math.max(brightPower - powerOf(this.#brightBackgroundDb), 0);
    return decibels(bright / own);
  }

  #isBreath(levelDb: number): boolean {
    return this.#humMs >= limits.humsAfterMs && levelDb < this.#loudestHumDb - limits.breathDb;
  }

  #forgetSound(): void {
    this.#soundMs = 0;
    this.#loudestDb = lowestBackgroundDb;
    this.#holeMs = 0;
    this.#sureMs = 0;
    this.#hissMs = 0;
    this.#isVoiced = false;
    this.#pitchedMs = 0;
    this.#humMs = 0;
    this.#loudestHumDb = lowestBackgroundDb;
  }
}

function followed(db: number, towardsDb: number): number {
  const share = towardsDb < db ? fallShare : riseShare;
  return Math.max(lowestBackgroundDb, db + (towardsDb - db) * share);
}
