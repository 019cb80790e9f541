/**
 * Turns speech probabilities into facts about speech. It knows nothing of turns: only how long there has been voice and how
 * long silence. Times are times of audio, so a burst of late frames is judged like punctual ones.
 */
import type { Millis } from '../../shared/base/units.ts';

export interface SpeechDetectorSettings {
  /** Probability at which a frame counts as voice when there was silence. */
  readonly threshold: number;
  /** Voice for this long is speech. */
  readonly minSpeechMs: Millis;
  /** Speech for this long may interrupt. At least `minSpeechMs`. */
  readonly confirmMs: Millis;
  /** Silence for this long ends speech. */
  readonly stopMs: Millis;
}

export type SpeechFact = 'speech.started' | 'speech.confirmed' | 'speech.stopped' | 'voice.resumed';

/** Once there is speech, a frame counts as voice down to this much below the threshold. */
const hysteresis = 0.15;
/** No frame below this probability counts as voice, however low the threshold: else speech would never end. */
const lowestRelease = 0.03;

export class SpeechDetector {
  readonly #settings: SpeechDetectorSettings;
  readonly #tell: (fact: SpeechFact) => void;
  /** Probability down to which a frame counts as voice during speech. */
  readonly #release: number;
  #speech = false;
  #confirmed = false;
  /** Voice since speech may have begun; silences inside speech do not count. */
  #voiceMs = 0;
  #silenceMs = 0;
  #hadSpeech = false;

  constructor(settings: SpeechDetectorSettings, tell: (fact: SpeechFact) => void) {
    this.#settings = settings;
    this.#tell = tell;
    this.#release = Math.max(settings.threshold - hysteresis, lowestRelease);
  }

  /** Takes the probability of the next frame. */
  take(probability: number, frameMs: Millis): void {
    if (this.#speech) this.#duringSpeech(probability, frameMs);
    else this.#duringSilence(probability, frameMs);
  }

  #duringSilence(probability: number, frameMs: Millis): void {
    if (probability < this.#settings.threshold) {
      this.#voiceMs = 0;
      return;
    }
    if (this.#voiceMs === 0 && this.#hadSpeech) this.#tell('voice.resumed');
    this.#voiceMs += frameMs;
    if (this.#voiceMs < this.#settings.minSpeechMs) return;
    this.#speech = true;
    this.#hadSpeech = true;
    this.#confirmed = false;
    this.#silenceMs = 0;
    this.#tell('speech.started');
    this.#confirm();
  }

  #duringSpeech(probability: number, frameMs: Millis): void {
    if (probability >= this.#release) {
      this.#silenceMs = 0;
      this.#voiceMs += frameMs;
      this.#confirm();
      return;
    }
    this.#silenceMs += frameMs;
    if (this.#silenceMs < this.#settings.stopMs) return;
    this.#speech = false;
    this.#voiceMs = 0;
    this.#tell('speech.stopped');
  }

  #confirm(): void {
    if (this.#confirmed || this.#voiceMs < this.#settings.confirmMs) return;
    this.#confirmed = true;
    this.#tell('speech.confirmed');
  }
}
