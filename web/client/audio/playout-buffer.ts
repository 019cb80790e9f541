/**
 * The playout buffer of the page: audio and marks in the order in which they came (docs/call-protocol.md, Playing and marks).
 *
 * Invariant: a mark is reported exactly once, when the last sample before it has been read, or never when `clear` came
 * first. Positions are samples of the audio clock, so reports do not depend on when anybody looks at them. It must not
 * know about worklets, sockets or wall time.
 */

/** What happened while samples were read; `atSample` is a position on the audio clock. */
export type PlayoutEvent =
  | { readonly type: 'mark-played'; readonly id: string }
  /** The first audible sample since the buffer was last empty. */
  | { readonly type: 'sounded'; readonly atSample: number }
  | { readonly type: 'drained'; readonly atSample: number };

export interface PlayoutOptions {
  /** Audio to collect before playing starts, in ms. Default 60. */
  readonly prebufferMs?: number;
  /** The most that late frames may raise the above to, in ms. Default 200. */
  readonly maxPrebufferMs?: number;
  /** Bound of the buffer in ms; the oldest entries go first, marks among them. Default 30,000. */
  readonly maxBufferedMs?: number;
}

type Entry =
  | { readonly kind: 'audio'; readonly samples: Float32Array; offset: number }
  | { readonly kind: 'mark'; readonly id: string };

const STEP_MS = 20;
/** A gap shorter than this is a late frame; a longer one is the end of what the agent said. */
const LATE_FRAME_MS = 200;
/** Playing this long without a late frame lowers the prebuffer again. */
const CALM_MS = 10_000;
/** About -40 dB of full scale. */
const AUDIBLE = 0.01;
const MAX_MARKS = 1_000;
/** Audio that stops in the middle of a wave would click: it fades for so long. */
const FADE_MS = 12;
/** Where nothing is left of it, its wave straightens out by this factor a sample. */
const SETTLE = 0.6;

export class PlayoutBuffer {
  readonly #samplesPerMs: number;
  readonly #minPrebuffer: number;
  readonly #maxPrebuffer: number;
  readonly #maxBuffered: number;
  #entries: Entry[] = [];
  #buffered = 0;
  #marks = 0;
  #prebuffer: number;
  #playing = false;
  #sounded = false;
  #justCleared = false;
  #waitingSince = 0;
  #drySince: number | undefined;
  #calmSamples = 0;
  #lateFrames = 0;
  /** The newest two samples that were read. */
  #newest: readonly [number, number] = [0, 0];
  /** The last of what was cut or has run dry; nothing else plays meanwhile. */
  #fading = new Float32Array(0);

  constructor(sampleRate: number, options: PlayoutOptions = {}) {
    this.#samplesPerMs = sampleRate / 1000;
    this.#minPrebuffer = this.#toSamples(options.prebufferMs ?? 60);
    this.#maxPrebuffer = this.#toSamples(options.maxPrebufferMs ?? 200);
    this.#maxBuffered = this.#toSamples(options.maxBufferedMs ?? 30_000);
    this.#prebuffer = this.#minPrebuffer;
  }

  /** Audio that was received and not yet read, in ms. */
  get bufferedMs(): number {
    return this.#buffered / this.#samplesPerMs;
  }

  /** Audio that is collected before playing starts, in ms; grows with late frames. */
  get prebufferMs(): number {
    return this.#prebuffer / this.#samplesPerMs;
  }

  /** How often the audio ran dry in the middle of what the agent said. */
  get lateFrames(): number {
    return this.#lateFrames;
  }

