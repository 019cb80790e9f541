/**
 * The agent's audio into RTP packets, one every 20 ms for as long as the call lasts: the engine's frames as it gives them, silence in
 * between. Frames that come before the peer has agreed to the call, or while keys are pressed, wait, and everything after them keeps that
 * distance.
 */
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import type { SipMedia } from '../../shared/sip/calls.ts';
import { codecOf, type CodecOptions, type PayloadCodec } from '../media/rtp/codec.ts';
import { pressFrame, pressMs, type KeyFrame, keysLeftCodec, type KeysLeft } from '../media/rtp/keys.ts';
import { rtpHeadBytes, writeRtpHead, type RtpHead } from '../media/rtp/rtp.ts';
import { SrtpWriter } from '../media/rtp/srtp.ts';
import { number, record, time } from '../../shared/base/codec.ts';

export interface RtpOutOptions extends CodecOptions {
  readonly send: (packet: Buffer, of: { readonly timestamp: number; readonly bytes: number }) => void;
  readonly random: () => number;
  /** What another worker left. */
  readonly saved: RtpOutState | undefined;
  readonly now: Millis;
}

/** Frames that wait for the peer's word: a greeting of this length is not lost. */
const mostWaiting = 250;
/** A tick may come this much early or late; silence is sent only where no frame of the engine can be meant. */
const slackMs = 12;
/** A worker that comes late makes up for this much; what lies further back is left out. */
const mostBehindMs = 4 * FRAME_MS;
/** Keys and pauses that may be left to press. */
const mostKeys = 64;

export class RtpOut {
  readonly #options: RtpOutOptions;
  readonly state: RtpOutState;
  #media: SipMedia;
  #codec: PayloadCodec;
  #srtp: SrtpWriter | undefined;
  readonly #waiting: Uint8Array[] = [];
  #isOpen: boolean;
  /** The next packet begins a stretch of speech. */
  #isSilent = true;

  constructor(media: SipMedia, options: RtpOutOptions) {
    this.#options = options;
    this.#media = media;
    this.#codec = codecOf(media.codec, options);
    this.#srtp = writerOf(media);
    this.#isOpen = options.saved !== undefined;
    this.state = options.saved ?? newRtpStream(options.random, options.now);
    if (options.saved !== undefined) skipAhead(this.state, options.now);
  }

  /** How long a frame that is given now waits before it is sent. */
  get waitingMs(): Millis {
    return this.#waiting.length * FRAME_MS + (this.#isPressing ? pressMs(this.state.keys) : 0);
  }

