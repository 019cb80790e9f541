/**
 * Unpacks a `.tar.bz2` into a folder. Only plain files and folders below the archive's own top folder are made; a link, a path that
 * leads out, or a second top folder refuses the whole archive.
 */
import { closeSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unpackBzip2 } from './bzip2.ts';

const blockBytes = 512;
const chunkBytes = 262_144;

/** The archive holds something that no model needs. */
export class ArchiveError extends Error {}

interface Entry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'long name' | 'note';
  readonly bytes: number;
}

const text = (header: Uint8Array, from: number, length: number): string => {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
};

function readHeader(header: Uint8Array): Entry | undefined {
  if (header.every((byte) => byte === 0)) return undefined;
  const bytes = Number.parseInt(text(header, 124, 12).trim() || '0', 8);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new ArchiveError('the archive is damaged');
  const prefix = text(header, 257, 5) === 'ustar' ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  const path = prefix === '' || prefix.startsWith(' ') ? name : `${prefix}/${name}`;
  const kinds: Readonly<Record<string, Entry['kind']>> = {
    '0': 'file',
    '': 'file',
    '5': 'folder',
    L: 'long name',
    x: 'note',
    g: 'note',
  };
  const kind = kinds[text(header, 156, 1)];
  if (kind === undefined) throw new ArchiveError('the archive holds a link or a device');
  return { path, kind, bytes };
}

/** Takes the bytes of a tar file in pieces of any size. */
class TarWriter {
  readonly #target: string;
  readonly #top: string;
  readonly #header = new Uint8Array(blockBytes);
  #filled = 0;
  #entry: Entry | undefined;
  #left = 0;
  #padding = 0;
  #file: number | undefined;
  #longName = '';
  #name = '';

  constructor(target: string, top: string) {
    this.#target = target;
    this.#top = top;
  }

  take(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#entry === undefined) at += this.#takeHeader(bytes.subarray(at));
      else if (this.#left > 0) at += this.#takeBody(bytes.subarray(at, at + this.#left));
      else {
        const skipped = Math.min(this.#padding, bytes.length - at);
        this.#padding -= skipped;
        at += skipped;
      }
      if (this.#entry !== undefined && this.#left === 0 && this.#padding === 0) this.#finish();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #takeHeader(bytes: Uint8Array): number {
    const taken = Math.min(blockBytes - this.#filled, bytes.length);
    this.#header.set(bytes.subarray(0, taken), this.#filled);
    this.#filled += taken;
    if (this.#filled < blockBytes) return taken;
    this.#filled = 0;
    const entry = readHeader(this.#header);
    if (entry === undefined) return taken;
    this.#entry = entry;
    this.#left = entry.bytes;
    this.#padding = (blockBytes - (entry.bytes % blockBytes)) % blockBytes;
    if (entry.kind === 'file' || entry.kind === 'folder') this.#open(entry);
    return taken;
  }

  #open(entry: Entry): void {
    const named = this.#longName === '' ? entry.path : this.#longName;
    this.#longName = '';
    const parts = named.split('/').filter((part) => part !== '' && part !== '.');
    if (named.startsWith('/') || parts[0] !== this.#top || parts.includes('..') || named.includes('\0'))
      throw new ArchiveError('the archive holds a path outside its folder');
    const path = join(this.#target, ...parts.slice(1));
    mkdirSync(entry.kind === 'folder' ? path : dirname(path), { recursive: true });
    if (entry.kind === 'file') this.#file = openSync(path, 'w');
  }

  #takeBody(bytes: Uint8Array): number {
    if (this.#file !== undefined) writeSync(this.#file, bytes);
    else if (this.#entry?.kind === 'long name') this.#name += Buffer.from(bytes).toString('utf8');
    this.#left -= bytes.length;
    return bytes.length;
  }

  #finish(): void {
    if (this.#entry?.kind === 'long name') this.#longName = this.#name.replace(/\0+$/, '');
    this.#name = '';
    this.close();
    this.#entry = undefined;
  }
}

/**
 * Unpacks the folder `top` of an archive as the folder `target`. Throws {@link ArchiveError}, or the error of a damaged
 * archive; what was written until then stays and is the caller's to remove.
 */
export function unpackArchive(archive: string, target: string, { top }: { readonly top: string }): void {
  mkdirSync(target, { recursive: true });
  const source = openSync(archive, 'r');
  const writer = new TarWriter(target, top);
  const chunk = new Uint8Array(chunkBytes);
  try {
    unpackBzip2(
      () => {
        const bytes = readSync(source, chunk);
        return bytes === 0 ? undefined : chunk.subarray(0, bytes);
      },
      (bytes) => writer.take(bytes),
    );
  } finally {
    writer.close();
    closeSync(source);
  }
}
