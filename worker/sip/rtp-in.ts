/** The caller's audio out of RTP packets, in order and without holes, as PCM16 at the call's rate; and the caller's keys. */
import { writeInt16 } from '../../shared/audio/pcm.ts';
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import { sipClockRate, type SipMedia } from '../../shared/sip/calls.ts';
import { codecOf, type CodecOptions, type PayloadCodec } from '../media/rtp/codec.ts';
import { Concealment } from '../media/rtp/concealment.ts';
import { JitterBuffer, type Pulled } from '../media/rtp/jitter-buffer.ts';
import { KeyReader } from '../media/rtp/keys.ts';
import { readRtp, type RtpPacket } from '../media/rtp/rtp.ts';
import { SrtpReader } from '../media/rtp/srtp.ts';

export interface RtpInSink {
  /** PCM16, little-endian; valid until it returns. */
  audio(pcm: Buffer): void;
  key(digit: string): void;
  /** A packet of the stream that is heard. */
  arrived(packet: Pick<RtpPacket, 'ssrc' | 'sequence' | 'timestamp'>): void;
}

/** A payload of more is no audio of a phone. */
const mostPayloadBytes = 1_500;
/** RFC 3389. */
const comfortNoise = 13;

export class RtpIn {
  #media: SipMedia;
  readonly #options: CodecOptions;
  #codec: PayloadCodec;
  readonly #sink: RtpInSink;
  readonly #keys = new KeyReader();
  #buffer: JitterBuffer;
  #srtp: SrtpReader | undefined;
  /** The stream that is heard; a peer that begins another one leaves this one. */
  #ssrc: number | undefined;
  #concealment: Concealment;
  readonly #pcm = new Int16Array(mostPayloadBytes * 2);
  readonly #bytes = Buffer.alloc(mostPayloadBytes * 4);

  constructor(media: SipMedia, sink: RtpInSink, options: CodecOptions) {
    this.#media = media;
    this.#options = options;
    this.#codec = codecOf(media.codec, options);
    this.#sink = sink;
    this.#buffer = this.#newBuffer();
    this.#srtp = readerOf(media);
    this.#concealment = new Concealment((this.#codec.rate * FRAME_MS) / 1000);
  }

  #newBuffer(): JitterBuffer {
    const { rate, clockPerMs, samplesOf } = this.#codec;
    return new JitterBuffer({
      clockRate: clockPerMs * 1000,
      frameTicks: clockPerMs * FRAME_MS,
      ticksOf: (payload) => (samplesOf(payload) * clockPerMs * 1000) / rate,
    });
  }

  agreed(media: SipMedia): void {
    if (media.codec !== this.#media.codec) {
      this.#codec = codecOf(media.codec, this.#options);
      this.#buffer = this.#newBuffer();
    }
    if (media.keys?.remote !== this.#media.keys?.remote) this.#srtp = readerOf(media);
    this.#media = media;
  }

  /** Where an encrypted stream stands, for the worker that goes on with the call. */
  get place(): SrtpReader['place'] {
    return this.#srtp?.place;
  }

  restore(place: NonNullable<SrtpReader['place']>): void {
    this.#srtp?.restore(place);
  }

  /** False where this is nothing that the peer would send. The bytes are kept until they were heard. */
  take(datagram: Buffer, now: Millis): boolean {
    const bytes = this.#srtp === undefined ? datagram : this.#srtp.open(datagram);
    if (bytes === undefined) return false;
    const packet = readRtp(bytes);
    if (packet === undefined || packet.payload.length > mostPayloadBytes) return false;
    const { payload, payloadType, ssrc } = packet;
    if (payloadType === this.#media.dtmfType) {
      const { dtmfClock, codec } = this.#media;
      const digit = this.#keys.take(packet, dtmfClock ?? sipClockRate(codec));
      if (digit !== undefined) this.#sink.key(digit);
      return true;
    }
    if (payloadType !== this.#media.payloadType) return payloadType === comfortNoise;
    if (payload.length === 0) return true;
    if (ssrc !== this.#ssrc) this.#buffer = this.#newBuffer();
    this.#ssrc = ssrc;
    const { sequence, timestamp } = packet;
    this.#sink.arrived(packet);
    this.#buffer.push(
      {
        sequence,
        timestamp,
        payload: bytes.subarray(payload.byteOffset - bytes.byteOffset).subarray(0, payload.length),
      },
      now,
    );
    this.tick(now);
    return true;
  }

  /** Tells what is due. */
  tick(now: Millis): void {
    for (;;) {
      const next = this.#buffer.pull(now);
      if (next.kind === 'nothing') return;
      if (!this.#media.receives) continue;
      if (next.kind === 'payload') {
        const pcm = this.#pcm.subarray(0, this.#codec.samplesOf(next.payload));
        this.#codec.decode(next.payload, pcm);
        this.#concealment.heard(pcm);
        this.#tell(pcm);
      } else {
        this.#conceal(next);
      }
    }
  }

  #conceal({ ticks, row, next }: Extract<Pulled, { kind: 'conceal' }>): void {
    const { rate, clockPerMs, conceal } = this.#codec;
    const ms = ticks / clockPerMs;
    if (conceal !== undefined) {
      this.#tell(conceal(ms, next));
      return;
    }
    const pcm = this.#pcm.subarray(0, (ms * rate) / 1000);
    this.#concealment.fill(pcm, row);
    this.#tell(pcm);
  }

  #tell(pcm: Int16Array): void {
    const audio = this.#bytes.subarray(0, pcm.length * 2);
    writeInt16(pcm, audio);
    this.#sink.audio(audio);
  }
}

const readerOf = ({ keys }: SipMedia): SrtpReader | undefined =>
  keys && new SrtpReader(keys.remote, keys.suite, keys.mkiBytes);
