/**
 * The inner loops of the resampler as WebAssembly: eight products at a time, which plain TypeScript cannot express. Each kernel
 * has a memory of its own, which its owner lays out. resampler-kernel.wat says what the functions take.
 */
import { kernelBytes } from './resampler-kernel-bytes.ts';

export interface Kernel {
  readonly memory: ArrayBuffer;
  readonly widen: (from: number, to: number, count: number) => void;
  readonly convert: (
    rows: number,
    rowBytes: number,
    first: number,
    out: number,
    count: number,
    phase: number,
    up: number,
    skip: number,
    turn: number,
  ) => void;
}

/** The part of the platform's interface that is used here; the types of Node 20 leave it out. */
declare const WebAssembly: {
  Memory: new (options: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Omit<Kernel, 'memory'> };
};

const pageBytes = 65_536;

let compiled: object | undefined;

/** Opens a kernel with at least so many bytes of memory, all zero. */
export function openKernel(bytes: number): Kernel {
  compiled ??= new WebAssembly.Module(kernelBytes);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / pageBytes) });
  const { widen, convert } = new WebAssembly.Instance(compiled, { kernel: { memory } }).exports;
  return { memory: memory.buffer, widen, convert };
}
