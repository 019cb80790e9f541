/**
 * Gives the agent's audio to the transport in real time: one frame every 20 ms on the worker's tick, the first one of a
 * stretch at once. Marks follow the audio that they stand behind.
 *
 * Where there is a backdrop, its frames take the places in which the agent has none: on the same grid of 20 ms, never ahead of it and never
 * after the fact, so that the client has no more in store when the agent speaks than it would have without. Where it has more all the same,
 * because it ran dry, as many places are left out.
 */
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import { Backlog } from './backlog.ts';
import type { DueMark, OutboundAudio } from './outbound.ts';
import { earlyMs } from './pacer.ts';

/** After a stall of the process at most this many frames are sent at once to get back to real time. */
const catchUpFrames = 5;

export interface PlayoutSink {
  /** The frame that is taken next is the first after a silence on the wire. */
  stretchBegins(): void;
  sendFrame(frame: Buffer): void;
  /** A frame that has nothing of the agent: it belongs to no stretch, and nothing counts it. */
  sendBackdrop(frame: Buffer): void;
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
  /** Until when the client plays what it has of the stretch before, or of the backdrop. */
  #storedUntil: Millis = 0;
  /** The newest frame was one of the backdrop: the next one follows it without a gap. */
  #isBackdrop = false;
  readonly #backlog = new Backlog();
  /** When the client plays the end of the agent's newest frame, at its best. */
  #voiceEndsAt: Millis = 0;
  /** How much of the backdrop is to be left out. */
  #surplusMs: Millis = 0;
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

  /** When something is to be sent, as far as that is known now; audio that comes goes out as it comes. */
  get nextAt(): Millis {
    const { ready, hasBackdrop } = this.#audio;
    if (this.#dueAt !== undefined) return this.#dueAt - (ready ? this.#leadMs() : 0);
    if (ready) return 0;
    return hasBackdrop ? this.#storedUntil : Infinity;
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
    if (this.#dueAt === undefined) this.#fillPlace(now);
    this.flushMarks();
    this.#finish();
  }

  #sendOne(now: Millis): void {
    if (this.#dueAt === undefined) {
      // On the grid of ticks the first interval is up to a tick shorter than the others.
      const aheadMs = this.#storedUntil - now;
      // Places of the backdrop that are left out are no reason to wait: the client may have told them wrong.
      const isAhead = this.#isBackdrop ? aheadMs > 0 && aheadMs <= FRAME_MS : aheadMs > FRAME_MS;
      this.#dueAt = this.#gridBefore((isAhead ? this.#storedUntil : now) + FRAME_MS);
      this.#sink.stretchBegins();
    } else {
      this.#sink.late(Math.max(0, now - this.#dueAt));
      this.#dueAt += FRAME_MS;
    }
    this.#isBackdrop = false;
    this.#voiceEndsAt = this.#dueAt;
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

  /** The agent has nothing to send, and it is time for a frame. */
  #fillPlace(now: Millis): void {
    if (!this.#audio.hasBackdrop) {
      this.#isBackdrop = false;
      return;
    }
    this.#storedUntil += this.#surplusMs;
    this.#surplusMs = 0;
    this.#isBackdrop = true;
    if (now < this.#storedUntil - earlyMs) return;
    // Places that went by are left out.
    const isOnTime = now - this.#storedUntil < FRAME_MS;
    this.#storedUntil = (isOnTime ? this.#storedUntil : this.#gridBefore(now)) + FRAME_MS;
    this.#sink.sendBackdrop(this.#audio.takeBackdrop());
  }

  /** Nothing to send although it is time. */
  #pause(): void {
    const { context, starved, sentMs } = this.#audio;
    if (starved && this.#dueAt !== undefined) this.#sink.underrun();
    if (this.#audio.hasBackdrop) this.#storedUntil = this.#dueAt ?? this.#storedUntil;
    this.#dueAt = undefined;
    if (!starved || this.#starving || this.#startedContext !== context) return;
    this.#starving = true;
    this.#sink.starved(context, sentMs);
  }

  /** Sends the marks whose audio is on the wire, but for what waits to become a whole frame where nothing else is to come yet. */
  flushMarks(): void {
    const isDry = this.#starving && this.#audio.starved;
    const next = (): DueMark | undefined => this.#audio.takeMark({ isDry });
    for (let mark = next(); mark !== undefined; mark = next()) {
      this.#sink.sendMark(mark);
      if (this.#audio.hasBackdrop) this.#backlog.sent(mark.id, this.#voiceEndsAt);
    }
  }

  /** The client has played what stands before a mark, by its own word. */
  markPlayed(id: string, now: Millis): void {
    this.#surplusMs += this.#backlog.played(id, now);
  }

  #finish(): void {
    const { context, sentMs } = this.#audio;
    if (!this.#audio.takeDrained()) return;
    this.flushMarks();
    this.#sink.drained(context, sentMs);
  }

  /** The stretch ends here: held, cut, or replaced by another context. Unless it was told to clear, the client plays on what it has. */
  interrupt({ clearedAt }: { readonly clearedAt?: Millis } = {}): void {
    const dueAt = this.#dueAt ?? this.#storedUntil;
    // The audio behind it keeps to the grid, in the next place that a client without anything in store has free.
    if (clearedAt !== undefined) this.#forgetStore();
    const early = clearedAt === undefined ? 0 : Math.ceil((dueAt - clearedAt) / FRAME_MS) - 1;
    this.#storedUntil = dueAt - Math.max(0, early) * FRAME_MS;
    this.#dueAt = undefined;
  }

  #forgetStore(): void {
    this.#backlog.cleared();
    this.#surplusMs = 0;
  }
}
