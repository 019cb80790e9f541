/** The two laws of G.711, the sound of telephones: 8 kHz, one byte per sample. */
import { decodeAlaw, encodeAlaw } from './alaw.ts';
import { decodeMulaw, encodeMulaw } from './g711.ts';

export type Law = 'mulaw' | 'alaw';

/** Hz. */
export const lawRate = 8_000;

interface LawCodec {
  /** Every byte as the sample at the same index of `out`, which must not be shorter. */
  readonly decode: (bytes: Uint8Array, out: Int16Array) => void;
  /** Every sample as the byte at the same index of `out`, which must not be shorter. Decoded bytes come back as they were, but for the second zero of mu-law. */
  readonly encode: (pcm: Int16Array, out: Uint8Array) => void;
}

export const laws: Readonly<Record<Law, LawCodec>> = {
  mulaw: { decode: decodeMulaw, encode: encodeMulaw },
  alaw: { decode: decodeAlaw, encode: encodeAlaw },
};
