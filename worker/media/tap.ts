/**
 * Both directions of a call's audio for one listener, a recorder for example: what was taken from the caller and what was sent to the
 * client, on one line of samples that begins when the listener comes. Nobody listening costs a comparison for each frame.
 *
 * Invariant: places of a direction never go back, and its samples never overlap; what lies between two of its pieces was silence.
 */
import { newResampler, type Resampler } from '../../shared/audio/resampler.ts';
import { assert } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';

/** Playout makes up for what it is behind, up to 100 ms; beyond that the client heard nothing. */
const longestLateMs = 120;
/**
 * A network that stands still for less delivers all of it afterwards, so the audio of a caller goes on where it was. Clients that send
 * nothing while their callers are silent are up to so much early by it, until they are silent for longer.
 */
const longestStallMs = 2_000;

export interface TapListener {
  /**
   * The caller was heard: PCM16 at the call's rate, valid until it returns.
   * @param at place of its first sample, in samples since the listener came.
   */
  heard(pcm: Int16Array, at: number): void;
  /** The bot was sent to the client: the same, every sample that was on the wire, and nothing that a barge-in dropped. */
  sent(pcm: Int16Array, at: number): void;
}

interface Lines {
  readonly listener: TapListener;
  readonly heard: Line;
  readonly sent: Line;
}

export class AudioTap {
  readonly #rate: number;
  readonly #inputRate: number;
  #lines: Lines | undefined;
  #toRate: Resampler | undefined;

  /** @param sampleRate of the call, in Hz; `inputRate` is that of the caller's audio, where it is another. */
  constructor(sampleRate: number, inputRate = sampleRate) {
    this.#rate = sampleRate;
    this.#inputRate = inputRate;
  }

  /** Everything from `now` on goes to this listener, until it is closed by what is given back. One at a time. */
  listen(listener: TapListener, now: Millis): () => void {
    assert(this.#lines === undefined, 'a tap has one listener');
    const lines = {
      listener,
      heard: new Line(this.#rate, { beganAt: now, longestGapMs: longestStallMs }),
      sent: new Line(this.#rate, { beganAt: now, longestGapMs: longestLateMs }),
    };
    this.#lines = lines;
    return () => {
      if (this.#lines === lines) this.#lines = undefined;
    };
  }

  /** These samples of the caller have come just now: they end here. */
  heard(input: Int16Array, now: Millis): void {
    if (this.#lines === undefined) return;
    const { listener, heard } = this.#lines;
    if (this.#inputRate !== this.#rate)
      this.#toRate ??= newResampler({ from: this.#inputRate, to: this.#rate });
    const pcm = this.#toRate?.process(input) ?? input;
    listener.heard(pcm, heard.place(pcm.length, now - (pcm.length * 1000) / this.#rate));
  }

  /** The bot was silent, if only for a moment: what is sent next belongs to its own time. Frames of one stretch follow without a gap when they are late. */
  pausedSending(): void {
    this.#lines?.sent.pause();
  }

  /** These samples of the bot go out now: they begin here. */
  sent(pcm: Int16Array, now: Millis): void {
    if (this.#lines === undefined) return;
    const { listener, sent } = this.#lines;
    listener.sent(pcm, sent.place(pcm.length, now));
  }
}

/** One direction: counts samples, and lets time pass only where it was silent. */
class Line {
  readonly #rate: number;
  readonly #beganAt: Millis;
  readonly #longestGap: number;
  #end = 0;
  #isPaused = true;

  constructor(rate: number, { beganAt, longestGapMs }: { beganAt: Millis; longestGapMs: Millis }) {
    this.#rate = rate;
    this.#beganAt = beganAt;
    this.#longestGap = (longestGapMs * rate) / 1000;
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Where so many samples belong that begin at a time. */
  place(count: number, at: Millis): number {
    const place = Math.round(((at - this.#beganAt) * this.#rate) / 1000);
    const isNew = this.#isPaused || place - this.#end > this.#longestGap;
    this.#isPaused = false;
    const from = isNew ? Math.max(this.#end, place) : this.#end;
    this.#end = from + count;
    return from;
  }
}
