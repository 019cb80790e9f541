/**
 * Turns speech probabilities into facts about speech. It knows nothing of turns: only how long there has been voice, what
 * kind of voice, and how long silence. Times are times of audio, so a burst of late frames is judged like punctual ones.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { Background } from './background.ts';
import { CallerLevel } from './caller-level.ts';
import { decibels, type FrameSound } from './frame-sound.ts';
import { longestUnprovedMs, VoiceProof } from '../echo/echo.ts';

export interface SpeechDetectorSettings {
  /** Probability at which a frame counts as voice when there was silence. */
  readonly threshold: number;
  /** Voice for this long is speech. */
  readonly minSpeechMs: Millis;
  /** Speech for this long may interrupt. At least `minSpeechMs`. Humming does not count. */
  readonly confirmMs: Millis;
  /** What is surely speech may interrupt after this long. At least `minSpeechMs`. */
  readonly sureMs: Millis;
  /** Silence for this long ends speech. */
  readonly stopMs: Millis;
  /** Silence for this long within speech is told; the default is never. Where `stopMs` is no longer, the end of speech tells it. */
  readonly pauseMs?: Millis;
  /** That speech goes on is told when there was so much of it, in rising order; the default is never. Humming does not count before it is long. */
  readonly lastsMs?: readonly Millis[];
}

export type SpeechFact =
  | 'speech.started'
  | 'speech.confirmed'
  | 'speech.stopped'
  | 'voice.resumed'
  | 'voice.paused'
  | 'voice.lasted';

/** A silence this long within speech is told while the agent can be heard. */
const overAgentPauseMs: Millis = 128;

/** Once there is speech, a frame counts as voice down to this much below the threshold. */
const hysteresis = 0.15;
/** No frame below this probability counts as voice, however low the threshold: else speech would never end. */
const lowestRelease = 0.03;
/** Nobody hums for longer: what goes on is a voice that only sounds dark. */
const longestHumMs = 1_000;
/** The sound of a voice is what is at most so much softer than the loudest of it: what dies away below that nobody hears as speech. */
const fadeDb = 30;
/** Nor what is less than so much louder than the background before it, unless the loudest of it is hardly more. */
const overBackgroundDb = 10;
/** Background is what VAD is as sure of as this; it is followed with a time constant of 20 frames. */
const backgroundBelow = 0.1;
const backgroundShare = 0.05;
const silentDb = -120;
/** No microphone is as quiet: -90 dBFS. */
const leastPower = 1e-9;
/** After an echo was found, voice is an echo for so many frames more: the next look is saved, and its pauses are bridged. */
const echoFrames = 2;

export interface SpeechDetectorOptions {
  /** Whether the voice that is heard now is the agent's own; asked only about voice of which it is not known that it is the caller's. */
  readonly isEcho?: () => boolean;
  /** Whether the agent is speaking: then a sound without the pitch of a voice, a clatter, is no speech before it is as long as one that interrupts. */
  readonly isOverAgent?: () => boolean;
}

const releaseOf = ({ threshold }: SpeechDetectorSettings): number =>
  Math.max(threshold - hysteresis, lowestRelease);

export class SpeechDetector {
  #settings: SpeechDetectorSettings;
  readonly #tell: (fact: SpeechFact) => void;
  readonly #isEcho: () => boolean;
  readonly #isOverAgent: () => boolean;
  /** Probability down to which a frame counts as voice during speech. */
  #release: number;
  #speech = false;
  #confirmed = false;
  /** Voice since speech may have begun; silences inside speech do not count. */
  #voiceMs = 0;
  /** That part of it which was hummed. */
  #hummedMs = 0;
  #silenceMs = 0;
  /** How many of `lastsMs` were told of this speech. */
  #lastsTold = 0;
  /** Level of the loudest part of the speech and of what was heard before it, and how long ago its sound was last heard. */
  #loudestDb = silentDb;
  #backgroundDb = silentDb;
  #quietMs = 0;
  #isPaused = false;
  /** What has begun was told as a hum. */
  #beganAsHum = false;
  #hadSpeech = false;
  /** Frames that count as echo before the next look. */
  #echoFrames = 0;
  readonly #proof: VoiceProof;
  readonly #behind = new Background();
  readonly #level: CallerLevel;
  /** The voice of the last frame was too soft to be the caller's. */
  #isSoft = false;

  constructor(
    settings: SpeechDetectorSettings,
    tell: (fact: SpeechFact) => void,
    { isEcho = () => false, isOverAgent = () => false }: SpeechDetectorOptions = {},
  ) {
    this.#settings = settings;
    this.#tell = tell;
    this.#isEcho = isEcho;
    this.#isOverAgent = isOverAgent;
    this.#release = releaseOf(settings);
    this.#proof = new VoiceProof(settings.threshold);
    this.#level = new CallerLevel(settings.threshold, isOverAgent);
  }

  /** Another agent has the call, whose settings these are. The things learned of the caller stay. */
  retune(settings: SpeechDetectorSettings): void {
    this.#settings = settings;
    this.#release = releaseOf(settings);
  }

