/**
 * The agent's audio on its way out. TTS delivers faster than real time; this queue gives it out in frames of 20 ms at the call's rate and
 * encoding, holds at a sample, and forgets at once on a barge-in. It is the one gate for audio: samples of any context but the open one are
 * dropped here. Audio is converted frame by frame when it is due, never ahead.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { encodeMulaw } from '../../../shared/audio/g711.ts';
import { writeInt16 } from '../../../shared/audio/pcm.ts';
import { Gain } from './gain.ts';
import { Level } from './level.ts';
import { newResampler, type Resampler } from '../../../shared/audio/resampler.ts';

/** Above this much waiting audio the TTS session is asked to pause, below the other it goes on. */
const pauseAboveMs = 8_000;
const resumeBelowMs = 4_000;

/** What is heard beside the agent's audio, and is no part of it: a background, or a person who speaks in the agent's place. */
export interface Backdrop {
  /** Something of it is to be heard in the next frame. */
  readonly sounds: boolean;
  /** Adds what is heard in the next 20 ms to samples at the call's rate. */
  mix(samples: Int16Array): void;
}

export interface Person extends Backdrop {
  /** Nothing follows but the last 20 ms, which fade. */
  readonly ends: boolean;
}

export interface OutboundOptions {
  /** Rate of TTS and of the call, in Hz. */
  readonly fromRate: number;
  readonly toRate: number;
  readonly encoding: 'pcm16' | 'mulaw';
  /** Loudness that voices are brought to, in LUFS; absent: they are heard as they come. */
  readonly lufs?: number | undefined;
  /** Told the samples of every frame that is taken, at the call's rate; they are valid until it returns. */
  readonly taken?: (pcm: Int16Array) => void;
  /** Mixed into frames behind everything that counts the agent's audio; absent: nothing is. */
  readonly backdrops?: readonly Backdrop[] | undefined;
  /** Heard in frames that have nothing of the agent, and told as they are; absent: nobody is. */
  readonly person?: Person | undefined;
}

const none: readonly Backdrop[] = [];

/** No more audio than this goes out without a mark behind it. */
const markEveryMs = 2_000;

/** A mark whose audio is on the wire. A mark that nobody placed says where in the audio of the response it stands. */
export interface DueMark {
  readonly id: string;
  readonly inside?: { readonly context: number; readonly atMs: Millis };
}

interface PlacedMark {
  readonly id: string;
  /** Sent once so much is on the wire, in samples of TTS audio. */
  readonly at: number;
}

const lagOf = ({ delayMs }: Resampler, { fromRate }: OutboundOptions): number =>
  Math.round((delayMs * fromRate) / 1000);

