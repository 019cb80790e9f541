/**
 * How much of a heard signal is a played one that went through a short linear path: loudspeaker, room, microphone, line. Whatever such
 * a path does is a weighted sum of the last `taps` played samples, so the weights that leave the least of the heard signal are
 * asked for (least squares), and the share of the energy that goes away with them is the answer. An echo goes away nearly
 * wholly, another voice hardly at all, both together in part.
 *
 * With R the products of the played signal with itself, shifted by every pair of taps, and b those with the heard one, the best weights
 * solve R w = b and take away b·w. R is factored into L L' (Cholesky); with L z = b, b·w is z·z, and the weights themselves are never
 * needed. L and z grow tap by tap, and so does what is explained: an echo is known after a few taps, and the rest is saved.
 */

export const taps = 96;
/** Products with the heard signal are summed for so many taps at once, which is faster. */
const group = 4;
/** A little of the energy is added to the diagonal: directions in which nothing was played must explain nothing. */
const loading = 0.01;
/** Lower triangles; row by row, so that everything below walks along rows. */
const products = new Float64Array(taps * taps);
const factor = new Float64Array(taps * taps);
const both = new Float64Array(taps);
const solved = new Float64Array(taps);

/**
 * The share of the energy of `heard` that `played` explains; it is not looked further than to `enough` of it. `played` begins `taps`
 * samples before the one that goes out when the first one of `heard` is heard, and is `taps` longer.
 */
export function explainedShare(heard: Float64Array, played: Float64Array, enough: number): number {
  const whole = energyOf(heard, 0, heard.length);
  if (whole === 0) return 0;
  const wanted = enough * whole;
  const added = loading * energyOf(played, taps, heard.length) + 1;
  let explained = 0;
  for (let tap = 0; tap < taps; tap += 1) {
    if (tap % group === 0) fillGroup(heard, played, tap);
    fillRow(played, tap, heard.length);
    explained += solveRow(tap, added);
    if (explained >= wanted) break;
  }
  return explained / whole;
}

function energyOf(pcm: Float64Array, from: number, length: number): number {
  let sum = 0;
  for (let i = from; i < from + length; i += 1) sum += (pcm[i] ?? 0) ** 2;
  return sum;
}

/** Products of the played signal with itself shifted by each tap of a group, and of the heard one with that. */
function fillGroup(heard: Float64Array, played: Float64Array, tap: number): void {
  const at = taps - tap;
  let [own0, own1, own2, own3] = [0, 0, 0, 0];
  let [both0, both1, both2, both3] = [0, 0, 0, 0];
  let shifted1 = played[at - 1] ?? 0;
  let shifted2 = played[at - 2] ?? 0;
  let shifted3 = played[at - 3] ?? 0;
  for (let i = 0; i < heard.length; i += 1) {
    const unshifted = played[taps + i] ?? 0;
    const other = heard[i] ?? 0;
    const shifted0 = played[at + i] ?? 0;
    own0 += unshifted * shifted0;
    own1 += unshifted * shifted1;
    own2 += unshifted * shifted2;
    own3 += unshifted * shifted3;
    both0 += other * shifted0;
    both1 += other * shifted1;
    both2 += other * shifted2;
    both3 += other * shifted3;
    shifted3 = shifted2;
    shifted2 = shifted1;
    shifted1 = shifted0;
  }
  products[tap * taps] = own0;
  products[(tap + 1) * taps] = own1;
  products[(tap + 2) * taps] = own2;
  products[(tap + 3) * taps] = own3;
  both[tap] = both0;
  both[tap + 1] = both1;
  both[tap + 2] = both2;
  both[tap + 3] = both3;
}

/** The rest of a row of R: one step down the diagonal, the window has moved by a sample. */
function fillRow(played: Float64Array, row: number, length: number): void {
  const enters = played[taps - row] ?? 0;
  const leaves = played[taps + length - row] ?? 0;
  for (let column = 1; column <= row; column += 1) {
    const before = products[(row - 1) * taps + column - 1] ?? 0;
    products[row * taps + column] =
      before + enters * (played[taps - column] ?? 0) - leaves * (played[taps + length - column] ?? 0);
  }
}

/** One row of L and of z; gives the energy that this tap explains. */
function solveRow(row: number, added: number): number {
  const at = row * taps;
  let rest = both[row] ?? 0;
  let diagonal = (products[at + row] ?? 0) + added;
  for (let column = 0; column < row; column += 1) {
    const other = column * taps;
    let sum = products[at + column] ?? 0;
    // Two sums at once: each would wait for itself.
    let odd = 0;
    for (let i = 1; i < column; i += 2) {
      sum -= (factor[at + i - 1] ?? 0) * (factor[other + i - 1] ?? 0);
      odd += (factor[at + i] ?? 0) * (factor[other + i] ?? 0);
    }
    if (column % 2 === 1) odd += (factor[at + column - 1] ?? 0) * (factor[other + column - 1] ?? 0);
    const value = (sum - odd) / (factor[other + column] ?? 1);
    factor[at + column] = value;
    diagonal -= value * value;
    rest -= value * (solved[column] ?? 0);
  }
  const root = Math.sqrt(Math.max(diagonal, added));
  factor[at + row] = root;
  const z = rest / root;
  solved[row] = z;
  return z * z;
}
