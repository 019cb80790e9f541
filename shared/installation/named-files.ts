/** Reads the agent file and the files that it names. A file that is not there, or may not be read, is `undefined` and no exception. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

const ifReadable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
};

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder and no file',
  EEXIST: 'it is a file and no folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not open it',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
};

/** Why a file could not be opened, as a clause. */
export function reasonOfFile(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return (typeof code === 'string' ? reasons[code] : undefined) ?? 'it cannot be read or written';
}

/** Why a file cannot be read, looked at once more. */
export function whyUnreadable(path: string): string {
  try {
    readFileSync(path);
    return 'it cannot be read';
  } catch (error) {
    return reasonOfFile(error);
  }
}

/** Why a file cannot be written, without making or changing it; undefined when it can. */
export function whyUnwritable(path: string): string | undefined {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.isDirectory() === true) return 'it is a folder and no file';
    accessSync(info === undefined ? dirname(resolve(path)) : path, constants.W_OK);
    return undefined;
  } catch (error) {
    const reason = reasonOfFile(error);
    return reason === reasons['ENOENT'] ? 'its folder does not exist' : reason;
  }
}

/** Makes a folder, and those above it, where it is not there yet. Node's own recursion never ends below `/proc`. */
export function makeFolder(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = dirname(resolve(path));
  if (!existsSync(above)) makeFolder(above, mode);
  mkdirSync(path, { mode });
}

export const readText = (path: string): string | undefined => ifReadable(() => readFileSync(path, 'utf8'));

/** Reads each file once: what a shell gives in the place of a file, `<(...)`, has nothing left the second time. */
export function readingOnce(read: (path: string) => string | undefined): typeof read {
  const texts = new Map<string, string | undefined>();
  return (path) => {
    if (!texts.has(path)) texts.set(path, read(path));
    return texts.get(path);
  };
}

/** The first `most` bytes of a file and one more where there are more, so that a reader can tell. */
export const readBytes = (path: string, most: number): Uint8Array | undefined =>
  ifReadable(() => {
    const fd = openSync(path, 'r');
    try {
      const bytes = new Uint8Array(most + 1);
      let length = 0;
      for (let got = -1; got !== 0 && length < bytes.length; length += got)
        got = readSync(fd, bytes, length, bytes.length - length, null);
      return bytes.subarray(0, length);
    } finally {
      closeSync(fd);
    }
  });

/** A reader of the file finds a whole one at any instant. */
export function replaceFile(
  path: string,
  { text, draft }: { readonly text: string; readonly draft: string },
): void {
  writeFileSync(draft, text);
  try {
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
