/**
 * What a running call appends to its recording where recordings are encrypted: a chunk for each piece, in files that one writer begins and
 * nobody goes on with. A reader gets every whole chunk, whenever the writer was stopped.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import type { RecordingKey, RecordingKeys } from '../../shared/recording/keys.ts';
import {
  chunkLength,
  chunkOverhead,
  headBytes,
  Sealer,
  sealedEnding,
  Unreadable,
  Unsealer,
} from '../../shared/recording/sealed.ts';
import { appendWhole } from './whole-write.ts';

/** A disk that is full again and again is given up for this call. */
const lastNumber = 999;

interface LogFile {
  readonly path: string;
  readonly fd: number;
  readonly sealer: Sealer;
  /** Nothing stands in it yet. */
  isEmpty: boolean;
}

export class SealedLog {
  readonly #beginning: string;
  readonly #key: RecordingKey;
  #file: LogFile | undefined;

  /** @param beginning of the names of its files. */
  constructor(beginning: string, key: RecordingKey) {
    this.#beginning = beginning;
    this.#key = key;
  }

  /** @throws where there is no room. Later chunks go into another file: parts of the chunk may stand on the disk, and its number is used. */
  append(bytes: Uint8Array): void {
    const file = (this.#file ??= this.#begin());
    const chunk = file.sealer.seal(bytes);
    try {
      appendWhole(file.fd, file.isEmpty ? Buffer.concat([file.sealer.head, chunk]) : chunk);
      file.isEmpty = false;
    } catch (error) {
      this.close();
      if (file.isEmpty) rmSync(file.path);
      throw error;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
  }

  #begin(): LogFile {
    for (let number = 0; ; number += 1) {
      const path = `${this.#beginning}-${String(number).padStart(3, '0')}${sealedEnding}`;
      try {
        const fd = openSync(path, 'wx', 0o640);
        return { path, fd, sealer: new Sealer(this.#key, 0), isEmpty: true };
      } catch (error) {
        const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
        if (!isTaken || number >= lastNumber) throw error;
      }
    }
  }
}

/** A chunk of a log: where it stands, and its number. */
export interface LogChunk {
  readonly place: number;
  readonly bytes: number;
  readonly number: number;
}

/** Reads what was appended. */
export class SealedLogReader {
  readonly #chunks: readonly LogChunk[];
  readonly #fd: number;
  readonly #unsealer: Unsealer | undefined;

  /** @throws Unreadable without its key. */
  constructor(path: string, keys: RecordingKeys | undefined) {
    this.#fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(this.#fd);
      // Its writer died before the head was whole.
      this.#unsealer = size < headBytes ? undefined : new Unsealer(readAt(this.#fd, 0, headBytes), keys);
      this.#chunks = [...chunksOf(this.#fd, size)];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Every chunk up to the first that a disk without power has not kept. */
  *whole(): Iterable<{ readonly chunk: LogChunk; readonly bytes: Uint8Array }> {
    for (const chunk of this.#chunks) {
      const bytes = this.#ifWhole(chunk);
      if (bytes === undefined) return;
      yield { chunk, bytes };
    }
  }

  #ifWhole(chunk: LogChunk): Uint8Array | undefined {
    try {
      return this.read(chunk);
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }

  /** @throws Unreadable */
  read({ place, bytes, number }: LogChunk): Uint8Array {
    const sealed = readAt(this.#fd, place, bytes + chunkOverhead);
    if (this.#unsealer === undefined) throw new Unreadable('it is damaged: it has no beginning');
    return this.#unsealer.open(sealed, number);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function* chunksOf(fd: number, size: number): Iterable<LogChunk> {
  let place = headBytes;
  for (let number = 0; ; number += 1) {
    const length = chunkLength(readAt(fd, place, 4));
    if (length === undefined || place + length.bytes + chunkOverhead > size) return;
    yield { place, bytes: length.bytes, number };
    place += length.bytes + chunkOverhead;
  }
}

function readAt(fd: number, place: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let done = 0;
  for (let got = -1; got !== 0 && done < length; done += got)
    got = readSync(fd, bytes, done, length - done, place + done);
  return bytes.subarray(0, done);
}

const placeBytes = 8;

/** A piece of sound, and the byte of its side at which it belongs. */
export function soundPayload(at: number, pcm: Uint8Array): Uint8Array {
  const place = Buffer.alloc(placeBytes);
  place.writeBigUInt64LE(BigInt(at));
  return Buffer.concat([place, pcm]);
}

export function readSoundPayload(bytes: Uint8Array): { readonly at: number; readonly pcm: Uint8Array } {
  const at = Number(Buffer.from(bytes.buffer, bytes.byteOffset, placeBytes).readBigUInt64LE());
  return { at, pcm: bytes.subarray(placeBytes) };
}
