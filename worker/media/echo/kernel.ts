/**
 * The inner loops of a look for echo as WebAssembly, four numbers at a time: as plain TypeScript they take four times as long, and many
 * times as long until they are compiled. One memory serves all calls of the thread; a part of the code that needs an array of it takes
 * one when the thread starts, and nothing is ever given back. kernel.wat says what the functions take.
 */
import { assert } from '../../../shared/base/assert.ts';
import { echoKernelBytes } from './kernel-bytes.ts';

type Loop<Count extends number> = (...addresses: Fixed<Count>) => void;
type Fixed<Count extends number, Rest extends number[] = []> = Rest['length'] extends Count
  ? Rest
  : Fixed<Count, [...Rest, number]>;

interface EchoKernel {
  /** Butterflies of the forward transform (decimation in frequency); the last two stages are one loop. */
  readonly part: Loop<6>;
  readonly partLast: Loop<3>;
  /** Butterflies of the inverse transform (decimation in time); the first two stages are one loop. */
  readonly join: Loop<6>;
  readonly joinFirst: Loop<3>;
  /** One spectrum times the conjugate of another. */
  readonly match: Loop<5>;
  readonly products: Loop<5>;
  readonly row: Loop<6>;
  readonly slide: Loop<7>;
  readonly dealWords: Loop<4>;
  readonly dealFloats: Loop<4>;
  readonly halve: Loop<4>;
  readonly flatten: Loop<3>;
}

/** The part of the platform's interface that is used here; the types of Node 20 leave it out. */
declare const WebAssembly: {
  Memory: new (options: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: EchoKernel };
};

const pages = 16;
const vectorBytes = 16;
/** Loops may read this much behind an array. */
const slackBytes = 64;

const memory = new WebAssembly.Memory({ initial: pages });
let taken = 0;

export const kernel = new WebAssembly.Instance(new WebAssembly.Module(echoKernelBytes), {
  kernel: { memory },
}).exports;

/** Bytes of a number. */
export const floatBytes = Float32Array.BYTES_PER_ELEMENT;

/** An array in the kernel's memory, all zero. */
export function kernelFloats(length: number): Float32Array {
  return new Float32Array(memory.buffer, take(length * floatBytes), length);
}

/** The same for PCM16. */
export function kernelWords(length: number): Int16Array {
  return new Int16Array(memory.buffer, take(length * Int16Array.BYTES_PER_ELEMENT), length);
}

function take(bytes: number): number {
  const at = taken;
  taken += Math.ceil((bytes + slackBytes) / vectorBytes) * vectorBytes;
  assert(taken <= memory.buffer.byteLength, 'the memory of the kernel holds all of its arrays');
  return at;
}

/** Length in bytes of so many numbers, as loops take it: whole vectors. */
export const vectorLength = (floats: number): number =>
  Math.ceil((floats * floatBytes) / vectorBytes) * vectorBytes;

/** Whether an array lies where the loops can reach it. */
export const isInKernel = (array: Float32Array): boolean => array.buffer === memory.buffer;
