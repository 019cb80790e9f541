/**
 * Unpacks a `.tar.bz2` into a folder. Only plain files and folders below the archive's own top folder are made; a link, a path that
 * leads out, or a second top folder refuses the whole archive.
 */
import { closeSync, mkdirSync, openSync, readSync } from 'node:fs';
import type { ReadEntry } from 'tar';
// By parts, so that the notices name what the whole has inside.
import { UnpackSync } from 'tar/unpack';
import unbzip2 from 'unbzip2-stream';

const chunkBytes = 262_144;

/** The archive holds something that no model needs, or is damaged. */
class ArchiveError extends Error {}

/** Where an entry belongs below the top folder: nowhere for the top folder itself. */
function pathBelow(top: string, { type, path }: ReadEntry): string {
  if (type !== 'File' && type !== 'OldFile' && type !== 'Directory')
    throw new ArchiveError('the archive holds a link or a device');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts[0] !== top || parts.includes('..') || path.includes('\0'))
    throw new ArchiveError('the archive holds a path outside its folder');
  return parts.slice(1).join('/');
}

/** What an operator can act on: errors of the disk as they are; the packages' own say only that the bytes are wrong. */
const told = (error: Error): Error =>
  error instanceof ArchiveError || 'syscall' in error ? error : new ArchiveError('the archive is damaged');

/** The unpacker, and how to learn at each step that it has failed. */
function newUnpacker(target: string, top: string): { take: (bytes?: Buffer) => void } {
  let failure: Error | undefined;
  let entries = 0;
  const failed = (error: Error): void => void (failure ??= error);
  const files = new UnpackSync({
    cwd: target,
    strict: true,
    noMtime: true,
    filter: (_path, entry) => {
      // Asked with the status of a file only when an archive is made.
      if (!('header' in entry)) return false;
      entry.path = pathBelow(top, entry);
      entry.mode = entry.type === 'Directory' ? 0o777 : 0o666;
      entries += 1;
      return entry.path !== '';
    },
  }).on('error', failed);
  const bunzip = unbzip2()
    .on('error', failed)
    .on('data', (bytes: Buffer) => failure ?? files.write(bytes))
    .on('end', () => files.end());
  const take = (bytes?: Buffer): void => {
    if (bytes === undefined) bunzip.end();
    else bunzip.write(bytes);
    if (bytes === undefined && entries === 0) failed(new ArchiveError('the archive is damaged'));
    if (failure !== undefined) throw told(failure);
  };
  return { take };
}

/**
 * Unpacks the folder `top` of an archive as the folder `target`. Throws {@link ArchiveError}, or the error of the disk; what was
 * written until then stays and is the caller's to remove.
 */
export function unpackArchive(archive: string, target: string, { top }: { readonly top: string }): void {
  mkdirSync(target, { recursive: true });
  const source = openSync(archive, 'r');
  const { take } = newUnpacker(target, top);
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const bytes = readSync(source, chunk);
      if (bytes === 0) break;
      take(chunk.subarray(0, bytes));
    }
    take();
  } finally {
    closeSync(source);
  }
}
