/**
 * Keys that travel as RTP events (RFC 4733). A key is many packets: one timestamp, growing duration, the end sent three times. It counts
 * once, with its first packet; losing any of them, or all but one, changes nothing. Gateways break the rule of the one timestamp: packets
 * that go on where the press was, or repeat its end, belong to it whatever their time.
 */
import { number, record, text } from '../../../shared/base/codec.ts';
import { FRAME_MS, type Millis } from '../../../shared/base/units.ts';
import type { RtpPacket } from './rtp.ts';

const digits = '0123456789*#ABCD';

/** Between two presses there is a longer pause, and what is missing of one press is shorter. */
const mostGapMs = 40;
/** Packets that come later than so many others are no stragglers: the numbers began anew. */
const mostBehind = 500;

interface Press {
  readonly digit: string;
  readonly ssrc: number;
  /** Of its newest packet. */
  sequence: number;
  timestamp: number;
  duration: number;
  /** Where it began, and how far it has come from there, in ticks. */
  start: number;
  reach: number;
  isEnded: boolean;
}

interface EventPacket extends Pick<RtpPacket, 'ssrc' | 'sequence' | 'timestamp' | 'marker'> {
  readonly digit: string;
  readonly duration: number;
  readonly isEnd: boolean;
}

/** Reads the keys of one stream. */
export class KeyReader {
  #press: Press | undefined;

  /** The key that begins with this packet; undefined where it is none, or one that was told before. */
  take(packet: RtpPacket, clockRate: number): string | undefined {
    const event = eventOf(packet);
    if (event === undefined) return undefined;
    const press = this.#press;
    if (press?.ssrc === event.ssrc) {
      if (isLate(press, event)) return undefined;
      if (!isAnother(press, event, (clockRate * mostGapMs) / 1000)) {
        goOn(press, event);
        return undefined;
      }
    }
    const { digit, ssrc, sequence, timestamp, duration, isEnd } = event;
    this.#press = {
      digit,
      ssrc,
      sequence,
      timestamp,
      duration,
      start: timestamp,
      reach: duration,
      isEnded: isEnd,
    };
    return digit;
  }
}

function eventOf({ payload, ssrc, sequence, timestamp, marker }: RtpPacket): EventPacket | undefined {
  const [event = 255, flags = 0, high = 0, low = 0] = payload;
  const digit = payload.length >= 4 ? digits[event] : undefined;
  if (digit === undefined) return undefined;
  return { digit, ssrc, sequence, timestamp, marker, isEnd: flags >= 0x80, duration: (high << 8) | low };
}

/** Ticks from one timestamp to another. */
const ticks = (from: number, to: number): number => (to - from) | 0;

const isLate = (press: Press, { sequence, timestamp }: EventPacket): boolean =>
  ((press.sequence - sequence) & 0xffff) < mostBehind && ticks(press.timestamp, timestamp) <= 0;

/** Whether a packet that is newer than all of the press begins another one. */
function isAnother(press: Press, event: EventPacket, mostGap: number): boolean {
  const { timestamp, duration, isEnd, marker } = event;
  const from = ticks(press.start, timestamp);
  if (event.digit !== press.digit || from < 0) return true;
  // A sender whose clock stands still between its keys.
  if (timestamp === press.timestamp) return press.isEnded && !isEnd && marker && duration < press.reach;
  if (isEnd) return from > (press.isEnded ? press.reach : Math.max(press.reach, duration)) + mostGap;
  if (press.isEnded) return marker || from >= press.reach;
  // A new timestamp in each packet.
  if (duration > press.duration && from <= duration) return false;
  return from > press.reach + (marker ? 0 : mostGap);
}

function goOn(press: Press, { sequence, timestamp, duration, isEnd }: EventPacket): void {
  const isNextSegment = timestamp !== press.timestamp && !isEnd && duration <= press.duration;
  if (isNextSegment) {
    press.start = timestamp;
    press.reach = 0;
  }
  press.reach = Math.max(press.reach, duration, ticks(press.start, timestamp));
  Object.assign(press, { sequence, timestamp, duration });
  press.isEnded ||= isEnd;
}

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
