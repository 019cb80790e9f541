/**
 * How much of a heard signal is a played one that went through a short linear path: loudspeaker, room, microphone, line. The output of such
 * a path is a weighted sum of the last `taps` played samples, so the weights that leave the least of the heard signal are
 * asked for (least squares), and the share of the energy that goes away with them is the answer. An echo goes away nearly
 * wholly, another voice hardly at all, both together in part.
 *
 * With R the products of the played signal with itself, shifted by every pair of taps, and b those with the heard one, the best weights
 * solve R w = b and take away b·w. R is factored into L L' (Cholesky); with L z = b, b·w is z·z, and the weights themselves are never
 * needed. L and z grow tap by tap, and so does what is explained: an echo is known after a few taps, and the rest is saved.
 */
import { floatBytes, kernel, kernelFloats, vectorLength } from './kernel.ts';

export const taps = 96;
/** A little of the energy is added to the diagonal: directions in which nothing was played must explain nothing. */
const loading = 0.01;
/** Lower triangles; row by row, so that everything below walks along rows. The factor is zero on its diagonal, which lies apart. */
const products = kernelFloats(taps * taps);
const factor = kernelFloats(taps * taps);
const inverses = kernelFloats(taps);
const solved = kernelFloats(taps);
const entering = kernelFloats(taps);
const leaving = kernelFloats(taps);
/** Where two products are left. */
const two = kernelFloats(4);
const rowBytes = taps * floatBytes;

/**
 * The share of the energy of `heard` that `played` explains; it is not looked further than to `enough` of it. `played` begins `taps`
 * samples before the one that goes out when the first one of `heard` is heard, and is `taps` longer.
 */
export function explainedShare(heard: Float32Array, played: Float32Array, enough: number): number {
  const whole = energyOf(heard, 0, heard.length);
  if (whole === 0) return 0;
  const wanted = enough * whole;
  const added = loading * energyOf(played, taps, heard.length) + 1;
  reverse(played, heard.length);
  let explained = 0;
  for (let tap = 0; tap < taps; tap += 1) {
    const both = multiply(heard, played, tap);
    fillRow(played, tap, heard.length);
    explained += solveRow(tap, { both, added });
    if (explained >= wanted) break;
  }
  return explained / whole;
}

function energyOf(pcm: Float32Array, from: number, length: number): number {
  let sum = 0;
  for (let i = from; i < from + length; i += 1) sum += (pcm[i] ?? 0) ** 2;
  return sum;
}

/** The first of a row of R, the product of the played signal with itself shifted by a tap; gives that of the heard one with the same. */
function multiply(heard: Float32Array, played: Float32Array, tap: number): number {
  const { byteOffset } = played;
  const shifted = byteOffset + (taps - tap) * floatBytes;
  kernel.products(
    byteOffset + rowBytes,
    heard.byteOffset,
    shifted,
    vectorLength(heard.length),
    two.byteOffset,
  );
  products[tap * taps] = two[0] ?? 0;
  return two[1] ?? 0;
}

/** The rest of a row of R: one step down the diagonal, the window has moved by a sample. It may write a little more, where the next row begins. */
function fillRow(played: Float32Array, row: number, length: number): void {
  if (row === 0) return;
  const at = products.byteOffset + row * rowBytes;
  kernel.slide(
    at - rowBytes,
    at + floatBytes,
    entering.byteOffset,
    leaving.byteOffset,
    vectorLength(row),
    played[taps - row] ?? 0,
    played[taps + length - row] ?? 0,
  );
}

/** What enters the window for each tap but the first, and what leaves it. */
function reverse(played: Float32Array, length: number): void {
  for (let tap = 1; tap < taps; tap += 1) {
    entering[tap - 1] = played[taps - tap] ?? 0;
    leaving[tap - 1] = played[taps + length - tap] ?? 0;
  }
}

/** One row of L and of z; gives the energy that this tap explains. */
function solveRow(row: number, { both, added }: { both: number; added: number }): number {
  const at = factor.byteOffset + row * rowBytes;
  const wanted = products.byteOffset + row * rowBytes;
  kernel.row(at, wanted, factor.byteOffset, inverses.byteOffset, row, rowBytes);
  kernel.products(at, solved.byteOffset, at, vectorLength(row), two.byteOffset);
  const diagonal = (products[row * taps + row] ?? 0) + added - (two[0] ?? 0);
  const root = Math.sqrt(Math.max(diagonal, added));
  inverses[row] = 1 / root;
  const z = (both - (two[1] ?? 0)) / root;
  solved[row] = z;
  return z * z;
}
