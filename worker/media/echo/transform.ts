/**
 * The Fourier transform of complex signals in the kernel's memory, block by block. The forward transform leaves the values of a block in
 * an order that the inverse one expects; `placeOf` says where one of them lies.
 */
import { assert } from '../../../shared/base/assert.ts';
import { floatBytes, kernel, kernelFloats } from './kernel.ts';

/** The longest block. */
const longestBlock = 4_096;
/** The last two stages have loops of their own. */
const least = 4;
/** Turns of a stage whose values lie so far apart begin at that number less `least`. */
const turns = { cosines: kernelFloats(longestBlock - least), sines: kernelFloats(longestBlock - least) };
for (let apart = least; apart < longestBlock; apart *= 2) {
  for (let i = 0; i < apart; i += 1) {
    turns.cosines[apart - least + i] = Math.cos((Math.PI * i) / apart);
    turns.sines[apart - least + i] = Math.sin((Math.PI * i) / apart);
  }
}

/** Transforms the blocks of `size` that `re` and `im` consist of; a power of two. From the natural order to the reversed one. */
export function forward(re: Float32Array, im: Float32Array, size: number): void {
  assert(size <= longestBlock && re.length % size === 0, 'a transform is of whole blocks');
  const length = re.length * floatBytes;
  const { cosines, sines } = turns;
  for (let apart = size / 2; apart >= least; apart /= 2) {
    const at = (apart - least) * floatBytes;
    kernel.part(
      re.byteOffset,
      im.byteOffset,
      length,
      cosines.byteOffset + at,
      sines.byteOffset + at,
      apart * floatBytes,
    );
  }
  kernel.partLast(re.byteOffset, im.byteOffset, length);
}

/** Back from the reversed order, `size` times as large. */
export function inverse(re: Float32Array, im: Float32Array, size: number): void {
  assert(size <= longestBlock && re.length % size === 0, 'a transform is of whole blocks');
  const length = re.length * floatBytes;
  const { cosines, sines } = turns;
  kernel.joinFirst(re.byteOffset, im.byteOffset, length);
  for (let apart = least; apart < size; apart *= 2) {
    const at = (apart - least) * floatBytes;
    kernel.join(
      re.byteOffset,
      im.byteOffset,
      length,
      cosines.byteOffset + at,
      sines.byteOffset + at,
      apart * floatBytes,
    );
  }
}

/** Where the forward transform leaves a frequency of a block. */
export function placeOf(frequency: number, size: number): number {
  let place = 0;
  for (let bit = 1; bit < size; bit *= 2) place = place * 2 + ((frequency & bit) === 0 ? 0 : 1);
  return place;
}
