/** G.711 A-law, of which the engine needs no more than the way to mu-law, which it hears. */
import { encodeMulaw } from './g711.ts';

/** ITU-T G.711, A-law: even bits inverted, sign, three bits of exponent, four of mantissa. */
function decodeALaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = bits & 15;
  const magnitude = exponent === 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 0x108) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

const linear = Int16Array.from({ length: 256 }, (_, code) => decodeALaw(code));
const table = new Uint8Array(256);
encodeMulaw(linear, table);

/** The same audio in mu-law, in place. */
export function muLawOf(aLaw: Buffer): Buffer {
  for (let at = 0; at < aLaw.length; at += 1) aLaw[at] = table[aLaw[at] ?? 0] ?? 0xff;
  return aLaw;
}