  /** Takes the probability of the next frame; without `sound`, how it sounds is not known. */
  take(probability: number, frameMs: Millis, sound?: FrameSound): void {
    const isOwnVoice = this.#judgeEcho(probability);
    const isSoft = !isOwnVoice && this.#isTooSoft(probability, frameMs, sound);
    const isHidden = isOwnVoice || isSoft;
    const voice = isHidden || this.#isBehindCaller(probability, sound) ? 0 : probability;
    if (isHidden) this.#proof.forget();
    else this.#proof.take(voice, frameMs, sound);
    if (isSoft) this.#quietMs += frameMs;
    else this.#followSound(voice, frameMs, sound);
    // The silence of a caller began with the last sound of theirs, and not when that was certain.
    if (isSoft && !this.#isSoft && this.#speech)
      this.#silenceMs = Math.max(this.#silenceMs, this.#level.softMs - frameMs);
    this.#isSoft = isSoft;
    if (this.#speech) this.#duringSpeech(voice, frameMs);
    else this.#duringSilence(voice, frameMs);
  }

  /** What is judged by its loudness alone may be any sound, and what no microphone is as quiet as was made: their levels say nothing of voices. */
  #isTooSoft(probability: number, frameMs: Millis, sound: FrameSound | undefined): boolean {
    if (sound === undefined || sound.judgedByEnergy || sound.power < leastPower) return false;
    return this.#level.hides(probability, sound.power, frameMs);
  }

  /** STT has told words of what was heard. */
  heardWords(): void {
    this.#level.heardWords();
  }

  /** By how much the present voice is softer than the caller's, in dB; undefined as long as that is not known. */
  get belowCallerDb(): number | undefined {
    return this.#level.belowDb;
  }

  /** While the agent speaks nothing is hidden: a caller who interrupts softly is heard, and what is no interruption lets the agent go on. */
  #isBehindCaller(probability: number, sound: FrameSound | undefined): boolean {
    if (sound === undefined) return false;
    return this.#behind.hides(probability, decibels(sound.power)) && !this.#isOverAgent();
  }

  /** For how long VAD has heard no voice, within speech. */
  get silenceMs(): Millis {
    return this.#silenceMs;
  }

