/** Reads the agent file and the files that it names. What is not there, or may not be read, is `undefined` and no exception. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const ifReadable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
};

export const readText = (path: string): string | undefined => ifReadable(() => readFileSync(path, 'utf8'));

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
