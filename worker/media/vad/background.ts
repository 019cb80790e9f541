/**
 * What is heard behind the caller: a café, a street, a radio. VAD takes some of it for voice, and a caller who has finished would wait for an
 * answer as long as it goes on. It is told from the caller by its level alone: hardly louder than what was heard while nobody spoke, and softer
 * than the caller. Voice that VAD is sure of is never background. Where it is quiet behind the caller, nothing is. It knows nothing of turns.
 */
import { decibels } from './frame-sound.ts';

/** Background is at most so much louder than its own level, and at least so much softer than the caller, in dB. */
const overDb = 5;
const belowVoiceDb = 2;
/** Where the caller is louder than the background by more, VAD needs no help. */
const quietBelowDb = 20;
/** A voice of this probability is the caller's, however soft it is. */
const surelyVoice = 0.9;
/** The caller's level is learned from what VAD takes for voice at least so surely. */
const clearlyVoice = 0.8;
/** VAD takes less than this for voice neither at its beginning nor at its end. */
const noVoice = 0.35;
/** The background falls fast and rises slowly, and the caller's level is the mean of about a second of voice: shares of each frame of 32 ms. */
const fallShare = 0.2;
const riseShare = 0.06;
const voiceShare = 0.03;
/** No microphone is as quiet: the line has nothing to send, or an echo was taken out. */
const digitalSilenceDb = -90;

const powerOf = (db: number): number => 10 ** (db / 10);

export class Background {
  #levelDb: number | undefined;
  #voicePower = 0;
  #voiceFrames = 0;

  /** Takes the next frame, and says whether what VAD takes for voice in it is only what is heard behind the caller. */
  hides(probability: number, levelDb: number): boolean {
    if (levelDb < digitalSilenceDb) return false;
    const isBackground = probability < surelyVoice && this.#isAsSoft(levelDb);
    if (isBackground || probability < noVoice) this.#follow(levelDb);
    else if (probability >= clearlyVoice) this.#followVoice(powerOf(levelDb));
    return isBackground;
  }

  #isAsSoft(levelDb: number): boolean {
    if (this.#levelDb === undefined || this.#voiceFrames === 0) return false;
    const voiceDb = decibels(this.#voicePower);
    if (voiceDb - this.#levelDb > quietBelowDb) return false;
    return levelDb < Math.min(this.#levelDb + overDb, voiceDb - belowVoiceDb);
  }

  #follow(levelDb: number): void {
    this.#levelDb ??= levelDb;
    this.#levelDb += (levelDb - this.#levelDb) * (levelDb < this.#levelDb ? fallShare : riseShare);
  }

  #followVoice(power: number): void {
    this.#voiceFrames += 1;
    this.#voicePower += (power - this.#voicePower) * Math.max(voiceShare, 1 / this.#voiceFrames);
  }
}
