/** What the judges know of TTS over a call: how often it failed since it was last heard, and whether it was given up. */
import type { CallEvent } from '../../../worker/core/events.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import type { StoryResponse } from '../story.ts';

interface Piece {
  /** End of the piece in what was given to TTS. */
  readonly end: number;
  /** No filler and not the announcement, which are heard also when TTS is down. */
  readonly proves: boolean;
}

export class VoiceHealth {
  readonly #settings: CallSettings;
  #failures = 0;
  #failedAt = 0;
  #failingMs = 0;
  #context = 0;
  #pieces: Piece[] = [];
  /** What is said next is the last. */
  givenUp = false;

  constructor(settings: CallSettings) {
    this.#settings = settings;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  fault(now: number): void {
    this.#failingMs = this.#failures === 0 ? 0 : this.#failingMs + Math.min(now - this.#failedAt, 15_000);
    this.#failedAt = now;
    this.#failures += 1;
    const { limits, outage } = this.#settings;
    this.givenUp ||= this.#failures >= limits.stageFailures && this.#failingMs >= outage.keepMs;
  }

  /** A piece of a response; `end` is its end in everything that the response was given. */
  given(context: number, end: number, { proves }: { proves: boolean }): void {
    if (context !== this.#context) this.#pieces = [];
    this.#context = context;
    this.#pieces.push({ end, proves });
  }

  /** A fact about the response; `base` is what was given to TTS before the audio of its context. */
  saw(event: CallEvent, { said, startedAt }: StoryResponse, base: number): void {
    if (event.type === 'playout.started' && startedAt === undefined && this.#pieces[0]?.proves !== false)
      this.#failures = 0;
    if (event.type === 'tts.spoken' && event.audioMs > 0) this.#spoken(base + event.chars);
    if (event.type === 'tts.flushed' && event.audioMs > 0) this.#spoken(said.length);
  }

  /** All audio of the first `chars` characters exists. */
  #spoken(chars: number): void {
    const piece = this.#pieces.find(({ end }) => end >= chars);
    if (piece?.proves === true) this.#failures = 0;
  }
}
