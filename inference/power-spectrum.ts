/**
 * Power spectra of two real signals by one complex transform, for lengths that are products of fours and fives (256, 400). Each
 * stage sorts as it goes, so there is no pass that only reorders. The work arrays are made once.
 *
 * Pure but for its work arrays: nothing of one call is left for the next. Signals of other lengths than it was made for are not told
 * apart from these.
 */
import { assert } from '../shared/base/assert.ts';

type Pair = readonly [Float64Array, Float64Array];

interface Stage {
  readonly radix: 4 | 5;
  /** Butterflies of this stage that share no twiddle. */
  readonly groups: number;
  /** Butterflies that share one: results of the stages before. */
  readonly stride: number;
  /** `radix - 1` factors of each group. */
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

function newStages(size: number): Stage[] {
  let length = size;
  let stride = 1;
  return radicesOf(size).map((radix) => {
    const groups = length / radix;
    const angles = Array.from({ length: groups * (radix - 1) }, (_, i) => {
      const group = Math.floor(i / (radix - 1));
      return (-2 * Math.PI * group * ((i % (radix - 1)) + 1)) / length;
    });
    const stage: Stage = {
      radix,
      groups,
      stride,
      cos: Float64Array.from(angles, Math.cos),
      sin: Float64Array.from(angles, Math.sin),
    };
    length = groups;
    stride *= radix;
    return stage;
  });
}

/** Fours before fives. */
function radicesOf(size: number): (4 | 5)[] {
  const radices: (4 | 5)[] = [];
  let left = size;
  for (const radix of [4, 5] as const) {
    for (; left > 1 && left % radix === 0; left /= radix) radices.push(radix);
  }
  assert(left === 1, 'the length of a spectrum is a product of fours and fives');
  return radices;
}

/**
 * Returns a function that takes two signals of `size` samples, which it destroys, and writes the powers of bins 0 to `size / 2`
 * (`size` is even).
 */
export function newPowerSpectrum(size: number): (signals: Pair, powers: Pair) => void {
  const stages = newStages(size);
  const spare: Pair = [new Float64Array(size), new Float64Array(size)];
  return (signals, powers) => {
    let from: Pair = signals;
    let to = spare;
    for (const stage of stages) {
      if (stage.radix === 4) radix4(stage, from, to);
      else radix5(stage, from, to);
      [from, to] = [to, from];
    }
    separate(from, powers);
  };
}

/** The spectrum of a real signal is symmetric, so both can be told apart in that of `a + i b`. */
function separate([re, im]: Pair, [powerA, powerB]: Pair): void {
  const size = re.length;
  for (let k = 0; k <= size / 2; k += 1) {
    const mirror = k === 0 ? 0 : size - k;
    const r = re[k] ?? 0;
    const i = im[k] ?? 0;
    const mr = re[mirror] ?? 0;
    const mi = im[mirror] ?? 0;
    powerA[k] = ((r + mr) * (r + mr) + (i - mi) * (i - mi)) / 4;
    powerB[k] = ((i + mi) * (i + mi) + (r - mr) * (r - mr)) / 4;
  }
}

function radix4(stage: Stage, [re, im]: Pair, to: Pair): void {
  const { groups, stride } = stage;
  const [outRe, outIm] = to;
  const part = groups * stride;
  for (let group = 0; group < groups; group += 1) {
    for (let q = 0; q < stride; q += 1) {
      const i0 = group * stride + q;
      const [i1, i2, i3] = [i0 + part, i0 + 2 * part, i0 + 3 * part];
      const sumEvenRe = (re[i0] ?? 0) + (re[i2] ?? 0);
      const sumEvenIm = (im[i0] ?? 0) + (im[i2] ?? 0);
      const difEvenRe = (re[i0] ?? 0) - (re[i2] ?? 0);
      const difEvenIm = (im[i0] ?? 0) - (im[i2] ?? 0);
      const sumOddRe = (re[i1] ?? 0) + (re[i3] ?? 0);
      const sumOddIm = (im[i1] ?? 0) + (im[i3] ?? 0);
      // Multiplied by -i.
      const difOddRe = (im[i1] ?? 0) - (im[i3] ?? 0);
      const difOddIm = (re[i3] ?? 0) - (re[i1] ?? 0);
      const out = group * 4 * stride + q;
      outRe[out] = sumEvenRe + sumOddRe;
      outIm[out] = sumEvenIm + sumOddIm;
      outRe[out + stride] = difEvenRe + difOddRe;
      outIm[out + stride] = difEvenIm + difOddIm;
      outRe[out + 2 * stride] = sumEvenRe - sumOddRe;
      outIm[out + 2 * stride] = sumEvenIm - sumOddIm;
      outRe[out + 3 * stride] = difEvenRe - difOddRe;
      outIm[out + 3 * stride] = difEvenIm - difOddIm;
    }
  }
  twiddle(stage, to);
}

const fifth = (2 * Math.PI) / 5;
const [cosOne, cosTwo] = [Math.cos(fifth), Math.cos(2 * fifth)];
const [sinOne, sinTwo] = [Math.sin(fifth), Math.sin(2 * fifth)];

function radix5(stage: Stage, [re, im]: Pair, to: Pair): void {
  const { groups, stride } = stage;
  const [outRe, outIm] = to;
  const part = groups * stride;
  for (let group = 0; group < groups; group += 1) {
    for (let q = 0; q < stride; q += 1) {
      const i0 = group * stride + q;
      const r0 = re[i0] ?? 0;
      const m0 = im[i0] ?? 0;
      const [i1, i2, i3, i4] = [i0 + part, i0 + 2 * part, i0 + 3 * part, i0 + 4 * part];
      const sumOuterRe = (re[i1] ?? 0) + (re[i4] ?? 0);
      const sumOuterIm = (im[i1] ?? 0) + (im[i4] ?? 0);
      const difOuterRe = (re[i1] ?? 0) - (re[i4] ?? 0);
      const difOuterIm = (im[i1] ?? 0) - (im[i4] ?? 0);
      const sumInnerRe = (re[i2] ?? 0) + (re[i3] ?? 0);
      const sumInnerIm = (im[i2] ?? 0) + (im[i3] ?? 0);
      const difInnerRe = (re[i2] ?? 0) - (re[i3] ?? 0);
      const difInnerIm = (im[i2] ?? 0) - (im[i3] ?? 0);
      const evenOneRe = r0 + cosOne * sumOuterRe + cosTwo * sumInnerRe;
      const evenOneIm = m0 + cosOne * sumOuterIm + cosTwo * sumInnerIm;
      const evenTwoRe = r0 + cosTwo * sumOuterRe + cosOne * sumInnerRe;
      const evenTwoIm = m0 + cosTwo * sumOuterIm + cosOne * sumInnerIm;
      // Multiplied by -i.
      const oddOneRe = sinOne * difOuterIm + sinTwo * difInnerIm;
      const oddOneIm = -sinOne * difOuterRe - sinTwo * difInnerRe;
      const oddTwoRe = sinTwo * difOuterIm - sinOne * difInnerIm;
      const oddTwoIm = -sinTwo * difOuterRe + sinOne * difInnerRe;
      const out = group * 5 * stride + q;
      outRe[out] = r0 + sumOuterRe + sumInnerRe;
      outIm[out] = m0 + sumOuterIm + sumInnerIm;
      outRe[out + stride] = evenOneRe + oddOneRe;
      outIm[out + stride] = evenOneIm + oddOneIm;
      outRe[out + 2 * stride] = evenTwoRe + oddTwoRe;
      outIm[out + 2 * stride] = evenTwoIm + oddTwoIm;
      outRe[out + 3 * stride] = evenTwoRe - oddTwoRe;
      outIm[out + 3 * stride] = evenTwoIm - oddTwoIm;
      outRe[out + 4 * stride] = evenOneRe - oddOneRe;
      outIm[out + 4 * stride] = evenOneIm - oddOneIm;
    }
  }
  twiddle(stage, to);
}

/** Turns every result but the first of each butterfly; in the last stage there is one group, and nothing to turn. */
function twiddle({ radix, groups, stride, cos, sin }: Stage, [re, im]: Pair): void {
  for (let group = 1; group < groups; group += 1) {
    for (let k = 1; k < radix; k += 1) {
      const c = cos[group * (radix - 1) + k - 1] ?? 0;
      const s = sin[group * (radix - 1) + k - 1] ?? 0;
      const at = (group * radix + k) * stride;
      for (let q = at; q < at + stride; q += 1) {
        const r = re[q] ?? 0;
        const m = im[q] ?? 0;
        re[q] = r * c - m * s;
        im[q] = r * s + m * c;
      }
    }
  }
}
