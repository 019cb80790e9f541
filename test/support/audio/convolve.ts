/** The convolution of two long signals, by transforms: rooms of a second take thousandths of what sample by sample takes. */

/** In place, of a length that is a power of two. */
function transform(re: Float64Array, im: Float64Array): void {
  const size = re.length;
  const swap = (list: Float64Array, i: number, j: number): void => {
    [list[i], list[j]] = [list[j] ?? 0, list[i] ?? 0];
  };
  for (let i = 1, j = 0; i < size; i += 1) {
    let bit = size >> 1;
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    swap(re, i, j);
    swap(im, i, j);
  }
  for (let half = 1; half < size; half *= 2)
    for (let k = 0; k < half; k += 1) {
      const [cos, sin] = [Math.cos((-Math.PI * k) / half), Math.sin((-Math.PI * k) / half)];
      for (let i = k; i < size; i += 2 * half) {
        const j = i + half;
        const r = (re[j] ?? 0) * cos - (im[j] ?? 0) * sin;
        const s = (re[j] ?? 0) * sin + (im[j] ?? 0) * cos;
        re[j] = (re[i] ?? 0) - r;
        im[j] = (im[i] ?? 0) - s;
        re[i] = (re[i] ?? 0) + r;
        im[i] = (im[i] ?? 0) + s;
      }
    }
}

/** As long as `signal`. */
export function convolved(signal: Float64Array, response: Float64Array): Float64Array<ArrayBuffer> {
  const size = 2 ** Math.ceil(Math.log2(signal.length + response.length));
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  re.set(signal);
  im.set(response);
  transform(re, im);
  // Both are real, so that one transform has both spectra. The product is turned round for the way back, which is the same transform.
  const [productRe, productIm] = [new Float64Array(size), new Float64Array(size)];
  for (let k = 0; k < size; k += 1) {
    const mirror = (size - k) % size;
    const [a, b, c, d] = [re[k] ?? 0, im[k] ?? 0, re[mirror] ?? 0, im[mirror] ?? 0];
    productRe[k] = (a * b + c * d) / 2;
    productIm[k] = (a * a - b * b - c * c + d * d) / 4;
  }
  transform(productRe, productIm);
  return productRe.slice(0, signal.length).map((value) => value / size);
}
