/**
 * Both directions of a call's audio for whoever listens, a recorder for example: what was taken from the caller and what was sent to the
 * client, on one line of samples that begins when the listener comes. Nobody listening costs a comparison for each frame.
 *
 * Invariant: places of a direction never go back, and its samples never overlap; what lies between two of its pieces was silence.
 */
import { newResampler, type Resampler } from '../../shared/audio/resampler.ts';
import type { Millis } from '../../shared/base/units.ts';

/** Playout makes up for what it is behind, up to 100 ms; beyond that the client heard nothing. */
const longestLateMs = 120;
/**
 * A network that stands still for less delivers all of it afterwards, so the audio of a caller goes on where it was. Clients that send
 * nothing while their callers are silent are up to so much early by it, until they are silent for longer.
 */
const longestStallMs = 2_000;
/** What was said before the call had begun, or by a clock that is fast, makes the caller's side late: from here on moments of silence are left out for it. */
const longestAheadMs = 30;
/** Mean of the samples' sizes in silence, noise of a line included. */
const quietMean = 200;
/** No more waits to be put in its place: four seconds at 16 kHz. */
const longestBurst = 65_536;
/** Audio that has not gained on the clock for so long comes as it is said. */
const steadyMs = 60;

export interface TapListener {
  /**
   * The caller was heard: PCM16 at the call's rate, valid until it returns.
   * @param at place of its first sample, in samples since the listener came; the beginning of a stretch comes some frames later.
   */
  heard(pcm: Int16Array, at: number): void;
  /** The agent's audio was sent to the client: the same, every sample that was on the wire, and nothing that a barge-in dropped. */
  sent(pcm: Int16Array, at: number): void;
}

interface Lines {
  readonly listener: TapListener;
  readonly heard: Line;
  readonly burst: Burst;
  readonly sent: Line;
}

export class AudioTap {
  readonly #rate: number;
  readonly #inputRate: number;
  /** One for each listener. */
  #all: readonly Lines[] = [];
  #toRate: Resampler | undefined;

  /** @param sampleRate of the call, in Hz; `inputRate` is that of the caller's audio, where it is another. */
  constructor(sampleRate: number, inputRate = sampleRate) {
    this.#rate = sampleRate;
    this.#inputRate = inputRate;
  }

