/** What travels in RTP payloads, as PCM16 at the codec's rate. */
import { ALAW_SILENCE, decodeAlaw, encodeAlaw } from '../../../shared/audio/alaw.ts';
import { newResampler } from '../../../shared/audio/resampler.ts';
import { decodeMulaw, encodeMulaw, MULAW_SILENCE } from '../../../shared/audio/g711.ts';
import { FRAME_MS } from '../../../shared/base/units.ts';
import { assert } from '../../../shared/base/assert.ts';
import { sipCodecRate, type SipCodec } from '../../../shared/sip/calls.ts';
import { opusClockRate, opusPacketMs, type Opus } from '../opus/opus.ts';
import { G722Decoder, G722Encoder } from './g722.ts';

export interface PayloadCodec {
  /** Hz of the PCM. */
  readonly rate: number;
  /** Units of the RTP clock in a millisecond. */
  readonly clockPerMs: number;
  /** Samples that a payload holds. */
  readonly samplesOf: (payload: Uint8Array) => number;
  readonly decode: (payload: Uint8Array, out: Int16Array) => void;
  /** 20 ms of PCM, to be kept. */
  readonly encode: (pcm: Int16Array) => Uint8Array;
  /** 20 ms of silence, to be kept. */
  readonly encodeSilence: () => Uint8Array;
  /** What stands for lost audio, of the packet behind it where that is there; absent: the codec has no say in it. */
  readonly conceal?: (ms: number, behind: Uint8Array | undefined) => Int16Array;
}

export interface CodecOptions {
  /** Of the call's audio, in Hz. */
  readonly rate: number;
  readonly opus?: Opus | undefined;
}

/** Bytes of 20 ms, of every codec but Opus. */
const frameBytes = 160;
/** Writes into bytes of its own. */
function framed(write: (out: Uint8Array) => void): Uint8Array {
  const out = Buffer.allocUnsafe(frameBytes);
  write(out);
  return out;
}

const telephone = {
  rate: 8_000,
  clockPerMs: 8,
  samplesOf: (payload: Uint8Array) => payload.length,
};

const pcmu: PayloadCodec = {
  ...telephone,
  decode: decodeMulaw,
  encode: (pcm) => framed((out) => encodeMulaw(pcm, out)),
  encodeSilence: () => Buffer.alloc(frameBytes, MULAW_SILENCE),
};
const pcma: PayloadCodec = {
  ...telephone,
  decode: decodeAlaw,
  encode: (pcm) => framed((out) => encodeAlaw(pcm, out)),
  encodeSilence: () => Buffer.alloc(frameBytes, ALAW_SILENCE),
};

/** Two samples a byte; the clock of RTP counts bytes, for a mistake of RFC 1890 that stays (RFC 3551, 4.5.2). */
function g722(): PayloadCodec {
  const decoder = new G722Decoder();
  const encoder = new G722Encoder();
  const silence = new Int16Array(16 * FRAME_MS);
  return {
    rate: 16_000,
    clockPerMs: 8,
    samplesOf: (payload) => payload.length * 2,
    decode: (payload, out) => decoder.decode(payload, out),
    encode: (pcm) => framed((out) => encoder.encode(pcm, out)),
    encodeSilence: () => framed((out) => encoder.encode(silence, out)),
  };
}

/** The codec of WebRTC, which was opened with the call. */
function opusCodec({ decoder, encoder }: Opus): PayloadCodec {
  return {
    rate: sipCodecRate('opus'),
    clockPerMs: opusClockRate / 1000,
    samplesOf: (payload) => (opusPacketMs(payload) * sipCodecRate('opus')) / 1000,
    decode: (payload, out) => {
      const pcm = decoder.decode(payload);
      out.set(pcm.subarray(0, out.length));
      out.fill(0, Math.min(pcm.length, out.length));
    },
    encode: (pcm) => encoder.encode(pcm),
    encodeSilence: () => encoder.encodeSilence(),
    conceal: (ms, behind) => decoder.recover(ms, behind),
  };
}

/** Telephone codecs in a call whose audio has another rate, because it began with the other kind. */
function atRate(codec: PayloadCodec, rate: number): PayloadCodec {
  if (codec.rate === rate) return codec;
  const [inward, outward] = [
    newResampler({ from: codec.rate, to: rate }),
    newResampler({ from: rate, to: codec.rate }),
  ];
  const { samplesOf, decode, encode } = codec;
  let pcm = new Int16Array();
  return {
    ...codec,
    rate,
    samplesOf: (payload) => (samplesOf(payload) * rate) / codec.rate,
    decode: (payload, out) => {
      const length = samplesOf(payload);
      if (pcm.length < length) pcm = new Int16Array(length);
      decode(payload, pcm.subarray(0, length));
      out.set(inward.process(pcm.subarray(0, length)));
    },
    encode: (audio) => encode(outward.process(audio)),
  };
}

/** A codec of its own for one direction of one call, whose audio has this rate: what G.722 makes of a frame depends on those before it. */
export function codecOf(name: SipCodec, { rate, opus }: CodecOptions): PayloadCodec {
  if (name === 'opus') {
    assert(opus !== undefined, 'Opus is opened before its call is made');
    return opusCodec(opus);
  }
  if (name === 'G722') return atRate(g722(), rate);
  return atRate(name === 'PCMA' ? pcma : pcmu, rate);
}