  get #isPressing(): boolean {
    return this.#media.dtmfType !== undefined && this.state.keys.keys !== '';
  }

  /** The peer has agreed. */
  open(now: Millis): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.#waiting.length > 0) this.#next(now);
  }

  agreed(media: SipMedia): void {
    if (media.codec !== this.#media.codec) this.#codec = codecOf(media.codec, this.#options);
    if (media.keys?.local !== this.#media.keys?.local) this.#srtp = writerOf(media);
    this.#media = media;
  }

  /** Takes 20 ms of PCM. */
  frame(pcm: Int16Array, now: Millis): void {
    this.#waiting.push(this.#codec.encode(pcm));
    if (this.#waiting.length > mostWaiting) this.#waiting.shift();
    if (this.#isOpen) this.#next(now);
  }

  /** Presses keys, in the place of audio; false where the peer takes none, or too many are left. */
  press(digits: string): boolean {
    const { keys } = this.state;
    const { dtmfType, dtmfClock, sends } = this.#media;
    if (
      dtmfType === undefined ||
      dtmfClock !== undefined ||
      !sends ||
      keys.keys.length + digits.length > mostKeys
    )
      return false;
    keys.keys += digits;
    return true;
  }

  /** What waits is not said any more. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** Every moment has its packet: a phone that misses one makes up sound. */
  tick(now: Millis): void {
    if (!this.#isOpen) return;
    while (now - this.state.sentAt >= FRAME_MS + slackMs) {
      const dueAt = Math.max(this.state.sentAt + FRAME_MS, now - mostBehindMs);
      this.#next(dueAt);
    }
  }

  #next(now: Millis): void {
    const payload = this.#isPressing ? undefined : this.#waiting.shift();
    this.#packet(payload ?? this.#codec.encodeSilence(), now, payload !== undefined && this.#isSilent);
    this.#isSilent = payload === undefined;
  }

  #packet(audio: Uint8Array, now: Millis, marker: boolean): void {
    const { state } = this;
    const { dtmfType, payloadType } = this.#media;
    nextNumbers(state, now, this.#codec.clockPerMs);
    const key = dtmfType && pressFrame(state.keys, state.timestamp, FRAME_MS * this.#codec.clockPerMs);
    if (dtmfType === undefined || !key) {
      this.#sendOne({ payloadType, marker, timestamp: state.timestamp }, audio);
      return;
    }
    this.#sendKey(dtmfType, key);
  }

  #sendKey(payloadType: number, { payload, timestamp, isFirst, times }: KeyFrame): void {
    for (let sent = 0; sent < times; sent += 1) {
      if (sent > 0) this.state.sequence += 1;
      this.#sendOne({ payloadType, marker: isFirst, timestamp }, payload);
    }
  }

  #sendOne(head: Pick<RtpHead, 'payloadType' | 'marker' | 'timestamp'>, payload: Uint8Array): void {
    const packet = Buffer.allocUnsafe(rtpHeadBytes + payload.length);
    const { sequence, ssrc } = this.state;
    writeRtpHead(packet, { ...head, sequence, ssrc });
    packet.set(payload, rtpHeadBytes);
    const { timestamp } = this.state;
    this.#options.send(this.#srtp?.close(packet, sequence) ?? packet, { timestamp, bytes: payload.length });
  }
}

const writerOf = ({ keys }: SipMedia): SrtpWriter | undefined =>
  keys && new SrtpWriter(keys.local, keys.suite);

/**
 * The numbers on what this side sends (RFC 3550, 5.1): sequence, timestamp and source of one stream, which begin at random and go on
 * where they were after the call changed its worker. Saved state is older than the last packet, so that numbers are skipped then; none
 * is used twice.
 */
export interface RtpOutState {
  ssrc: number;
  /** Counts packets since the beginning, without a turn at 65536. */
  sequence: number;
  timestamp: number;
  /** When the packet with these numbers was due: a multiple of 20 ms behind the first, so that timestamps keep to the clock. */
  sentAt: Millis;
  readonly keys: KeysLeft;
}

export const rtpOutCodec = record<RtpOutState>({
  ssrc: number,
  sequence: number,
  timestamp: number,
  sentAt: time,
  keys: keysLeftCodec,
});

const frameMs = 20;

const newRtpStream = (random: () => number, now: Millis): RtpOutState => ({
  ssrc: random() >>> 0,
  // Below a turn, so that peers that guess how many turns there were guess right.
  sequence: random() & 0x7fff,
  timestamp: random() >>> 0,
  sentAt: now,
  keys: { keys: '', frame: 0, timestamp: 0 },
});

/** Goes on in another worker: beyond everything that the one before can have sent since it saved its state. */
function skipAhead(stream: RtpOutState, now: Millis): void {
  const frames = Math.ceil(Math.max(0, now - stream.sentAt) / frameMs);
  stream.sequence += frames + 50;
}

/** Numbers of the next packet: time that nothing was sent in passes for the timestamp too. */
function nextNumbers(stream: RtpOutState, now: Millis, clockPerMs: number): void {
  const frames = Math.max(1, Math.round((now - stream.sentAt) / frameMs));
  stream.sequence += 1;
  stream.timestamp = (stream.timestamp + frames * frameMs * clockPerMs) >>> 0;
  stream.sentAt += frames * frameMs;
}
