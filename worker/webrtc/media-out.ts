/**
 * The agent's audio as RTP: one packet for each frame, timestamps that follow the clock over pauses, and a pause that sounds like one:
 * some frames of silence, and then one now and again, so that the client fades out instead of making up sound.
 */
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import { writeRtp } from './rtp.ts';

/** Frames of silence behind the last one of a stretch. */
const tailFrames = 3;
/** In a pause one frame keeps the way open and the client's clock right. */
const keepAliveMs = 400;
/** A frame that is not sent by then ends the stretch. */
const stretchEndsMs = 2 * FRAME_MS;

export interface MediaOutOptions {
  readonly ssrc: number;
  readonly payloadType: number;
  readonly clockRate: number;
  readonly firstSequence: number;
  readonly firstTimestamp: number;
  /** Makes a packet's payload of a frame, or of silence. */
  readonly encode: (pcm: Int16Array | undefined) => Uint8Array;
  readonly send: (packet: Buffer, payload: { readonly timestamp: number; readonly bytes: number }) => void;
}

export class MediaOut {
  readonly #options: MediaOutOptions;
  readonly #frameTicks: number;
  #sequence: number;
  #timestamp: number;
  /** Of Opus at the client; another connection of it may have another one. */
  payloadType: number;
  /** When the last frame went out; undefined before the first. */
  #sentAt: Millis | undefined;
  /** Frames of silence that the pause has had; a stretch has none. */
  #silent = 0;

  constructor(options: MediaOutOptions) {
    this.#options = options;
    this.payloadType = options.payloadType;
    this.#frameTicks = (options.clockRate * FRAME_MS) / 1000;
    this.#sequence = options.firstSequence;
    this.#timestamp = options.firstTimestamp;
  }

  /** One frame of agent audio, when it is due. */
  frame(pcm: Int16Array, now: Millis): void {
    const begins = this.#sentAt === undefined || this.#silent > 0;
    if (begins) this.#skipTo(now);
    this.#silent = 0;
    this.#packet(this.#options.encode(pcm), begins);
    this.#sentAt = now;
  }

  /**
   * The stretch ends here, in the middle of a word: the frame of silence behind it goes out at once. The client would make up sound until it
   * comes, and it has the last milliseconds of the word, which the encoder still holds.
   */
  pause(): void {
    if (this.#sentAt === undefined || this.#silent > 0) return;
    this.#silent = 1;
    this.#packet(this.#options.encode(undefined), false);
    // Its place is behind the last frame, however early it goes out.
    this.#sentAt += FRAME_MS;
  }

  /** Fills a pause. Called about every 20 ms. */
  tick(now: Millis): void {
    const passedMs = this.#sentAt === undefined ? keepAliveMs : now - this.#sentAt;
    const isTail = this.#silent < tailFrames && this.#sentAt !== undefined;
    const dueMs = this.#silent === 0 ? stretchEndsMs : isTail ? FRAME_MS - 1 : keepAliveMs;
    if (passedMs < dueMs) return;
    this.#skipTo(now);
    this.#silent += 1;
    this.#packet(this.#options.encode(undefined), false);
    this.#sentAt = now;
  }

  /** Time has passed in which nothing was sent. */
  #skipTo(now: Millis): void {
    if (this.#sentAt === undefined) return;
    const frames = Math.max(0, Math.round((now - this.#sentAt) / FRAME_MS) - 1);
    this.#timestamp = (this.#timestamp + frames * this.#frameTicks) % 2 ** 32;
  }

  #packet(payload: Uint8Array, marker: boolean): void {
    const { ssrc, send } = this.#options;
    const { payloadType } = this;
    const timestamp = this.#timestamp;
    const header = { marker, payloadType, sequence: this.#sequence, timestamp, ssrc };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (timestamp + this.#frameTicks) % 2 ** 32;
    send(writeRtp(header, payload), { timestamp, bytes: payload.length });
  }
}