  /** For how long there has been no sound of the voice, by its level; no less than VAD's own silence where noise hides it. */
  get quietMs(): Millis {
    return Math.max(this.#quietMs, this.#silenceMs);
  }

  #followSound(probability: number, frameMs: Millis, sound: FrameSound | undefined): void {
    if (sound === undefined) {
      this.#quietMs = 0;
      return;
    }
    const levels = sound.quarters.map(decibels);
    if (probability >= this.#settings.threshold) this.#loudestDb = Math.max(this.#loudestDb, ...levels);
    else if (!this.#speech && probability < backgroundBelow) this.#followBackground(decibels(sound.power));
    const overDb = Math.min(this.#backgroundDb + overBackgroundDb, this.#loudestDb - overBackgroundDb);
    const leastDb = Math.max(this.#loudestDb - fadeDb, overDb);
    const last = levels.findLastIndex((level) => level > leastDb);
    this.#quietMs =
      last < 0 ? this.#quietMs + frameMs : ((levels.length - 1 - last) * frameMs) / levels.length;
  }

  #followBackground(levelDb: number): void {
    const isFirst = this.#backgroundDb === silentDb;
    this.#backgroundDb += (levelDb - this.#backgroundDb) * (isFirst ? 1 : backgroundShare);
  }

  /** A look at the newest audio, so much newer than the last frame, may prove a voice over the agent. */
  wantsPeek(sinceMs: Millis): boolean {
    if (this.isConfirmed || this.#echoFrames > 0 || !this.#proof.maySoonBeSure) return false;
    return this.#hasLasted(sinceMs) && this.#proof.soundMs <= longestUnprovedMs && this.#isOverAgent();
  }

  /** Takes VAD's opinion of the last 32 ms, of which `sinceMs` are newer than the last frame. The frame itself is taken as well, when it is full. */
  peek(probability: number, sinceMs: Millis, sound: FrameSound): void {
    if (!this.wantsPeek(sinceMs) || !this.#level.admits(sound.power)) return;
    if (!this.#proof.isSureBy(probability, sound) || this.#isEcho()) return;
    if (this.#voiceMs === 0 && this.#hadSpeech && !this.#speech) this.#tell('voice.resumed');
    if (!this.#speech) this.#begin();
    this.#confirmed = true;
    this.#tell('speech.confirmed');
  }

  /** What is spoken now is known to be the caller's. */
  get isConfirmed(): boolean {
    return this.#speech && this.#confirmed;
  }

  /** There is a voice that may become an interruption, or is one. */
  get hearsVoice(): boolean {
    return this.#speech || this.#voiceMs > 0;
  }

  /** Once a voice is confirmed, it is the caller's until it falls silent. */
  #judgeEcho(probability: number): boolean {
    const isVoice = probability >= (this.#speech ? this.#release : this.#settings.threshold);
    this.#echoFrames = Math.max(0, this.#echoFrames - 1);
    if (!isVoice || this.isConfirmed) return false;
    if (this.#echoFrames > 0) return true;
    if (!this.#isEcho()) return false;
    this.#echoFrames = echoFrames + 1;
    return true;
  }

  #duringSilence(probability: number, frameMs: Millis): void {
    if (probability < this.#settings.threshold) {
      this.#voiceMs = 0;
      this.#hummedMs = 0;
      return;
    }
    if (this.#voiceMs === 0 && this.#hadSpeech) this.#tell('voice.resumed');
    this.#hear(frameMs);
    if (this.#voiceMs < this.#settings.minSpeechMs && !this.#isSure) return;
    if (this.#voiceMs < this.#settings.confirmMs && this.#isClatter) return;
    this.#begin();
    this.#confirm();
  }

  /** What has just started may be a hum, or somebody else: it is told to hold nothing. */
  get isFaint(): boolean {
    return !this.isConfirmed && (this.#proof.isHum || this.#level.isDoubtful);
  }

  /** It is no hum, and so soft that nobody knows whether it is the caller's. */
  get isDoubtful(): boolean {
    return !this.isConfirmed && !this.#proof.isHum && this.#level.isDoubtful;
  }

  #begin(): void {
    this.#isPaused = false;
    this.#speech = true;
    this.#hadSpeech = true;
    this.#confirmed = false;
    this.#silenceMs = 0;
    this.#lastsTold = 0;
    this.#beganAsHum = this.isFaint && this.#proof.isHum;
    this.#tell('speech.started');
  }

  #duringSpeech(probability: number, frameMs: Millis): void {
    if (probability >= this.#release) {
      this.#silenceMs = 0;
      this.#goOn();
      this.#hear(frameMs);
      this.#confirm();
      this.#doubt();
      this.#last();
      return;
    }
    this.#silenceMs += frameMs;
    if (this.#silenceMs < this.#settings.stopMs) {
      if (!this.#isPaused && this.#silenceMs >= overAgentPauseMs && this.#isPause()) {
        this.#isPaused = true;
        this.#tell('voice.paused');
      }
      return;
    }
    this.#speech = false;
    this.#voiceMs = 0;
    this.#hummedMs = 0;
    this.#tell('speech.stopped');
    this.#loudestDb = silentDb;
  }

  #isPause(): boolean {
    const { pauseMs = Infinity } = this.#settings;
    return this.#silenceMs >= pauseMs || this.#isOverAgent();
  }

  /** What began as a hum is none, and nothing confirms a soft voice of which nobody knows whose it is: it begins once more, as such a voice does. */
  #doubt(): void {
    if (!this.#beganAsHum || !this.isDoubtful) return;
    this.#beganAsHum = false;
    this.#tell('speech.started');
  }

  /** Told in frames of voice alone: a voice that has ended has not lasted any longer. */
  #last(): void {
    const { lastsMs = [] } = this.#settings;
    const spokenMs = Math.max(this.#spokenMs, this.#voiceMs - longestHumMs);
    if (spokenMs < (lastsMs[this.#lastsTold] ?? Infinity) || this.#level.isDoubtful) return;
    this.#lastsTold += 1;
    this.#tell('voice.lasted');
  }

  /** The newest of `lastsMs` that was told of this speech. */
  get lastedMs(): Millis {
    return this.#settings.lastsMs?.[this.#lastsTold - 1] ?? 0;
  }

  #goOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#tell('speech.started');
    // It was known to be the caller's before the pause.
    if (this.#confirmed) this.#tell('speech.confirmed');
  }

  #hear(frameMs: Millis): void {
    this.#voiceMs += frameMs;
    if (this.#proof.isHum) this.#hummedMs += frameMs;
  }

  /** Voice that is neither silence between syllables nor a hum, as in most of "mm-hmm". */
  get #spokenMs(): Millis {
    return this.#voiceMs - this.#hummedMs;
  }

  /** What VAD is sure of began with the sound that it belongs to. */
  get #isSure(): boolean {
    return this.#proof.isSure && this.#hasLasted(0);
  }

  #hasLasted(sinceMs: Millis): boolean {
    return Math.max(this.#proof.soundMs, this.#voiceMs) + sinceMs >= this.#settings.sureMs;
  }

  /** STT finds words in clatter, too, and they would cut the agent. Where nobody speaks but the caller, nothing is at stake. */
  get #isClatter(): boolean {
    return !this.#proof.mayBeVoice && this.#isOverAgent();
  }

  #confirm(): void {
    if (this.#confirmed) return;
    const { confirmMs } = this.#settings;
    const isLong = this.#spokenMs >= confirmMs || this.#voiceMs >= Math.max(confirmMs, longestHumMs);
    if ((!isLong && !this.#isSure) || this.#level.isDoubtful) return;
    this.#confirmed = true;
    this.#tell('speech.confirmed');
  }
}