export class OutboundAudio {
  #options: OutboundOptions;
  #resampler: Resampler;
  /** What the resampler still holds of the audio that it was given, in samples of TTS. */
  #lag: number;
  readonly #frameSamples: number;
  readonly #fifo: Int16Array;
  #fifoLength = 0;
  /** The last of what was cut, until the next frame goes out. */
  #tail: Int16Array | undefined;
  /** Made with the first frame that has nothing of the agent. */
  #silent: Int16Array | undefined;
  #chunks: Int16Array[] = [];
  /** Samples of the first chunk that have been taken. */
  #offset = 0;
  #context = 0;
  #held = false;
  /** Frames that still go out before the output is held; undefined: it is not about to be. */
  #yieldFrames: number | undefined;
  readonly #gain: Gain;
  readonly #level: Level | undefined;
  #finished = false;
  #drained = true;
  #delivered = 0;
  #converted = 0;
  #sent = 0;
  /** Samples of TTS audio that the client has already. */
  #skip = 0;
  #baseMs: Millis = 0;
  /** On the wire before the context was opened. */
  #beforeMs: Millis = 0;
  /** The same in samples of TTS audio: what comes behind goes through the resampler. */
  #before = 0;
  #marks: PlacedMark[] = [];
  /** Where the newest mark stands. */
  #markedMs: Millis = 0;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#gain = new Gain(options.toRate);
    this.#level = options.lufs === undefined ? undefined : new Level(options.lufs, options);
    this.#resampler = newResampler({ from: options.fromRate, to: options.toRate });
    this.#lag = lagOf(this.#resampler, options);
    this.#frameSamples = (options.toRate * FRAME_MS) / 1000;
    // One converted slice comes on top of less than a frame; a flush adds the tail of the filter.
    this.#fifo = new Int16Array(this.#frameSamples * 4);
  }

  /** Audio of the contexts that are opened from now on has this rate, in Hz: another agent speaks. */
  retune(fromRate: number): void {
    this.#level?.retune(fromRate);
    if (fromRate === this.#options.fromRate) return;
    this.clear();
    this.#options = { ...this.#options, fromRate };
    this.#resampler = newResampler({ from: fromRate, to: this.#options.toRate });
    this.#lag = lagOf(this.#resampler, this.#options);
  }

  /**
   * Plays this context from now on and no other; what waited of an earlier one is dropped. With `from`, its audio begins
   * `audioMs` into the response, and the first `skipMs` of it are on the wire already.
   */
  open(context: number, from: { audioMs: Millis; skipMs: Millis } = { audioMs: 0, skipMs: 0 }): void {
    this.clear();
    this.#level?.begin();
    this.#context = context;
    this.#drained = false;
    const { fromRate, toRate } = this.#options;
    this.#baseMs = from.audioMs;
    this.#beforeMs = from.audioMs + from.skipMs;
    this.#delivered = Math.round((from.audioMs * fromRate) / 1000);
    this.#converted = this.#delivered;
    this.#skip = Math.round((from.skipMs * fromRate) / 1000);
    this.#before = this.#delivered + this.#skip;
    this.#sent = Math.round(((from.audioMs + from.skipMs) * toRate) / 1000);
    this.#markedMs = this.#beforeMs;
    if (from.skipMs === 0) return;
    // It goes on in the middle of a wave.
    this.#gain.silence();
    this.#gain.open();
  }

  /** Drops everything. Nothing plays until the next `open`, but for the next moment of a voice that `fades`. */
  clear({ fades = false }: { readonly fades?: boolean } = {}): void {
    if (fades) this.#keepTail();
    this.#chunks = [];
    this.#offset = 0;
    this.#fifoLength = 0;
    this.#marks = [];
    this.#context = 0;
    this.#held = false;
    this.#yieldFrames = undefined;
    this.#gain.reset();
    this.#finished = false;
    this.#drained = true;
    this.#delivered = 0;
    this.#converted = 0;
    this.#sent = 0;
    this.#skip = 0;
    this.#resampler.reset();
  }

  /** A voice that stops in the middle of a wave clicks: what would have come next is heard as it fades. */
  #keepTail(): void {
    if (!this.isHeard) return;
    this.#tail = this.#fifo.slice(0, Math.min(this.#fifoLength, this.#frameSamples));
    this.#gain.close();
    this.#loud(this.#tail);
  }

  /** Samples of the voice as loud as they are heard. */
  #loud(samples: Int16Array): void {
    this.#level?.apply(samples);
    this.#gain.apply(samples);
  }

  #addTail(samples: Int16Array): void {
    const tail = this.#tail;
    if (tail === undefined) return;
    this.#tail = undefined;
    for (let at = 0; at < tail.length; at += 1)
      samples[at] = Math.max(-32_768, Math.min(32_767, (samples[at] ?? 0) + (tail[at] ?? 0)));
  }

  /** Takes audio of a context. False when it is not the open one and was dropped. */
  write(context: number, pcm: Int16Array): boolean {
    if (context !== this.#context || this.#finished) return false;
    this.#level?.delivered(pcm);
    const skipped = Math.min(this.#skip, pcm.length);
    this.#skip -= skipped;
    this.#converted += skipped;
    this.#delivered += pcm.length;
    if (skipped < pcm.length) this.#chunks.push(skipped === 0 ? pcm : pcm.subarray(skipped));
    return true;
  }

  /** Places a mark behind the audio delivered so far. */
  mark(context: number, id: string): void {
    if (context !== this.#context) return;
    const lag = this.#delivered > this.#before ? this.#lag : 0;
    this.#marks.push({ id, at: this.#delivered + lag });
  }

  /** No more audio comes in this context. */
  finish(context: number): void {
    if (context === this.#context) this.#finished = true;
  }

  /** It is in the middle of what the caller hears: there is more of it, and some was sent. */
  get isHeard(): boolean {
    return this.ready && this.sentMs > this.#beforeMs;
  }

  /** Stands at a sample: at once, or when it has gone on softly for so long, and faded out. */
  hold(duckMs: Millis = 0): void {
    if (this.#held) return;
    this.#yieldFrames = Math.round(duckMs / FRAME_MS);
    if (this.#yieldFrames === 0) this.#stand();
    else this.#gain.duck();
  }

  /** Goes on, softly or as loud as ever. */
  release({ softly = false }: { readonly softly?: boolean } = {}): void {
    this.#held = false;
    this.#yieldFrames = undefined;
    if (softly) this.#gain.duck();
    else this.#gain.open();
  }

  #stand(): void {
    this.#held = true;
    this.#yieldFrames = undefined;
  }

  get held(): boolean {
    return this.#held;
  }

  get context(): number {
    return this.#context;
  }

  /** Where the open context begins in the audio of the response. */
  get baseMs(): Millis {
    return this.#baseMs;
  }

  /** Length of the audio delivered in the open context. */
  get deliveredMs(): Millis {
    return (this.#delivered * 1000) / this.#options.fromRate;
  }

  /** Length of the audio of the open context that is on the wire. */
  get sentMs(): Millis {
    // Audio that went out before counts from the start, while it is made once more.
    return Math.min((this.#sent * 1000) / this.#options.toRate, Math.max(this.deliveredMs, this.#beforeMs));
  }

  /** Samples of the open context on the wire, at the call's rate. */
  get sentSamples(): number {
    return this.#sent;
  }

  get overfull(): boolean {
    return this.#waitingMs > pauseAboveMs;
  }

  get hasRoom(): boolean {
    return this.#waitingMs < resumeBelowMs;
  }

  get #waitingMs(): Millis {
    return ((this.#delivered - this.#converted) * 1000) / this.#options.fromRate;
  }

  /** A frame could be taken now. */
  get ready(): boolean {
    if (this.#held || this.#context === 0) return false;
    this.#fill();
    return this.#fifoLength >= this.#frameSamples || (this.#finished && this.#fifoLength > 0);
  }

  /** True once, when the finished context has no audio left. */
  takeDrained(): boolean {
    if (this.#drained || !this.#finished || this.#held) return false;
    this.#fill();
    if (this.#fifoLength > 0) return false;
    this.#drained = true;
    return true;
  }

  /** The context plays, is not finished, and has nothing to send: the client hears a hole. */
  get starved(): boolean {
    return this.#context !== 0 && !this.#held && !this.#finished && !this.ready;
  }

  /** The next 20 ms in the call's encoding; only when `ready`. The last frame of a context is padded with silence. */
  takeFrame(): Buffer {
    const count = Math.min(this.#fifoLength, this.#frameSamples);
    this.#fifo.fill(0, count, this.#frameSamples);
    const samples = this.#fifo.subarray(0, this.#frameSamples);
    if (this.#yieldFrames === 1) this.#gain.close();
    this.#loud(samples);
    this.#addTail(samples);
    const { person, taken } = this.#options;
    if (person?.ends === true) person.mix(samples);
    taken?.(samples);
    const frame = this.#encoded(samples);
    this.#fifo.copyWithin(0, count, this.#fifoLength);
    this.#fifoLength -= count;
    this.#sent += count;
    if (this.#yieldFrames !== undefined && --this.#yieldFrames === 0) this.#stand();
    return frame;
  }

  /** Something is to be heard although no frame may be ready. */
  get hasBackdrop(): boolean {
    if (this.#tail !== undefined || this.#options.person?.sounds === true) return true;
    for (const backdrop of this.#options.backdrops ?? none) if (backdrop.sounds) return true;
    return false;
  }

  /** 20 ms without the agent's audio, or with the last of what was cut, and with who speaks in its place; only with a backdrop. */
  takeBackdrop(): Buffer {
    this.#silent ??= new Int16Array(this.#frameSamples);
    const samples = this.#silent.fill(0);
    const { person, taken } = this.#options;
    const hasVoice = this.#tail !== undefined || person?.sounds === true;
    this.#addTail(samples);
    if (person?.sounds === true) person.mix(samples);
    if (hasVoice) taken?.(samples);
    return this.#encoded(samples);
  }

  /** Samples in the call's encoding, with the backdrop. */
  #encoded(samples: Int16Array): Buffer {
    const { encoding, backdrops = none } = this.#options;
    for (const backdrop of backdrops) if (backdrop.sounds) backdrop.mix(samples);
    const frame = Buffer.allocUnsafe(encoding === 'mulaw' ? samples.length : samples.length * 2);
    if (encoding === 'mulaw') encodeMulaw(samples, frame);
    else writeInt16(samples, frame);
    return frame;
  }

  /**
   * The next mark whose audio is on the wire, if there is one: placed, or due because there has been none for so long. Of a dry context all
   * is that can be.
   */
  takeMark({ isDry = false }: { readonly isDry?: boolean } = {}): DueMark | undefined {
    const mark = this.#marks[0];
    const sentSource = (this.#sent * this.#options.fromRate) / this.#options.toRate;
    const atMs = this.sentMs;
    if (mark !== undefined && (sentSource >= mark.at || this.#drained || isDry)) {
      this.#marks.shift();
      this.#markedMs = atMs;
      return { id: mark.id };
    }
    if (this.#context === 0 || this.#drained || atMs - this.#markedMs < markEveryMs) return undefined;
    this.#markedMs = atMs;
    const context = this.#context;
    return { id: `i${context}.${Math.round(atMs)}`, inside: { context, atMs } };
  }

  /** Converts just enough for one frame. */
  #fill(): void {
    const slice = (this.#options.fromRate * FRAME_MS) / 1000;
    while (this.#fifoLength < this.#frameSamples) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) {
        if (this.#finished && this.#converted === this.#delivered && this.#delivered > 0) this.#flushTail();
        return;
      }
      const part = chunk.subarray(this.#offset, this.#offset + slice);
      this.#append(this.#resampler.process(part));
      this.#converted += part.length;
      this.#offset += part.length;
      if (this.#offset < chunk.length) continue;
      this.#chunks.shift();
      this.#offset = 0;
    }
  }

  #flushTail(): void {
    // Counting one sample more than delivered keeps the tail from being flushed twice.
    this.#converted += 1;
    const tail = this.#resampler.flush();
    this.#append(tail.subarray(0, this.#fifo.length - this.#fifoLength));
  }

  #append(pcm: Int16Array): void {
    this.#fifo.set(pcm, this.#fifoLength);
    this.#fifoLength += pcm.length;
  }
}
