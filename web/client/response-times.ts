/**
 * Measures the time from the end of the caller's speech to the first sound of the answer.
 *
 * Invariant: a time is noted only when the sound answers that speech. Speech that began over the agent's voice counts
 * only after `clear`, since without it the agent merely went on talking. All times are ms of the audio clock, on which
 * both the microphone and the playout are counted; delays of the sound card itself are not contained.
 */

const KEPT = 100;
/** A pause while the engine makes up its mind about an interruption is shorter. */
const GAVE_WAY_MS = 500;

export class ResponseTimes {
  readonly #noted: (ms: number) => void;
  #times: number[] = [];
  #speaking = false;
  /** The speech began while the agent could be heard and nothing was cleared since. */
  #overAgent = false;
  #endedMs: number | undefined;
  #soundMs: number | undefined;
  #silentSinceMs: number | undefined;

  /** `noted` gets each time when it is known. */
  constructor(noted: (ms: number) => void = () => undefined) {
    this.#noted = noted;
  }

  get count(): number {
    return this.#times.length;
  }

  get lastMs(): number | undefined {
    return this.#times.at(-1);
  }

  /** The median of the last hundred; with an even count the mean of the middle two. */
  get medianMs(): number | undefined {
    const sorted = [...this.#times].sort((a, b) => a - b);
    const upper = sorted[sorted.length >> 1];
    const lower = sorted[(sorted.length - 1) >> 1];
    return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
  }

  speechStarted(agentPlaying: boolean): void {
    this.#speaking = true;
    this.#overAgent = agentPlaying;
    this.#endedMs = undefined;
    this.#soundMs = undefined;
    this.#silentSinceMs = undefined;
  }

  /** `atMs` is the end of the last loud frame; an answer may have sounded before the end was certain. */
  speechEnded(atMs: number): void {
    this.#speaking = false;
    this.#endedMs = atMs;
    if (this.#silentSinceMs !== undefined && atMs - this.#silentSinceMs >= GAVE_WAY_MS)
      this.#overAgent = false;
    if (this.#soundMs !== undefined && this.#soundMs >= atMs) this.#note(this.#soundMs);
  }

  /** The agent became audible after silence. */
  sounded(atMs: number): void {
    this.#silentSinceMs = undefined;
    if (this.#speaking) this.#soundMs = atMs;
    else this.#note(atMs);
  }

  /** The agent's audio ended or ran dry. */
  fellSilent(atMs: number): void {
    this.#silentSinceMs = atMs;
  }

  /** The agent was cut off: what sounds from now on is an answer. */
  cleared(): void {
    this.#overAgent = false;
    this.#soundMs = undefined;
  }

  #note(soundMs: number): void {
    if (this.#endedMs === undefined || this.#overAgent || soundMs < this.#endedMs) return;
    const ms = soundMs - this.#endedMs;
    this.#times.push(ms);
    if (this.#times.length > KEPT) this.#times.shift();
    this.#endedMs = undefined;
    this.#noted(ms);
  }
}
