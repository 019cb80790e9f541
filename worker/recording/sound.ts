/** The sound of both sides as it was written during the call, and the file that it becomes. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { RecordingKeys } from '../../shared/recording/keys.ts';
import { afterOthers } from '../../shared/runtime/clock.ts';
import type { FileOutput } from './file-output.ts';
import { readSoundPayload, SealedLogReader, type LogChunk } from './sealed-log.ts';

export interface Sound {
  /** Samples of each side. */
  readonly samples: number;
  /** Samples of both sides in turns; where a side has none, it was silent. */
  woven(from: number, count: number): Int16Array;
  write(bytes: Uint8Array): void;
}

/** The files of one side, those that there are. */
export interface SideFiles {
  readonly plain: string;
  /** In the order in which they were begun. */
  readonly sealed: readonly string[];
}

/** Lets the thread do what else is due. */
export const others = (): Promise<void> => new Promise((resolve) => afterOthers(resolve));

interface Side {
  readonly bytes: number;
  /** Puts into it what stands from this byte on. */
  read(into: Uint8Array, from: number): void;
  close(): void;
}

/** Opens the files of both sides. */
export async function withSound(
  files: readonly SideFiles[],
  { keys, out }: { readonly keys: RecordingKeys | undefined; readonly out: FileOutput },
  use: (sound: Sound) => Promise<void>,
): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const { plain, sealed } of files) {
      const parts = [plainSide(plain)];
      for (const path of sealed) parts.push(await sealedSide(path, keys));
      sides.push(together(parts));
    }
    await use({
      samples: Math.max(...sides.map(({ bytes }) => Math.floor(bytes / 2))),
      woven: (from, count) => woven(sides, from, count),
      write: (bytes) => out.write(bytes),
    });
  } finally {
    for (const side of sides) side.close();
  }
}

/** What was written later counts. */
const together = (parts: readonly Side[]): Side => ({
  bytes: Math.max(...parts.map(({ bytes }) => bytes)),
  read: (into, from) => {
    for (const part of parts) part.read(into, from);
  },
  close: () => {
    for (const part of parts) part.close();
  },
});

function plainSide(path: string): Side {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) return { bytes: 0, read: () => undefined, close: () => undefined };
  const fd = openSync(path, 'r');
  return {
    bytes,
    read: (into, from) => {
      let read = 0;
      for (let got = -1; got !== 0 && read < into.length; read += got)
        got = readSync(fd, into, read, into.length - read, from + read);
    },
    close: () => closeSync(fd),
  };
}

interface Piece {
  readonly at: number;
  readonly end: number;
  readonly chunk: LogChunk;
}

/** Between two looks at what else is due. */
const piecesAtOnce = 500;

async function sealedSide(path: string, keys: RecordingKeys | undefined): Promise<Side> {
  const log = new SealedLogReader(path, keys);
  const pieces: Piece[] = [];
  for (const { chunk, bytes } of log.whole()) {
    const { at, pcm } = readSoundPayload(bytes);
    pieces.push({ at, end: at + pcm.length, chunk });
    if (pieces.length % piecesAtOnce === 0) await others();
  }
  const longest = pieces.reduce((most, { at, end }) => Math.max(most, end - at), 0);
  const inOrder = pieces.toSorted((a, b) => a.at - b.at);
  return {
    bytes: pieces.reduce((most, { end }) => Math.max(most, end), 0),
    read: (into, from) => {
      for (let index = firstFrom(inOrder, from - longest); index < inOrder.length; index += 1) {
        const { at, chunk } = inOrder[index] ?? { at: Infinity };
        if (at >= from + into.length || chunk === undefined) return;
        const { pcm } = readSoundPayload(log.read(chunk));
        const part = pcm.subarray(Math.max(0, from - at), Math.max(0, from + into.length - at));
        into.set(part, Math.max(0, at - from));
      }
    },
    close: () => log.close(),
  };
}

/** Index of the first piece that begins there or later. */
function firstFrom(pieces: readonly Piece[], at: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.at ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function woven(sides: readonly Side[], from: number, count: number): Int16Array {
  const both = new Int16Array(count * sides.length);
  sides.forEach((read, side) => {
    const one = new Int16Array(count);
    read.read(new Uint8Array(one.buffer), from * 2);
    for (let index = 0; index < count; index += 1) both[index * sides.length + side] = one[index] ?? 0;
  });
  return both;
}