  /** Appends samples in the range -1 to 1. `nowSample` is the position of the audio clock. */
  push(samples: Float32Array, nowSample: number): void {
    if (samples.length === 0) return;
    if (this.#buffered === 0 && !this.#playing) {
      this.#noteGap(nowSample);
      this.#waitingSince = nowSample;
    }
    this.#entries.push({ kind: 'audio', samples, offset: 0 });
    this.#buffered += samples.length;
    while (this.#buffered > this.#maxBuffered) this.#dropOldest();
  }

  /** Appends a mark behind everything that was pushed before. */
  mark(id: string): void {
    this.#entries.push({ kind: 'mark', id });
    this.#marks += 1;
    while (this.#marks > MAX_MARKS) this.#dropOldest();
  }

  /** Drops all audio and all marks at once, but for a moment that fades. Nothing that was dropped is ever reported. */
  clear(): void {
    this.#justCleared = this.#playing;
    if (this.#playing) this.#fade(this.#next(this.#toSamples(FADE_MS)));
    this.#entries = [];
    this.#buffered = 0;
    this.#marks = 0;
    this.#playing = false;
    this.#sounded = false;
    this.#drySince = undefined;
  }

  /** Fills `out` from the buffer, with silence where there is nothing. `nowSample` is the position of `out[0]`. */
  read(out: Float32Array, nowSample: number): PlayoutEvent[] {
    const events: PlayoutEvent[] = [];
    if (this.#justCleared) {
      this.#justCleared = false;
      events.push({ type: 'drained', atSample: nowSample });
    }
    this.#takeMarks(events);
    const waited = nowSample - this.#waitingSince;
    if (!this.#playing && this.#buffered > 0 && this.#fading.length === 0) {
      this.#playing = this.#buffered >= this.#prebuffer || waited >= this.#prebuffer;
    }
    const [wasSounding, plays] = [this.#sounded, this.#playing];
    let at = 0;
    while (this.#playing && at < out.length) {
      const head = this.#entries[0];
      if (head === undefined) {
        this.#runDry(nowSample + at, events);
      } else if (head.kind === 'audio') {
        const count = Math.min(out.length - at, head.samples.length - head.offset);
        out.set(head.samples.subarray(head.offset, head.offset + count), at);
        head.offset += count;
        at += count;
        this.#buffered -= count;
        if (head.offset === head.samples.length) this.#entries.shift();
      }
      this.#takeMarks(events);
    }
    if (!wasSounding) this.#noteSound(out.subarray(0, at), nowSample, events);
    this.#calm(at);
    if (at > 0) this.#newest = [out[at - 2] ?? this.#newest[1], out[at - 1] ?? 0];
    if (plays && !this.#playing) this.#fade(new Float32Array(0));
    this.#playFade(out.subarray(at));
    return events;
  }

  #toSamples(ms: number): number {
    return Math.round(ms * this.#samplesPerMs);
  }

  #takeMarks(events: PlayoutEvent[]): void {
    for (let head = this.#entries[0]; head?.kind === 'mark'; head = this.#entries[0]) {
      this.#entries.shift();
      this.#marks -= 1;
      events.push({ type: 'mark-played', id: head.id });
    }
  }

  #runDry(atSample: number, events: PlayoutEvent[]): void {
    this.#playing = false;
    this.#sounded = false;
    this.#drySince = atSample;
    events.push({ type: 'drained', atSample });
  }

  #noteSound(played: Float32Array, nowSample: number, events: PlayoutEvent[]): void {
    const first = played.findIndex((value) => Math.abs(value) >= AUDIBLE);
    if (first < 0) return;
    // When the same block also ran dry, the next audio is a new sound.
    this.#sounded = this.#playing;
    events.unshift({ type: 'sounded', atSample: nowSample + first });
  }

  #noteGap(nowSample: number): void {
    if (this.#drySince === undefined) return;
    const gap = nowSample - this.#drySince;
    this.#drySince = undefined;
    if (gap >= this.#toSamples(LATE_FRAME_MS)) return;
    this.#lateFrames += 1;
    this.#calmSamples = 0;
    this.#prebuffer = Math.min(this.#maxPrebuffer, this.#prebuffer + this.#toSamples(STEP_MS));
  }

  #calm(played: number): void {
    this.#calmSamples += played;
    if (this.#calmSamples < this.#toSamples(CALM_MS)) return;
    this.#calmSamples = 0;
    this.#prebuffer = Math.max(this.#minPrebuffer, this.#prebuffer - this.#toSamples(STEP_MS));
  }

  /** The audio that would be read next. */
  #next(count: number): Float32Array {
    const next = new Float32Array(count);
    let length = 0;
    for (const entry of this.#entries) {
      if (entry.kind !== 'audio') continue;
      const part = entry.samples.subarray(entry.offset, entry.offset + count - length);
      next.set(part, length);
      length += part.length;
    }
    return next.subarray(0, length);
  }

  /** Lets this fade, and behind it where its wave was going. */
  #fade(next: Float32Array): void {
    const length = this.#toSamples(FADE_MS);
    let [before, last] = this.#newest;
    this.#fading = Float32Array.from({ length }, (_, at) => {
      [before, last] = [last, next[at] ?? last + (last - before) * SETTLE];
      return last * (1 - (at + 1) / length);
    });
  }

  #playFade(out: Float32Array): void {
    const part = this.#fading.subarray(0, out.length);
    this.#fading = this.#fading.subarray(part.length);
    out.fill(0);
    out.set(part);
  }

  #dropOldest(): void {
    const head = this.#entries.shift();
    if (head?.kind === 'audio') this.#buffered -= head.samples.length - head.offset;
    else if (head?.kind === 'mark') this.#marks -= 1;
  }
}
