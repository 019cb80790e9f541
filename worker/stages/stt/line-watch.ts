/**
 * Keeps the times of one connection: when something was sent, when the server last showed that it lives, and how far
 * ahead of real time the audio is. Pure; all times in milliseconds of the call's clock.
 */

/** After this long without a sign of life during an utterance the server is asked for one, and has as long to answer. */
export const SILENCE_MS = 2_000;

export class LineWatch {
  private sentAtMs = 0;
  private aliveAtMs = 0;
  private askedAtMs: number | undefined;
  private nextFrameAtMs = Number.NEGATIVE_INFINITY;

  /** A new connection. */
  begin(nowMs: number): void {
    this.sentAtMs = nowMs;
    this.aliveAtMs = nowMs;
    this.askedAtMs = undefined;
    this.nextFrameAtMs = Number.NEGATIVE_INFINITY;
  }

  sent(nowMs: number): void {
    this.sentAtMs = nowMs;
  }

  alive(nowMs: number): void {
    this.aliveAtMs = nowMs;
    this.askedAtMs = undefined;
  }

  /** An answer is owed from here on. */
  expect(nowMs: number): void {
    this.aliveAtMs = nowMs;
  }

  asked(nowMs: number): void {
    this.askedAtMs ??= nowMs;
  }

  /** The server was asked for a sign of life and has given none. */
  get isAsked(): boolean {
    return this.askedAtMs !== undefined;
  }

  /** When to ask for a sign of life, or, when that was done, to give the server up. */
  patienceEndsMs(isOwed: boolean): number {
    if (this.askedAtMs !== undefined) return this.askedAtMs + SILENCE_MS;
    return isOwed ? this.aliveAtMs + SILENCE_MS : Number.POSITIVE_INFINITY;
  }

  keepAliveAtMs(keepAliveMs: number): number {
    return this.sentAtMs + keepAliveMs;
  }

  /** After a pause, `burstMs` of audio may go at once; from then on it goes at the pace of speech. */
  paced(nowMs: number, frame: { readonly frameMs: number; readonly burstMs: number }): void {
    this.nextFrameAtMs = Math.max(this.nextFrameAtMs, nowMs - frame.burstMs) + frame.frameMs;
  }

  /** The earliest time of the next frame. */
  get frameAtMs(): number {
    return this.nextFrameAtMs;
  }
}
