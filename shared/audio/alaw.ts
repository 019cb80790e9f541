/** G.711 A-law by tables: one byte per sample, as telephones outside North America use it. The tables are built once, at load. */
import { assert } from '../base/assert.ts';
import { encodeMulaw } from './g711.ts';

/** The code of silence. */
export const ALAW_SILENCE = 0xd5;

const decoded = new Int16Array(256);
for (let code = 0; code < 256; code++) {
  // Codes travel with every even bit inverted.
  const bits = code ^ 0x55;
  const segment = (bits >> 4) & 7;
  const step = (bits & 15) * 2 + 1;
  const magnitude = (segment === 0 ? step : (step + 32) << (segment - 1)) * 8;
  decoded[code] = (bits & 0x80) === 0 ? -magnitude : magnitude;
}

/** Indexed by the sample's upper 13 bits, from the most negative on. */
const encoded = new Uint8Array(8_192);
for (let index = 0; index < encoded.length; index++) {
  const value = index - 4_096;
  // The complement, not the negation: both halves of the scale have the same size.
  const magnitude = value < 0 ? ~value : value;
  const segment = Math.max(0, 27 - Math.clz32(magnitude));
  const step = (magnitude >> Math.max(1, segment)) & 15;
  encoded[index] = ((value < 0 ? 0 : 0x80) | (segment << 4) | step) ^ 0x55;
}

/** Decodes every byte into the sample at the same index of `out`, which must not be shorter. */
export function decodeAlaw(bytes: Uint8Array, out: Int16Array): void {
  assert(out.length >= bytes.length, 'A-law: the output holds one sample per byte');
  for (let i = 0; i < bytes.length; i++) out[i] = decoded[bytes[i] ?? 0] ?? 0;
}

/** Encodes every sample into the byte at the same index of `out`, which must not be shorter. */
export function encodeAlaw(pcm: Int16Array, out: Uint8Array): void {
  assert(out.length >= pcm.length, 'A-law: the output holds one byte per sample');
  for (let i = 0; i < pcm.length; i++) out[i] = encoded[((pcm[i] ?? 0) >> 3) + 4_096] ?? 0;
}

const asMulaw = new Uint8Array(256);
encodeMulaw(decoded, asMulaw);

/** The same audio in mu-law, in place. */
export function muLawOf(aLaw: Buffer): Buffer {
  for (let at = 0; at < aLaw.length; at += 1) aLaw[at] = asMulaw[aLaw[at] ?? 0] ?? 0xff;
  return aLaw;
}
