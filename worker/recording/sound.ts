/** The sound of both sides as it was written during the call, and the file that it becomes. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { afterOthers } from '../../shared/runtime/clock.ts';
import { writeWhole } from './whole-write.ts';

export interface Sound {
  /** Samples of each side. */
  readonly samples: number;
  /** Samples of both sides in turns; where a side has none, it was silent. */
  woven(from: number, count: number): Int16Array;
  write(bytes: Uint8Array): void;
}

/** Lets the thread do what else is due. */
export const others = (): Promise<void> => new Promise((resolve) => afterOthers(resolve));

interface Side {
  readonly fd: number | undefined;
  readonly bytes: number;
}

/** Opens the files of both sides, those that there are, and the one to write. */
export async function withSound(
  paths: readonly string[],
  target: string,
  use: (sound: Sound) => Promise<void>,
): Promise<void> {
  const sides = paths.map(openedIfThere);
  const out = openSync(target, 'w', 0o640);
  try {
    await use({
      samples: Math.max(...sides.map(({ bytes }) => Math.floor(bytes / 2))),
      woven: (from, count) => woven(sides, from, count),
      write: (bytes) => writeWhole(out, bytes),
    });
  } finally {
    closeSync(out);
    for (const { fd } of sides) if (fd !== undefined) closeSync(fd);
  }
}

function openedIfThere(path: string): Side {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  return bytes === undefined ? { fd: undefined, bytes: 0 } : { fd: openSync(path, 'r'), bytes };
}

function woven(sides: readonly Side[], from: number, count: number): Int16Array {
  const both = new Int16Array(count * sides.length);
  sides.forEach(({ fd }, side) => {
    if (fd === undefined) return;
    const one = new Int16Array(count);
    const bytes = new Uint8Array(one.buffer);
    let read = 0;
    for (let got = -1; got !== 0 && read < bytes.length; read += got)
      got = readSync(fd, bytes, read, bytes.length - read, from * 2 + read);
    for (let index = 0; index < count; index += 1) both[index * sides.length + side] = one[index] ?? 0;
  });
  return both;
}
