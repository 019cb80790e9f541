/**
 * The numbers on what this side sends (RFC 3550, 5.1): sequence, timestamp and source of one stream, which begin at random and go on
 * where they were after the call changed its worker. Saved state is older than the last packet, so that numbers are skipped then; none
 * is used twice.
 */
import { number, record, time } from '../../shared/base/codec.ts';
import { keysLeftCodec, type KeysLeft } from '../media/rtp/keys.ts';
import type { Millis } from '../../shared/base/units.ts';

export interface RtpStreamState {
  ssrc: number;
  /** Counts packets since the beginning, without a turn at 65536. */
  sequence: number;
  timestamp: number;
  /** When the packet with these numbers was due: a multiple of 20 ms behind the first, so that timestamps keep to the clock. */
  sentAt: Millis;
  readonly keys: KeysLeft;
}

export const rtpStreamCodec = record<RtpStreamState>({
  ssrc: number,
  sequence: number,
  timestamp: number,
  sentAt: time,
  keys: keysLeftCodec,
});

const frameMs = 20;

export const newRtpStream = (random: () => number, now: Millis): RtpStreamState => ({
  ssrc: random() >>> 0,
  // Below a turn, so that peers that guess how many turns there were guess right.
  sequence: random() & 0x7fff,
  timestamp: random() >>> 0,
  sentAt: now,
  keys: { keys: '', frame: 0, timestamp: 0 },
});

/** Goes on in another worker: beyond everything that the one before can have sent since it saved its state. */
export function skipAhead(stream: RtpStreamState, now: Millis): void {
  const frames = Math.ceil(Math.max(0, now - stream.sentAt) / frameMs);
  stream.sequence += frames + 50;
}

/** Numbers of the next packet: time that nothing was sent in passes for the timestamp too. */
export function nextNumbers(stream: RtpStreamState, now: Millis, clockPerMs: number): void {
  const frames = Math.max(1, Math.round((now - stream.sentAt) / frameMs));
  stream.sequence += 1;
  stream.timestamp = (stream.timestamp + frames * frameMs * clockPerMs) >>> 0;
  stream.sentAt += frames * frameMs;
}