  /**
   * Everything from `now` on goes to this listener, until it is closed by what is given back.
   * @param earlierMs so much before `now` a caller may have said what comes only now: its places are negative.
   */
  listen(listener: TapListener, now: Millis, earlierMs: Millis = 0): () => void {
    const lines = {
      listener,
      heard: new Line(this.#rate, { beganAt: now, longestGapMs: longestStallMs, earlierMs }),
      burst: new Burst(this.#rate),
      sent: new Line(this.#rate, { beganAt: now, longestGapMs: longestLateMs }),
    };
    this.#all = [...this.#all, lines];
    return () => {
      if (!this.#all.includes(lines)) return;
      this.#letGo(lines);
      this.#all = this.#all.filter((one) => one !== lines);
    };
  }

  /** These samples of the caller have come just now: they end here. */
  heard(input: Int16Array, now: Millis): void {
    if (this.#all.length === 0) return;
    if (this.#inputRate !== this.#rate)
      this.#toRate ??= newResampler({ from: this.#inputRate, to: this.#rate });
    const pcm = this.#toRate?.process(input) ?? input;
    for (const lines of this.#all) this.#heardBy(lines, pcm, now);
  }

  #heardBy(lines: Lines, pcm: Int16Array, now: Millis): void {
    const { listener, heard, burst } = lines;
    if (!burst.isEmpty && !burst.goesOn(now)) this.#letGo(lines);
    const beganAt = now - (pcm.length * 1000) / this.#rate;
    if (!burst.isEmpty || heard.isNewAt(beganAt)) burst.add(pcm, now);
    else if (heard.aheadMs(beganAt) > longestAheadMs && isQuiet(pcm)) return;
    else listener.heard(pcm, heard.place(pcm.length, beganAt));
  }

  /** What came at once was said until it came, and not from then on. */
  #letGo({ listener, heard, burst }: Lines): void {
    const { pieces, samples, beganAt } = burst.take();
    heard.pause();
    let at = heard.place(samples, beganAt);
    for (const pcm of pieces) {
      listener.heard(pcm, at);
      at += pcm.length;
    }
  }

  /** The agent was silent, if only for a moment: what is sent next belongs to its own time. Frames of one stretch follow without a gap when they are late. */
  pausedSending(): void {
    for (const { sent } of this.#all) sent.pause();
  }

  /** These samples of the agent go out now: they begin here. */
  sent(pcm: Int16Array, now: Millis): void {
    for (const { listener, sent } of this.#all) listener.sent(pcm, sent.place(pcm.length, now));
  }
}

const isQuiet = (pcm: Int16Array): boolean =>
  pcm.reduce((sum, sample) => sum + Math.abs(sample), 0) < quietMean * pcm.length;

/** One direction: counts samples, and lets time pass only where it was silent. */
class Line {
  readonly #rate: number;
  readonly #beganAt: Millis;
  readonly #longestGap: number;
  #end: number;
  #isPaused = true;

  constructor(
    rate: number,
    { beganAt, longestGapMs, earlierMs = 0 }: { beganAt: Millis; longestGapMs: Millis; earlierMs?: Millis },
  ) {
    this.#rate = rate;
    this.#beganAt = beganAt;
    this.#longestGap = (longestGapMs * rate) / 1000;
    this.#end = -Math.round((earlierMs * rate) / 1000);
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Whether what begins at a time begins a stretch, and does not go on with the one before. */
  isNewAt(at: Millis): boolean {
    return this.#isPaused || this.#placeOf(at) - this.#end > this.#longestGap;
  }

  /** How far the end of what was placed is ahead of a time. */
  aheadMs(at: Millis): Millis {
    return ((this.#end - this.#placeOf(at)) * 1000) / this.#rate;
  }

  /** Where so many samples belong that begin at a time. */
  place(count: number, at: Millis): number {
    const from = this.isNewAt(at) ? Math.max(this.#end, this.#placeOf(at)) : this.#end;
    this.#isPaused = false;
    this.#end = from + count;
    return from;
  }

  #placeOf(at: Millis): number {
    return Math.round(((at - this.#beganAt) * this.#rate) / 1000);
  }
}

/**
 * The beginning of a stretch of the caller's audio. After a stall, or in a worker that has taken the call up, it comes faster than it was said
 * until it has caught up: only then is it known where its first sample belongs.
 */
class Burst {
  readonly #rate: number;
  #pieces: Int16Array[] = [];
  #samples = 0;
  #firstAt: Millis = 0;
  #lastAt: Millis = 0;
  /** The most that it was ahead of the clock, and when that grew last. */
  #leadMs = 0;
  #gainedAt: Millis = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Whether a piece that comes now is a part of it. */
  goesOn(now: Millis): boolean {
    return now - this.#gainedAt < steadyMs && this.#samples < longestBurst;
  }

  add(pcm: Int16Array, now: Millis): void {
    if (this.isEmpty) {
      this.#firstAt = now;
      this.#leadMs = 0;
    }
    this.#pieces.push(pcm.slice());
    this.#samples += pcm.length;
    this.#lastAt = now;
    const leadMs = (this.#samples * 1000) / this.#rate - (now - this.#firstAt);
    if (leadMs <= this.#leadMs) return;
    this.#leadMs = leadMs;
    this.#gainedAt = now;
  }

  take(): { readonly pieces: readonly Int16Array[]; readonly samples: number; readonly beganAt: Millis } {
    const [pieces, samples] = [this.#pieces, this.#samples];
    this.#pieces = [];
    this.#samples = 0;
    return { pieces, samples, beganAt: this.#lastAt - (samples * 1000) / this.#rate };
  }
}
