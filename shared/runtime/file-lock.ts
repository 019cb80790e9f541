/**
 * Locks between processes of one machine, also in different containers. The system lets a lock go with the process that has it, however
 * that ends, and with nothing else: a process that stands still keeps it.
 */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { lockFile } from './shm.ts';

/** Takes the lock; undefined when another one has it. The returned function gives it back; the process that has it may take the file away. */
export function takeLock(path: string): (() => void) | undefined {
  for (;;) {
    const fd = openSync(path, 'a', 0o600);
    if (!lockFile(fd)) {
      closeSync(fd);
      return undefined;
    }
    // The process that had it before may have taken the file away in between.
    if (statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino) return () => closeSync(fd);
    closeSync(fd);
  }
}
