/**
 * The one place where files of finished recordings are read, encrypted or not: whole, or any part of them. Nothing of a file is held but the
 * part that is read.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingKeys } from '../recording/keys.ts';
import {
  chunkLength,
  chunkOverhead,
  headBytes,
  sealedEnding,
  Unreadable,
  Unsealer,
} from '../recording/sealed.ts';

export interface RecordingFile {
  readonly size: number;
  /** It breaks off: what is there can be read. */
  readonly isCut: boolean;
  /** Bytes from `from` on and before `to`. @throws Unreadable where these are damaged. */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Opens a file of a recording by its name without the ending; undefined where it is not there. @throws Unreadable */
export async function openRecordingFile(
  folder: string,
  name: string,
  keys: RecordingKeys | undefined,
): Promise<RecordingFile | undefined> {
  const path = join(folder, name);
  const plain = await ifThere(path);
  if (plain !== undefined) return await plainFile(plain);
  const sealed = await ifThere(`${path}${sealedEnding}`);
  return sealed && (await openSealed(sealed, keys));
}

/** The bytes of a file that fits into memory, as far as they are there. @throws Unreadable, or what the system throws. */
export async function wholeRecordingFile(
  folder: string,
  name: string,
  keys: RecordingKeys | undefined,
): Promise<Buffer> {
  const file =
    (await openRecordingFile(folder, name, keys)) ?? (await plainFile(await open(join(folder, name))));
  try {
    const parts: Uint8Array[] = [];
    for await (const part of file.read(0, file.size)) parts.push(part);
    return Buffer.concat(parts);
  } finally {
    await file.close();
  }
}

/** An encrypted file, by its own path. @throws Unreadable, or what the system throws. */
export const openSealedFile = async (path: string, keys: RecordingKeys | undefined): Promise<RecordingFile> =>
  await openSealed(await open(path), keys);

async function ifThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing) return undefined;
    throw error;
  }
}

async function plainFile(file: FileHandle): Promise<RecordingFile> {
  const { size } = await file.stat();
  return {
    size,
    isCut: false,
    read: (from, to) =>
      from < to ? file.createReadStream({ start: from, end: to - 1, autoClose: false }) : nothing(),
    close: () => file.close(),
  };
}

async function openSealed(file: FileHandle, keys: RecordingKeys | undefined): Promise<RecordingFile> {
  try {
    const unsealer = new Unsealer(await readAt(file, 0, headBytes), keys);
    return await sealedFile(file, unsealer);
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function sealedFile(file: FileHandle, unsealer: Unsealer): Promise<RecordingFile> {
  const { chunk } = unsealer;
  if (chunk === 0) throw new Unreadable('it is a part of a call that runs, and no finished recording');
  const step = chunk + chunkOverhead;
  const placeOf = (number: number): number => headBytes + number * step;
  const body = (await file.stat()).size - headBytes;
  const whole = Math.floor(body / step);
  // The last chunk may be a short one; of a file that breaks off it is none.
  const rest = chunkLength(await readAt(file, placeOf(whole), 4));
  const isLast = rest?.isLast === true && rest.bytes + chunkOverhead === body - whole * step;
  const end = isLast ? rest : chunkLength(await readAt(file, placeOf(Math.max(0, whole - 1)), 4));
  const size = whole * chunk + (isLast ? rest.bytes : 0);
  async function* read(from: number, to: number): AsyncIterable<Uint8Array> {
    const until = Math.min(to, size);
    for (let number = Math.floor(from / chunk); number * chunk < until; number += 1) {
      const at = number * chunk;
      const bytes = unsealer.open(
        await readAt(file, placeOf(number), Math.min(chunk, size - at) + chunkOverhead),
        number,
      );
      yield bytes.subarray(Math.max(0, from - at), until - at);
    }
  }
  return { size, isCut: end?.isLast !== true, read, close: () => file.close() };
}

async function readAt(file: FileHandle, place: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  for (let got = -1; got !== 0 && done < length; done += got)
    got = (await file.read(bytes, done, length - done, place + done)).bytesRead;
  return bytes.subarray(0, done);
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // An empty part of a file has no bytes.
}
