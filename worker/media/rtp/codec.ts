/** What travels in RTP payloads, as PCM16 at the codec's rate. Codecs of one sample a byte keep no state. */
import { ALAW_SILENCE, decodeAlaw, encodeAlaw } from '../../../shared/audio/alaw.ts';
import { decodeMulaw, encodeMulaw, MULAW_SILENCE } from '../../../shared/audio/g711.ts';
import type { SipCodec } from '../../../shared/protocol/sip.ts';

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
}

const telephone = {
  rate: 8_000,
  clockPerMs: 8,
  frameBytes: 160,
  samplesOf: (payload: Uint8Array) => payload.length,
};

const pcmu: PayloadCodec = { ...telephone, decode: decodeMulaw, encode: encodeMulaw };
const pcma: PayloadCodec = { ...telephone, decode: decodeAlaw, encode: encodeAlaw };

/** A codec of its own for one direction of one call. */
export function codecOf(name: SipCodec): PayloadCodec {
  return name === 'PCMA' ? pcma : pcmu;
}

/** 20 ms of silence. */
export function silenceOf(name: SipCodec): Buffer {
  return Buffer.alloc(160, name === 'PCMA' ? ALAW_SILENCE : MULAW_SILENCE);
}
