/**
 * The format of an encrypted file of a recording: a head, and chunks that are encrypted and checked one by one by AES-256-GCM. A reader gets
 * every whole chunk of a file that breaks off, and any place of a file without what stands before it. Pure but for the cipher.
 *
 *     head   "SVCSEAL1", the id of the key (8 bytes), the bytes of a chunk (u32, 0: each has its own), a salt (32 bytes)
 *     chunk  its bytes and, in the highest bit, whether it is the last (u32), the bytes encrypted, the tag (16 bytes)
 *
 * Numbers are little-endian. A file has a key of its own, HKDF-SHA256 of the key, the salt, and the head without the salt. The nonce of a chunk is its number
 * in the file (u64), three zeros, and 1 for the last chunk.
 *
 * Invariant: no chunk of a file is ever written a second time, so that no nonce is used twice.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { keySetting, type RecordingKey, type RecordingKeys } from './keys.ts';

/** Ends the name of an encrypted file. */
export const sealedEnding = '.enc';

export const isSealed = (name: string): boolean => name.endsWith(sealedEnding);

export const withoutEnding = (name: string): string =>
  isSealed(name) ? name.slice(0, -sealedEnding.length) : name;

const magic = Buffer.from('SVCSEAL1', 'latin1');
const idAt = magic.length;
const chunkAt = idAt + 8;
const saltAt = chunkAt + 4;
const saltBytes = 32;
export const headBytes = saltAt + saltBytes;
const cipher = 'aes-256-gcm';
const tagBytes = 16;
const lengthBytes = 4;
/** What a chunk has beside its bytes. */
export const chunkOverhead = lengthBytes + tagBytes;
/** Of a finished file. */
export const fixedChunk = 64 * 1024;
/** More than anybody writes at once. */
const mostOfChunk = 16 * 1024 * 1024;
const lastFlag = 0x8000_0000;

/** A file that cannot be read, and why, as a clause. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const keyOfFile = (key: RecordingKey, head: Uint8Array): Buffer =>
  Buffer.from(
    hkdfSync(
      'sha256',
      Buffer.from(key.secret, 'base64'),
      head.subarray(saltAt),
      head.subarray(0, saltAt),
      32,
    ),
  );

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64LE(BigInt(number));
  nonce.writeUInt8(Number(isLast), 11);
  return nonce;
}

/** Encrypts one file. */
export class Sealer {
  /** Stands before the first chunk. */
  readonly head: Uint8Array;
  readonly #key: Buffer;
  #written = 0;

  /** @param chunk bytes of each chunk but the last; 0: each has its own. */
  constructor(key: RecordingKey, chunk: number) {
    const numbers = Buffer.alloc(lengthBytes);
    numbers.writeUInt32LE(chunk);
    this.head = Buffer.concat([magic, Buffer.from(key.id, 'hex'), numbers, randomBytes(saltBytes)]);
    this.#key = keyOfFile(key, this.head);
  }

  seal(bytes: Uint8Array, { isLast } = { isLast: false }): Uint8Array {
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32LE(bytes.length + (isLast ? lastFlag : 0));
    const sealing = createCipheriv(cipher, this.#key, nonceOf(this.#written++, isLast));
    return Buffer.concat([length, sealing.update(bytes), sealing.final(), sealing.getAuthTag()]);
  }
}

export interface ChunkLength {
  readonly bytes: number;
  readonly isLast: boolean;
}

/** Of a chunk that begins so; undefined where nothing of a file can begin so. */
export function chunkLength(start: Uint8Array): ChunkLength | undefined {
  if (start.length < lengthBytes) return undefined;
  const read = Buffer.from(start.buffer, start.byteOffset, lengthBytes).readUInt32LE();
  const bytes = read % lastFlag;
  return bytes > mostOfChunk ? undefined : { bytes, isLast: read >= lastFlag };
}

/** Reads one file. */
export class Unsealer {
  /** Bytes of each chunk but the last; 0: each has its own. */
  readonly chunk: number;
  readonly #key: Buffer;

  /** @throws Unreadable where it is no such file, or its key is not among these. */
  constructor(head: Uint8Array, keys: RecordingKeys | undefined) {
    if (head.length < headBytes || !magic.equals(head.subarray(0, idAt)))
      throw new Unreadable('it is damaged: its beginning is not that of an encrypted recording');
    const id = Buffer.from(head.subarray(idAt, chunkAt)).toString('hex');
    const key = keys?.find((one) => one.id === id);
    if (key === undefined)
      throw new Unreadable(
        keys === undefined
          ? `it is encrypted with the key ${id}, and ${keySetting} is not set`
          : `it is encrypted with the key ${id}, which the file of ${keySetting} does not have`,
      );
    this.chunk = Buffer.from(head).readUInt32LE(chunkAt);
    this.#key = keyOfFile(key, head.subarray(0, headBytes));
  }

  /** @param sealed a whole chunk. @throws Unreadable where it is not what was written there. */
  open(sealed: Uint8Array, number: number): Uint8Array {
    const length = chunkLength(sealed);
    const end = sealed.length - tagBytes;
    if (length === undefined || lengthBytes + length.bytes !== end)
      throw new Unreadable('it is damaged: a part of it is missing');
    const opening = createDecipheriv(cipher, this.#key, nonceOf(number, length.isLast));
    opening.setAuthTag(sealed.subarray(end));
    try {
      return Buffer.concat([opening.update(sealed.subarray(lengthBytes, end)), opening.final()]);
    } catch {
      throw new Unreadable('it is damaged: a part of it is not what was written');
    }
  }
}
