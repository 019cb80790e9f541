/**
 * How loud the caller is, and whether a voice is too soft to be theirs: a television, or somebody else in the room. The level is learned in the
 * call, of voice while the agent is silent and of voice that STT finds words in; a worker that takes the call over learns it anew. Over the agent a
 * voice that is much softer is somebody else's. While the agent is silent, a soft voice that goes on for a second where nobody else was
 * heard is taken for the caller's, who may have moved away: words prove it, and without words it is somebody else's after all.
 * It knows nothing of turns, keeps a few numbers, and allocates nothing.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { decibels } from './frame-sound.ts';
import { levelThresholds as limits } from './level-thresholds.ts';

/** A level as the mean power of frames: of all of them at first, and then of about the last so many. */
class MeanLevel {
  readonly #frames: number;
  #power = 0;
  #count = 0;

  constructor(frames: number) {
    this.#frames = frames;
  }

  add(power: number): void {
    this.#count += 1;
    this.#power += (power - this.#power) / Math.min(this.#count, this.#frames);
  }

  /** As if it had been so for long. */
  set(db: number): void {
    this.#power = 10 ** (db / 10);
    this.#count = this.#frames;
  }

  reset(): void {
    this.#power = 0;
    this.#count = 0;
  }

  get count(): number {
    return this.#count;
  }

  get db(): number {
    return decibels(this.#power);
  }
}

export class CallerLevel {
  /** Probability from which a frame is voice. */
  readonly #threshold: number;
  readonly #isOverAgent: () => boolean;
  /** Of the last tenth of a second, and of the last half second of the present voice. */
  readonly #fast = new MeanLevel(limits.fastFrames);
  readonly #voice = new MeanLevel(limits.voiceFrames);
  /** The caller's, as far as it is known, and of a voice that is much louder than that. */
  readonly #caller = new MeanLevel(limits.callerFrames);
  readonly #louder = new MeanLevel(limits.callerFrames);
  /** Of somebody else, how much was heard of them, and how long ago, the time left out in which the caller speaks. */
  readonly #other = new MeanLevel(limits.callerFrames);
  #otherMs: Millis = 0;
  #sinceOtherMs: Millis = Infinity;
  /** STT has found words in the caller's level. */
  #isProven = false;
  /** The voice is the caller's, as far as its level tells. */
  #isNear = true;
  /** Since the last frame of that level, and since the last of a voice that was not hidden; and the silence of VAD. */
  #softMs: Millis = 0;
  #sinceNearMs: Millis = Infinity;
  /** Since the voice was as loud as the caller is. */
  #sinceLoudMs: Millis = Infinity;
  #gapMs: Millis = 0;
  /** Soft voice while the agent is silent; it has become the caller's by its length. */
  #softVoiceMs: Millis = 0;
  #isRecovered = false;
  /** The voice began behind silence. */
  #isAfresh = true;

  constructor(threshold: number, isOverAgent: () => boolean) {
    this.#threshold = threshold;
    this.#isOverAgent = isOverAgent;
  }

