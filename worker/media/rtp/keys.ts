/**
 * Keys that travel as RTP events (RFC 4733). A key is many packets: one timestamp, growing duration, the end sent three times. It counts
 * once, with its first packet; losing any of them, or all but one, changes nothing.
 */
import { number, record, text } from '../../../shared/base/codec.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';

const digits = '0123456789*#ABCD';

/** Reads the keys of one stream. */
export class KeyReader {
  #ssrc = -1;
  #timestamp = -1;

  /** The key that begins with this packet; undefined where it is none, or one that was told before. */
  take({
    ssrc,
    timestamp,
    payload,
  }: {
    readonly ssrc: number;
    readonly timestamp: number;
    readonly payload: Uint8Array;
  }): string | undefined {
    const digit = payload.length >= 4 ? digits[payload[0] ?? 255] : undefined;
    if (digit === undefined) return undefined;
    if (ssrc === this.#ssrc && !isNewer(timestamp, this.#timestamp)) return undefined;
    this.#ssrc = ssrc;
    this.#timestamp = timestamp;
    return digit;
  }
}

const isNewer = (timestamp: number, than: number): boolean =>
  than < 0 || (timestamp !== than && (timestamp - than) >>> 0 < 2 ** 31);

/** Keys that are still to be pressed; the first is under way once its frame is past 0. */
export interface KeysLeft {
  /** With pauses between: `w` of half a second, `W` of a whole one. */
  keys: string;
  /** Frame of the first key or pause. */
  frame: number;
  /** When the first key began, by the clock of RTP. */
  timestamp: number;
}

export const keysLeftCodec = record<KeysLeft>({ keys: text(), frame: number, timestamp: number });

/** What goes out in the place of one frame of audio. */
export interface KeyFrame {
  readonly payload: Buffer;
  readonly timestamp: number;
  readonly isFirst: boolean;
  /** The end is sent so often. */
  readonly times: number;
}

const pressFrames = 240 / FRAME_MS;
/** Between two keys that are alike nothing else tells where the one ends. */
const gapFrames = 100 / FRAME_MS;
const pauses: Readonly<Record<string, number>> = { w: 500 / FRAME_MS, W: 1_000 / FRAME_MS };
/** A key's loudness, in dB below the loudest. */
const volume = 10;
const timesEnd = 3;

const framesOf = (key: string): number => pauses[key] ?? pressFrames + gapFrames;

/** How long it takes to press what is left. */
export const pressMs = ({ keys, frame }: KeysLeft): Millis =>
  (Array.from(keys, framesOf).reduce((sum, frames) => sum + frames, 0) - frame) * FRAME_MS;

/** Presses one frame of what is left; undefined where this frame is the audio's. `now` is the frame's own timestamp. */
export function pressFrame(left: KeysLeft, now: number, frameTicks: number): KeyFrame | undefined {
  const first = left.keys[0];
  if (first === undefined) return undefined;
  const pause = pauses[first];
  const { frame } = left;
  left.frame += 1;
  if (left.frame >= framesOf(first)) Object.assign(left, { keys: left.keys.slice(1), frame: 0 });
  if (pause !== undefined || frame >= pressFrames) return undefined;
  if (frame === 0) left.timestamp = now;
  const isEnd = frame === pressFrames - 1;
  const payload = Buffer.alloc(4);
  payload[0] = digits.indexOf(first.toUpperCase());
  payload[1] = (isEnd ? 0x80 : 0) | volume;
  payload.writeUInt16BE((frame + 1) * frameTicks, 2);
  return { payload, timestamp: left.timestamp, isFirst: frame === 0, times: isEnd ? timesEnd : 1 };
}
