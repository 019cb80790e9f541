/** Writes to a disk that may be nearly full: the system then takes a part and says nothing, and only the next write fails. */
import { fstatSync, ftruncateSync, writeSync } from 'node:fs';

/** Writes all of it, from the byte `at` on or where the file stands. @throws where there is no room for the rest. */
export function writeWhole(fd: number, bytes: Uint8Array, at?: number): void {
  let done = 0;
  while (done < bytes.length)
    done += writeSync(fd, bytes, done, bytes.length - done, at === undefined ? null : at + done);
}

/** Appends all of it or nothing, so that a file of lines has no torn one. @throws where there is no room for it. */
export function appendWhole(fd: number, bytes: Uint8Array): void {
  const { size } = fstatSync(fd);
  try {
    writeWhole(fd, bytes);
  } catch (error) {
    ftruncateSync(fd, size);
    throw error;
  }
}