  /** Takes the next frame that is not the agent's own voice, and says whether its voice is too soft to be the caller's. */
  hides(probability: number, power: number, frameMs: Millis): boolean {
    this.#sinceNearMs += frameMs;
    this.#sinceLoudMs += frameMs;
    const isVoice = probability >= this.#threshold;
    // A voice that begins behind silence is as loud as it will be from the first frame on.
    if (isVoice && this.#voice.count === 0) this.#fast.reset();
    this.#fast.add(power);
    if (isVoice) this.#hearVoice(probability, power, frameMs);
    else this.#hearNoVoice(frameMs);
    return this.#voice.count > 0 && (!this.#isNear || this.#isRemote);
  }

  /** STT has told words: the caller has spoken them, unless only a voice that was hidden was heard. */
  heardWords(): void {
    if (this.#sinceNearMs > limits.wordsWithinMs) return;
    // A television may talk over the agent's first words.
    if (this.#isOverAgent() && this.isDoubtful) return;
    if (this.#voice.count > 0 && (!this.#isKnown || this.#isSoftAlone)) this.#become(this.#voice.db);
    else if (this.#louder.count >= limits.louderFrames) this.#becomeLouder();
    else if (this.#caller.count === 0 && this.#other.count > 0) {
      // The voice that spoke over the agent when nothing was known was the caller's.
      this.#become(this.#other.db);
      this.#otherMs = 0;
    }
    this.#isProven = this.#caller.count > 0;
  }

  /** What was heard of late is a soft voice, and nothing as loud as the caller was. */
  get #isSoftAlone(): boolean {
    return this.#voice.count > 0 && this.#sinceLoudMs >= limits.softAloneMs;
  }

  /** By how much the present voice is softer than the caller; negative where it is louder, undefined as long as the caller's level is not known. */
  get belowDb(): number | undefined {
    return this.#isKnown && this.#voice.count > 0 ? this.#caller.db - this.#voice.db : undefined;
  }

  /** As long as the caller's level is not known: the voice is so soft that it may be somebody else's. */
  get isDoubtful(): boolean {
    return !this.#isKnown && this.#voice.count > 0 && this.#voice.db < limits.doubtfulDb;
  }

  /** So soft over the agent that it is somebody else, whoever the caller is. */
  get #isRemote(): boolean {
    return !this.#isKnown && this.#isOverAgent() && this.#voice.db < limits.remoteDb;
  }

  /** How long ago a frame was as loud as the caller. */
  get softMs(): Millis {
    return this.#softMs;
  }

  /** Whether a single frame over the agent is as loud as the caller may be. */
  admits(power: number): boolean {
    return decibels(power) >= (this.#isKnown ? this.#caller.db - limits.overAgentDb : limits.doubtfulDb);
  }

  get #isKnown(): boolean {
    return this.#isProven || this.#caller.count >= limits.knownFrames;
  }

  get #hasOther(): boolean {
    return this.#otherMs >= limits.otherMs && this.#sinceOtherMs < limits.otherWithinMs;
  }

  get #isLikeOther(): boolean {
    return this.#hasOther && this.#fast.db <= this.#other.db + limits.otherDb;
  }

  #hearNoVoice(frameMs: Millis): void {
    this.#gapMs += frameMs;
    this.#sinceOtherMs += frameMs;
    this.#softMs += frameMs;
    if (this.#gapMs < limits.gapMs) return;
    this.#isNear = !this.#isKnown;
    this.#isRecovered = false;
    this.#isAfresh = true;
    this.#softVoiceMs = 0;
    this.#voice.reset();
    this.#louder.reset();
  }

  #hearVoice(probability: number, power: number, frameMs: Millis): void {
    const isOverAgent = this.#isOverAgent();
    this.#gapMs = 0;
    this.#voice.add(power);
    if (this.#isKnown) this.#judge(decibels(power), isOverAgent, frameMs);
    if (!this.#isNear || this.#isRemote) {
      this.#hearFar(power, isOverAgent, frameMs);
      return;
    }
    this.#sinceNearMs = 0;
    if (!this.#isKnown && (isOverAgent || this.#isLikeOther)) this.#hearOther(power, frameMs);
    else this.#learn(probability, power);
  }

  /** Whether the voice is as loud as the caller may be; what has begun may become a little softer than what begins. */
  #judge(db: number, isOverAgent: boolean, frameMs: Millis): void {
    const mostDb = this.#mostBelowDb(isOverAgent);
    const belowDb = this.#caller.db - this.#fast.db;
    this.#softMs = this.#caller.db - db <= mostDb + limits.softerDb ? 0 : this.#softMs + frameMs;
    if (belowDb <= limits.loudDb) this.#hearLoud();
    else if (!isOverAgent && !this.#hasOther) this.#hearSoft(frameMs);
    const isSteady = !isOverAgent || this.#caller.db - this.#voice.db <= limits.loudDb;
    if (belowDb <= mostDb && (this.#isNear || isSteady)) {
      this.#isNear = true;
    } else if (this.#isRecovered) this.#doubt(isOverAgent);
    else if (belowDb > mostDb + limits.softerDb) this.#isNear = false;
  }

  #hearLoud(): void {
    this.#sinceLoudMs = 0;
    this.#softVoiceMs = 0;
    this.#isRecovered = false;
    this.#isAfresh = false;
  }

  /** A soft voice where nobody else was heard is the caller's once it has lasted. */
  #hearSoft(frameMs: Millis): void {
    this.#softVoiceMs += frameMs;
    if (this.#softVoiceMs < (this.#isAfresh ? limits.recoveredMs : limits.recoveredInVoiceMs)) return;
    this.#isNear = true;
    this.#isRecovered = true;
  }

  /** Without words a voice that was taken for the caller's by its length alone is somebody else's. */
  #doubt(isOverAgent: boolean): void {
    if (!isOverAgent && this.#softVoiceMs < limits.unprovenMs) return;
    this.#isRecovered = false;
    this.#isNear = false;
    this.#softVoiceMs = 0;
    if (this.#caller.db - this.#voice.db >= limits.mostBelowDb) this.#beOther(this.#voice.db);
  }

  #mostBelowDb(isOverAgent: boolean): number {
    if (!this.#hasOther) return isOverAgent ? limits.overAgentDb : limits.aloneDb;
    const halfDb = (this.#caller.db - this.#other.db) / 2;
    return Math.min(Math.max(halfDb, limits.overAgentDb), limits.mostBelowDb);
  }

  #hearFar(power: number, isOverAgent: boolean, frameMs: Millis): void {
    if (isOverAgent || this.#hasOther) {
      this.#hearOther(power, frameMs);
      return;
    }
    this.#sinceOtherMs += frameMs;
  }

  #hearOther(power: number, frameMs: Millis): void {
    if (this.#sinceOtherMs >= limits.otherWithinMs) {
      this.#other.reset();
      this.#otherMs = 0;
    }
    this.#other.add(power);
    this.#otherMs += frameMs;
    this.#sinceOtherMs = 0;
  }

  #beOther(db: number): void {
    this.#other.set(db);
    this.#otherMs = limits.otherMs;
    this.#sinceOtherMs = 0;
  }

  #learn(probability: number, power: number): void {
    if (probability < limits.clearly || this.#isRecovered) return;
    const isLouder = this.#caller.count > 0 && this.#fast.db > this.#caller.db + limits.louderDb;
    if (!isLouder) {
      this.#caller.add(power);
      return;
    }
    this.#louder.add(power);
    const frames = this.#isProven ? limits.unprovenLouderFrames : limits.louderFrames;
    if (this.#louder.count < frames) return;
    this.#becomeLouder();
  }

  /** What was taken for the caller before is somebody else, if it goes on. */
  #becomeLouder(): void {
    this.#beOther(this.#caller.db);
    this.#become(this.#louder.db);
  }

  #become(db: number): void {
    this.#caller.set(db);
    this.#louder.reset();
    this.#isRecovered = false;
    this.#softVoiceMs = 0;
  }
}
