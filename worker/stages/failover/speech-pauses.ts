/**
 * Finds the pauses in the audio of a voice while it comes.
 *
 * Invariant: the same samples give the same pauses however they are cut. It keeps no audio, and of pauses the newest.
 * Pure; times are milliseconds from the first sample.
 */

/** A stretch without voice; it goes on for as long as `toMs` is absent. */
export interface SpeechPause {
  readonly fromMs: number;
  readonly toMs: number | undefined;
}

const frameMs = 10;
/** A closed mouth within a word is shorter than this. */
const leastPauseMs = 90;
/** A frame this much below the loudest of late is silent. */
const silentShare = 0.015;
/** What counts as the loudest fades by a half in about two seconds. */
const fading = 0.9965;
/** Steps below which nothing is voice. */
const floor = 30;
/** Every so many samples are looked at: loudness needs no more. */
const stride = 4;
const mostPauses = 64;

export class SpeechPauses {
  private readonly frameSamples: number;
  private readonly pauses: SpeechPause[] = [];
  private loudest = 0;
  private samples = 0;
  private sum = 0;
  private frame = 0;
  private quietFrom: number | undefined = 0;

  constructor(sampleRate: number) {
    this.frameSamples = Math.round((sampleRate * frameMs) / 1000);
  }

  push(pcm: Int16Array): void {
    let at = 0;
    while (at < pcm.length) {
      const end = Math.min(pcm.length, at + this.frameSamples - this.samples);
      let sum = 0;
      for (let next = at + ((stride - (this.samples % stride)) % stride); next < end; next += stride)
        sum += Math.abs(pcm[next] ?? 0);
      this.sum += sum;
      this.samples += end - at;
      at = end;
      if (this.samples === this.frameSamples) this.endFrame();
    }
  }

  /** What came behind `ms` was not said; what comes next is heard from there on. */
  cut(ms: number): void {
    this.frame = Math.round(ms / frameMs);
    this.samples = this.sum = 0;
    this.quietFrom = undefined;
    const kept = this.pauses.filter(({ fromMs }) => fromMs < ms);
    this.pauses.splice(0, this.pauses.length, ...kept);
  }

  /** In order; the last one may still be going on. */
  get all(): readonly SpeechPause[] {
    const { quietFrom, frame } = this;
    if (quietFrom === undefined || (frame - quietFrom) * frameMs < leastPauseMs) return this.pauses;
    return [...this.pauses, { fromMs: quietFrom * frameMs, toMs: undefined }];
  }

  private endFrame(): void {
    const mean = (this.sum * stride) / this.frameSamples;
    this.loudest = Math.max(this.loudest * fading, mean);
    const isQuiet = mean < Math.max(floor, this.loudest * silentShare);
    if (isQuiet) this.quietFrom ??= this.frame;
    else this.endPause();
    this.frame += 1;
    this.samples = 0;
    this.sum = 0;
  }

  private endPause(): void {
    const { quietFrom, frame } = this;
    this.quietFrom = undefined;
    if (quietFrom === undefined || (frame - quietFrom) * frameMs < leastPauseMs) return;
    this.pauses.push({ fromMs: quietFrom * frameMs, toMs: frame * frameMs });
    if (this.pauses.length > mostPauses) this.pauses.shift();
  }
}
