/** What travels in RTP payloads, as PCM16 at the codec's rate. */
import { ALAW_SILENCE, decodeAlaw, encodeAlaw } from '../../../shared/audio/alaw.ts';
import { decodeMulaw, encodeMulaw, MULAW_SILENCE } from '../../../shared/audio/g711.ts';
import { FRAME_MS } from '../../../shared/base/units.ts';
import type { SipCodec } from '../../../shared/protocol/sip/calls.ts';
import { G722Decoder, G722Encoder } from './g722.ts';

export interface PayloadCodec {
  /** Hz of the PCM. */
  readonly rate: number;
  /** Units of the RTP clock in a millisecond. */
  readonly clockPerMs: number;
  /** Bytes of 20 ms. */
  readonly frameBytes: number;
  /** Samples that a payload holds. */
  readonly samplesOf: (payload: Uint8Array) => number;
  readonly decode: (payload: Uint8Array, out: Int16Array) => void;
  /** Writes 20 ms of PCM. */
  readonly encode: (pcm: Int16Array, out: Uint8Array) => void;
  /** Writes 20 ms of silence. */
  readonly encodeSilence: (out: Uint8Array) => void;
}

const telephone = {
  rate: 8_000,
  clockPerMs: 8,
  frameBytes: 160,
  samplesOf: (payload: Uint8Array) => payload.length,
};

const pcmu: PayloadCodec = {
  ...telephone,
  ...{ decode: decodeMulaw, encode: encodeMulaw },
  encodeSilence: (out) => void out.fill(MULAW_SILENCE),
};
const pcma: PayloadCodec = {
  ...telephone,
  ...{ decode: decodeAlaw, encode: encodeAlaw },
  encodeSilence: (out) => void out.fill(ALAW_SILENCE),
};

/** Two samples a byte; the clock of RTP counts bytes, for a mistake of RFC 1890 that stays (RFC 3551, 4.5.2). */
function g722(): PayloadCodec {
  const decoder = new G722Decoder();
  const encoder = new G722Encoder();
  const silence = new Int16Array(16 * FRAME_MS);
  return {
    ...{ rate: 16_000, clockPerMs: 8, frameBytes: 160 },
    samplesOf: (payload) => payload.length * 2,
    decode: (payload, out) => decoder.decode(payload, out),
    encode: (pcm, out) => encoder.encode(pcm, out),
    encodeSilence: (out) => encoder.encode(silence, out),
  };
}

/** A codec of its own for one direction of one call: what G.722 makes of a frame depends on those before it. */
export function codecOf(name: SipCodec): PayloadCodec {
  if (name === 'G722') return g722();
  return name === 'PCMA' ? pcma : pcmu;
}
