/**
 * Keeps the times of one connection: when something was sent, when the server last showed that it lives, how far ahead of
 * real time the audio is, and where in the connection's audio the utterance began. Pure; all times in milliseconds.
 */
import type { Transcript } from '../stage.ts';
import type { TimedTranscript } from './wire.ts';

/** After this long without a sign of life during an utterance the server is asked for one, and has as long to answer. */
const SILENCE_MS = 2_000;

export class LineWatch {
  #sentAtMs = 0;
  #aliveAtMs = 0;
  #askedAtMs: number | undefined;
  #nextFrameAtMs = Number.NEGATIVE_INFINITY;
  #audioMs = 0;
  #utteranceMs = 0;

  /** A new connection. */
  begin(nowMs: number): void {
    this.#sentAtMs = nowMs;
    this.#aliveAtMs = nowMs;
    this.#askedAtMs = undefined;
    this.#nextFrameAtMs = Number.NEGATIVE_INFINITY;
    this.#audioMs = this.#utteranceMs = 0;
  }

  sent(nowMs: number): void {
    this.#sentAtMs = nowMs;
  }

  alive(nowMs: number): void {
    this.#aliveAtMs = nowMs;
    this.#askedAtMs = undefined;
  }

  /** An utterance begins: an answer is owed from here on. */
  expect(nowMs: number): void {
    this.#aliveAtMs = nowMs;
    this.#utteranceMs = this.#audioMs;
  }

  asked(nowMs: number): void {
    this.#askedAtMs ??= nowMs;
  }

  /** The server was asked for a sign of life and has given none. */
  get isAsked(): boolean {
    return this.#askedAtMs !== undefined;
  }

  /** When to ask for a sign of life, or, when that was done, to give the server up. */
  patienceEndsMs(isOwed: boolean): number {
    if (this.#askedAtMs !== undefined) return this.#askedAtMs + SILENCE_MS;
    return isOwed ? this.#aliveAtMs + SILENCE_MS : Number.POSITIVE_INFINITY;
  }

  keepAliveAtMs(keepAliveMs: number): number {
    return this.#sentAtMs + keepAliveMs;
  }

  /** A frame goes. After a pause, `burstMs` of audio may go at once; from then on it goes at the pace of speech. */
  gave(nowMs: number, { frameMs, burstMs }: { frameMs: number; burstMs: number | undefined }): void {
    this.#audioMs += frameMs;
    if (burstMs !== undefined) this.#nextFrameAtMs = Math.max(this.#nextFrameAtMs, nowMs - burstMs) + frameMs;
  }

  /** The transcript with its place in the utterance instead of that in the connection's audio. */
  placed({ endMs, ...transcript }: TimedTranscript): Transcript {
    if (endMs === undefined) return transcript;
    return { ...transcript, heardMs: Math.max(0, Math.min(endMs, this.#audioMs) - this.#utteranceMs) };
  }

  /** The earliest time of the next frame. */
  get frameAtMs(): number {
    return this.#nextFrameAtMs;
  }
}
