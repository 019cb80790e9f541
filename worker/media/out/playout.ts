/**
 * Gives the agent's audio to the transport in real time: one frame every 20 ms on the worker's tick, the first one of a
 * stretch at once. Marks follow the audio that they stand behind.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import type { DueMark, OutboundAudio } from './outbound.ts';

/** Timers fire up to a millisecond early; such a frame is not held back for another tick. */
const earlyMs = 1;
/** After a stall of the process at most this many frames are sent at once to get back to real time. */
const catchUpFrames = 5;

export interface PlayoutSink {
  /** The frame that is taken next is the first after a silence on the wire. */
  stretchBegins(): void;
  sendFrame(frame: Buffer): void;
  sendMark(mark: DueMark): void;
  /** The first frame of a context went out. */
  started(context: number): void;
  /** The last frame of a finished context went out. */
  drained(context: number, sentMs: Millis): void;
  /** A frame went out this much after its time. */
  late(byMs: Millis): void;
  /** The output gave way, and stands still from here. */
  held(): void;
  /** The client ran dry inside a context: a frame was due and there was none. */
  underrun(): void;
  /** Everything that exists of a context that plays is on the wire, and more is to come. */
  starved(context: number, sentMs: Millis): void;
  /** The first frame after that went out. */
  fed(context: number): void;
}

export class Playout {
  readonly #audio: OutboundAudio;
  readonly #sink: PlayoutSink;
  readonly #gridBefore: (time: Millis) => Millis;
  readonly #leadMs: () => Millis;
  /** When the next frame is due; undefined between stretches of audio. */
  #dueAt: Millis | undefined;
  /** Until when the client plays what it has of the stretch before. */
  #storedUntil: Millis = 0;
  #startedContext = 0;
  /** The context that has started has nothing to send. */
  #starving = false;

  constructor(
    audio: OutboundAudio,
    options: {
      readonly sink: PlayoutSink;
      readonly gridBefore: (time: Millis) => Millis;
      /** Frames go out so much before their time, as far as they exist; at most 80 ms. */
      readonly leadMs?: () => Millis;
    },
  ) {
    this.#audio = audio;
    this.#leadMs = options.leadMs ?? (() => 0);
    this.#sink = options.sink;
    this.#gridBefore = options.gridBefore;
  }

  /** Sends what is due. Called on every tick, and when audio arrives. */
  advance(now: Millis): void {
    const leadMs = this.#leadMs();
    for (let sent = 0; sent < catchUpFrames; sent += 1) {
      if (this.#dueAt !== undefined && now < this.#dueAt - earlyMs - leadMs) break;
      if (!this.#audio.ready) {
        // The client has the lead yet to play.
        if (this.#dueAt !== undefined && now < this.#dueAt - earlyMs) break;
        this.#pause();
        break;
      }
      this.#sendOne(now);
    }
    if (this.#dueAt !== undefined && now - this.#dueAt > catchUpFrames * FRAME_MS) this.#dueAt = undefined;
    this.flushMarks();
    this.#finish();
  }

  #sendOne(now: Millis): void {
    if (this.#dueAt === undefined) {
      // On the grid of ticks the first interval is up to a tick shorter than the others.
      const isAhead = this.#storedUntil > now + FRAME_MS;
      this.#dueAt = this.#gridBefore((isAhead ? this.#storedUntil : now) + FRAME_MS);
      this.#sink.stretchBegins();
    } else {
      this.#sink.late(Math.max(0, now - this.#dueAt));
      this.#dueAt += FRAME_MS;
    }
    const { context } = this.#audio;
    this.#sink.sendFrame(this.#audio.takeFrame());
    if (this.#audio.held) {
      this.interrupt();
      this.#sink.held();
    }
    if (this.#startedContext === context) {
      if (this.#starving) this.#sink.fed(context);
      this.#starving = false;
      return;
    }
    this.#startedContext = context;
    this.#starving = false;
    this.#sink.started(context);
  }

  /** Nothing to send although it is time. */
  #pause(): void {
    const { context, starved, sentMs } = this.#audio;
    if (starved && this.#dueAt !== undefined) this.#sink.underrun();
    this.#dueAt = undefined;
    if (!starved || this.#starving || this.#startedContext !== context) return;
    this.#starving = true;
    this.#sink.starved(context, sentMs);
  }

  /** Sends the marks whose audio is on the wire, but for what waits to become a whole frame where nothing else is to come yet. */
  flushMarks(): void {
    const isDry = this.#starving && this.#audio.starved;
    const next = (): DueMark | undefined => this.#audio.takeMark({ isDry });
    for (let mark = next(); mark !== undefined; mark = next()) this.#sink.sendMark(mark);
  }

  #finish(): void {
    const { context, sentMs } = this.#audio;
    if (!this.#audio.takeDrained()) return;
    this.flushMarks();
    this.#sink.drained(context, sentMs);
  }

  /** The stretch ends here: held, cut, or replaced by another context. Unless it was told to clear, the client plays on what it has. */
  interrupt({ isCleared = false }: { readonly isCleared?: boolean } = {}): void {
    this.#storedUntil = isCleared ? 0 : (this.#dueAt ?? this.#storedUntil);
    this.#dueAt = undefined;
  }
}
