/**
 * One call's side of voice activity detection: cuts audio into frames, hands them to inference through the call's
 * mailbox and collects the results. While inference is away, frames are judged by energy, so the call goes on.
 */
import { heartbeatAge } from '../../../shared/protocol/heartbeat.ts';
import { type Mailboxes } from '../../../shared/protocol/mailbox.ts';
import {
  maxUnreadFrames,
  resultRing,
  vadFrameMs,
  vadFrameSamples,
  type Mailbox,
} from '../../../shared/protocol/mailbox-slot.ts';
import type { NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { EnergyGate } from './energy-gate.ts';
import { periodicity } from './frame-pitch.ts';
import { MeasuredSound, SoundMeter, type FrameSound } from './frame-sound.ts';
import { VadPeek, type PeekOptions } from './vad-peek.ts';

/** Age of the heartbeat, and of a waiting frame, at which inference counts as away although nobody saw it end. */
const awayAfterMs = 100;
/** Results that can be had are up to a ring old, and frames may wait besides. */
const soundRing = 2 * resultRing;

/** Fewer frames than this wait for their judgement where inference is in time. */
const usuallyWaiting = 3;

/** Power of a frame from which on it may have a pitch, and may be an echo: 60 dB below full scale. */
const leastPower = 1e-6;

export interface VadClientOptions {
  readonly boxes: Mailboxes;
  readonly slot: number;
  /** Told once when frames begin to be judged by energy: after how many milliseconds in which inference could have judged. */
  readonly fellBack?: (afterMs: number) => void;
  /** Told once for every frame that has a judgement, in order. `sound` is valid until it returns. */
  readonly judged: (probability: number, frameMs: number, sound: FrameSound) => void;
  /** Who wants opinions between frames; nobody when absent. */
  readonly peek?: PeekOptions;
  /** The frame that is full now is the agent's own voice: VAD gets silence in its place. Asked about frames that are not quiet. */
  readonly isEcho?: () => boolean;
  /** Whether noise is taken out before VAD hears the call; the default is off. */
  readonly noise?: NoiseMode;
  /** Milliseconds of the machine's monotonic clock, as in heartbeats. */
  readonly machineMs: () => number;
  /** Wakes who waits for a word of the memory; absent where the thread runs in this one. */
  readonly wake?: ((word: Int32Array) => void) | undefined;
}

export class VadClient {
  readonly #options: VadClientOptions;
  readonly #mailbox: Mailbox;
  readonly #thread: number;
  readonly #peek: VadPeek | undefined;
  readonly #gate = new EnergyGate();
  readonly #meter = new SoundMeter();
  /** How the frames sound that wait for their judgement, and that have one which nobody has looked at. */
  readonly #sounds = Array.from({ length: soundRing }, () => new MeasuredSound(() => this.#periodicity()));
  /** Energy judgement and time of the frames that wait for theirs. */
  readonly #energy = new Uint8Array(resultRing);
  readonly #writtenMs = new Float64Array(resultRing);
  /** When the first sample of each of them came. */
  readonly #begunMs = new Float64Array(resultRing);
  #frame: Int16Array;
  #filled = 0;
  /** First frame without a judgement. */
  #next: number;
  /** Inference was found away and has shown no sign of life since. */
  #away = false;
  #judgedByEnergy = 0;

  constructor(options: VadClientOptions) {
    this.#options = options;
    this.#mailbox = options.boxes.mailbox(options.slot);
    this.#thread = options.slot % options.boxes.layout.threads;
    this.#peek = options.peek && new VadPeek(this.#mailbox, options.peek);
    this.#mailbox.begin(options.noise);
    this.#next = this.#mailbox.produced;
    this.#frame = this.#mailbox.frameToWrite();
  }

  /** Takes 16 kHz mono PCM16 of any length. */
  write(pcm: Int16Array): void {
    let at = 0;
    const { produced } = this.#mailbox;
    while (at < pcm.length) {
      if (this.#filled === 0)
        this.#begunMs[this.#mailbox.produced & (resultRing - 1)] = this.#options.machineMs();
      const count = Math.min(pcm.length - at, vadFrameSamples - this.#filled);
      this.#frame.set(pcm.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === vadFrameSamples) this.#publish();
    }
    const isAsked = this.#peek?.ask(this.#filled) === true;
    if (isAsked || this.#mailbox.produced !== produced) this.#wakeThread();
  }

  #wakeThread(): void {
    const { boxes, wake } = this.#options;
    if (boxes.takeThreadAsleep(this.#thread)) wake?.(boxes.threadWord(this.#thread));
  }

  #publish(): void {
    const { produced } = this.#mailbox;
    const index = produced & (resultRing - 1);
    const sound = this.#sounds[produced & (soundRing - 1)];
    if (sound !== undefined) {
      this.#meter.measure(this.#frame, sound);
      if (sound.power > leastPower && this.#options.isEcho?.() === true) this.#silence(sound);
    }
    this.#energy[index] = this.#gate.judge(this.#frame);
    this.#writtenMs[index] = this.#options.machineMs();
    this.#mailbox.publish(sound);
    this.#frame = this.#mailbox.frameToWrite();
    this.#filled = 0;
  }

  /** Of the frame that is being told. Inference may be late, but the ring is longer than what it may owe. */
  #periodicity(): number {
    const at = this.#next;
    const oldest = this.#mailbox.produced - this.#options.boxes.layout.ringFrames + 1;
    const { power = 0 } = this.#sounds[at & (soundRing - 1)] ?? {};
    if (power <= leastPower || at < oldest) return 0;
    const hasBefore = at > Math.max(this.#mailbox.base, oldest);
    return periodicity(this.#mailbox.frame(at), hasBefore ? this.#mailbox.frame(at - 1) : undefined);
  }

  #silence(sound: MeasuredSound): void {
    this.#frame.fill(0);
    sound.power = 0;
    sound.brightPower = 0;
    sound.quarters.fill(0);
  }

  /** Names the call in its mailbox. */
  get generation(): number {
    return this.#mailbox.generation;
  }

  /** Number of the frame in which the audio of `ms` ago lies, or of the call's first. */
  frameBefore(ms: number): number {
    return Math.max(this.#mailbox.base, this.#mailbox.produced - Math.ceil(ms / vadFrameMs));
  }

  /** Reports what has been judged since the last look. Cheap when nothing has. */
  collect(): void {
    const consumed = this.#mailbox.consumed;
    if (this.#next < consumed) {
      // Results older than the ring have been overwritten; nobody looked for half a second.
      this.#next = Math.max(this.#next, consumed - resultRing);
      for (; this.#next < consumed; this.#next += 1) {
        const probability = this.#mailbox.result(this.#next);
        if (!Number.isNaN(probability)) this.#tell(probability, false);
      }
    }
    this.#peek?.collect(this.#next);
    if (this.#peek?.askLate(this.#filled) === true) this.#wakeThread();
    if (this.#next < this.#mailbox.produced) this.#judgeByEnergy();
  }

  /** As many frames wait as may, without one being left out when there are some more. */
  get isBusy(): boolean {
    return this.#mailbox.produced - this.#next >= maxUnreadFrames - 2;
  }

  /** Every frame is judged. */
  get isIdle(): boolean {
    return this.#next >= this.#mailbox.produced;
  }

  /** Number of the next frame that will be full. */
  get written(): number {
    return this.#mailbox.produced;
  }

  /** While a judgement is told: number of the first frame that has none. */
  get judged(): number {
    return this.#next + 1;
  }

  /** Audio that came and is not judged, behind the frame that is being told; nothing where one frame waits as usual. */
  get unjudgedMs(): number {
    const frames = this.#mailbox.produced - this.judged;
    return frames < usuallyWaiting ? 0 : frames * vadFrameMs;
  }

  /** Frames judged by energy because inference was away. */
  get judgedByEnergy(): number {
    return this.#judgedByEnergy;
  }

  #judgeByEnergy(): void {
    const { boxes, machineMs } = this.#options;
    const now = machineMs();
    const isGone = boxes.isThreadGone(this.#thread);
    const silentMs = heartbeatAge(now, boxes.threadHeartbeat(this.#thread));
    if (!isGone && silentMs <= awayAfterMs) {
      this.#away = false;
      return;
    }
    const produced = this.#mailbox.produced;
    this.#next = Math.max(this.#next, produced - resultRing);
    for (; this.#next < produced; this.#next += 1) {
      const index = this.#next & (resultRing - 1);
      // Right after a stall of the whole machine every heartbeat is old: only a frame that waits as long proves it.
      if (!isGone && !this.#away && now - (this.#writtenMs[index] ?? now) < awayAfterMs) return;
      if (!this.#away) this.#options.fellBack?.(Math.min(silentMs, now - (this.#begunMs[index] ?? now)));
      this.#away = true;
      this.#judgedByEnergy += 1;
      this.#tell(this.#energy[index] ?? 0, true);
    }
  }

  /** Tells the judgement of the frame that is next. */
  #tell(probability: number, judgedByEnergy: boolean): void {
    const sound = this.#sounds[this.#next & (soundRing - 1)];
    if (sound === undefined) return;
    sound.judgedByEnergy = judgedByEnergy;
    this.#options.judged(probability, vadFrameMs, sound);
  }
}
