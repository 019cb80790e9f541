/**
 * The simple ways to end a turn that the service is compared with. Each sees the same frames at the same times; a decision carries
 * the time of the audio at which it falls, so that the speed of the replay does not matter.
 */
import { SpeechDetector, type SpeechFact } from '../../../worker/media/vad/speech-detector.ts';

import type { CallNotes } from './call-world.ts';

export interface TurnSettings {
  readonly threshold: number;
  readonly minSpeechMs: number;
  readonly confirmMs: number;
  readonly stopMs: number;
  readonly silenceEndMs: number;
  readonly maxSilenceMs: number;
  readonly smartTurnThreshold: number;
}

/** What an answer of the turn model costs on a machine with a free core; it counts as latency. */
export const turnAnswerMs = 45;
/** Audio before the reported start that belongs to the turn. */
const beforeStartMs = 300;

export interface Decider {
  readonly name: string;
  /** Times at which the turn was taken as over. */
  readonly endsMs: readonly number[];
  /** Times at which the caller's voice was enough to interrupt. */
  readonly confirmedMs: readonly number[];
  /** Times at which the agent became audible; undefined where nobody answers. */
  readonly audibleMs?: readonly number[];
  /** What a call noted; undefined where there is none. */
  readonly notes?: CallNotes;
  /** Time for which the agent's voice was held, whatever came of it. */
  readonly heldMs?: number;
}

function newDetector(
  settings: TurnSettings,
  stopMs: number,
  tell: (fact: SpeechFact) => void,
): SpeechDetector {
  const { threshold, minSpeechMs, confirmMs } = settings;
  return new SpeechDetector({ threshold, minSpeechMs, confirmMs, sureMs: confirmMs, stopMs }, tell);
}

/** Silence of a fixed length ends the turn. */
export class SilenceDecider implements Decider {
  readonly name: string;
  readonly endsMs: number[] = [];
  readonly confirmedMs: number[] = [];
  readonly #detector: SpeechDetector;
  #nowMs = 0;

  constructor(name: string, settings: TurnSettings) {
    this.name = name;
    this.#detector = newDetector(settings, settings.silenceEndMs, (fact) => {
      if (fact === 'speech.stopped') this.endsMs.push(this.#nowMs);
      if (fact === 'speech.confirmed') this.confirmedMs.push(this.#nowMs);
    });
  }

  take(probability: number, frameMs: number): void {
    this.#nowMs += frameMs;
    this.#detector.take(probability, frameMs);
  }
}

/** A short silence asks the turn model; a turn that it takes as incomplete waits for the longest silence. */
export class ModelDecider implements Decider {
  readonly name: string;
  readonly endsMs: number[] = [];
  readonly confirmedMs: number[] = [];
  readonly #settings: TurnSettings;
  readonly #detector: SpeechDetector;
  readonly #ask: (audioMs: number) => void;
  #nowMs = 0;
  #startedMs: number | undefined;
  #endAtMs: number | undefined;

  constructor(name: string, settings: TurnSettings, ask: (audioMs: number) => void) {
    this.name = name;
    this.#settings = settings;
    this.#ask = ask;
    this.#detector = newDetector(settings, settings.stopMs, (fact) => this.#take(fact));
  }

  #take(fact: SpeechFact): void {
    switch (fact) {
      case 'speech.confirmed':
        this.confirmedMs.push(this.#nowMs);
        return;
      case 'speech.started':
        this.#startedMs ??= this.#nowMs - this.#settings.minSpeechMs;
        this.#endAtMs = undefined;
        return;
      case 'voice.resumed':
      case 'voice.paused':
      case 'voice.lasted':
        return;
      case 'speech.stopped':
        this.#ask(this.#nowMs - (this.#startedMs ?? this.#nowMs) + beforeStartMs);
    }
  }

  /** The answer to the last question; the replay waits for it. */
  judged(probability: number | undefined): void {
    const { stopMs, silenceEndMs, maxSilenceMs, smartTurnThreshold } = this.#settings;
    const silenceMs = probability === undefined ? silenceEndMs : maxSilenceMs;
    const isComplete = probability !== undefined && probability >= smartTurnThreshold;
    this.#endAtMs = isComplete ? this.#nowMs + turnAnswerMs : this.#nowMs - stopMs + silenceMs;
  }

  take(probability: number, frameMs: number): void {
    this.#nowMs += frameMs;
    if (this.#endAtMs !== undefined && this.#nowMs >= this.#endAtMs) {
      this.endsMs.push(this.#endAtMs);
      this.#endAtMs = undefined;
      this.#startedMs = undefined;
    }
    this.#detector.take(probability, frameMs);
  }
}
