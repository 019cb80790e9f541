/** The bell of a worker: one byte means "look into the mailboxes". */
import { writeSync } from 'node:fs';

const bell = new Uint8Array(1);

/** Writes one byte. A full or broken bell needs no answer: the worker looks into its mailboxes on every tick as well. */
export function ring(fd: number | undefined): void {
  if (fd === undefined) return;
  try {
    writeSync(fd, bell);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EAGAIN' && code !== 'EPIPE') throw error;
  }
}
