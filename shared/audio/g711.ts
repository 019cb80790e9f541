/**
 * G.711 mu-law by tables: one byte per sample, as carriers and `mulaw` calls use it (docs/call-protocol.md, A call).
 *
 * The tables are built once, at load, from the segments of the recommendation. Nothing here keeps state.
 */
import { assert } from '../base/assert.ts';

/** The code of silence. */
export const MULAW_SILENCE = 0xff;

/** Largest magnitude on the 14-bit scale that still has a code of its own; louder input saturates. */
const CLIP = 8158;
/** What is added to a 14-bit magnitude so that segments begin at powers of two. */
const BIAS = 33;

const decoded = new Int16Array(256);
for (let code = 0; code < 256; code++) {
  // Codes travel with every bit inverted.
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 7;
  const magnitude = ((((bits & 15) * 2 + BIAS) << segment) - BIAS) * 4;
  decoded[code] = (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/** Indexed by the sample's upper 14 bits, from the most negative on. */
const encoded = new Uint8Array(16_384);
for (let index = 0; index < encoded.length; index++) {
  const value = index - 8192;
  // The complement, not the negation: it keeps both halves of the scale the same size, as the recommendation's tools do.
  const magnitude = Math.min(value < 0 ? ~value : value, CLIP) + BIAS;
  const segment = 26 - Math.clz32(magnitude);
  const step = (magnitude >> (segment + 1)) & 15;
  encoded[index] = ~((value < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff;
}

/** Decodes every byte into the sample at the same index of `out`, which must not be shorter. */
export function decodeMulaw(bytes: Uint8Array, out: Int16Array): void {
  assert(out.length >= bytes.length, 'mu-law: the output holds one sample per byte');
  for (let i = 0; i < bytes.length; i++) out[i] = decoded[bytes[i] ?? 0] ?? 0;
}

/** Encodes every sample into the byte at the same index of `out`, which must not be shorter. */
export function encodeMulaw(pcm: Int16Array, out: Uint8Array): void {
  assert(out.length >= pcm.length, 'mu-law: the output holds one byte per sample');
  for (let i = 0; i < pcm.length; i++) out[i] = encoded[((pcm[i] ?? 0) >> 2) + 8192] ?? 0;
}
