/**
 * The files of one running call. Sound is written where it belongs, so silence is a hole that takes no room and a piece that is written
 * twice does no harm; lines are appended. One worker's lines stand in files of their own, named by when it began, so that two workers
 * never write to one. Where recordings are encrypted, everything is appended to files of one writer each, and sound says where it belongs. The folder
 * is renamed when the call is over: what stands under another name than `open` is whole.
 */
import { closeSync, constants, existsSync, mkdirSync, openSync, renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordingKey } from '../../shared/recording/keys.ts';
import { recordingFolders } from '../../shared/recording/layout.ts';
import type { EntryKind } from '../../shared/recording/ring.ts';
import { SealedLog, soundPayload } from './sealed-log.ts';
import { appendWhole, writeWhole } from './whole-write.ts';

const bytesPerSample = 2;
/** Sound is put together up to here before it is written. */
const pieceBytes = 64 * 1024;
const soundFiles = { heard: 'heard.pcm', sent: 'sent.pcm' } as const;
type Side = keyof typeof soundFiles;
type Lines = 'line' | 'fact';

/** Which part of a recording a worker writes, as a name that sorts by time. */
const segmentOf = (at: number): string => String(Math.max(0, Math.round(at))).padStart(12, '0');

interface Piece {
  readonly at: number;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** A file that takes bytes at its end, or at a place. Where it throws, nothing is written. */
interface Target {
  write(bytes: Uint8Array, at?: number): void;
  close(): void;
}

export class OpenRecording {
  readonly name: string;
  readonly #dir: string;
  readonly #folder: string;
  readonly #segment: string;
  readonly #key: RecordingKey | undefined;
  readonly #files = new Map<Side | Lines, Target>();
  readonly #sound = new Map<Side, Piece>();
  readonly #lines = new Map<Lines, Uint8Array[]>();

  /** @param since milliseconds into the call at which this worker writes on. */
  constructor(
    dir: string,
    name: string,
    { since, key }: { readonly since: number; readonly key?: RecordingKey | undefined },
  ) {
    this.#dir = dir;
    this.#key = key;
    this.name = name;
    this.#folder = join(dir, recordingFolders.open, name);
    this.#segment = segmentOf(since);
  }

  /** The first worker of a call makes its folder; the next one finds it. */
  begin(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o750 });
  }

  take(kind: EntryKind, at: number, bytes: Uint8Array): void {
    if (kind === 'heard' || kind === 'sent') this.#takeSound(kind, at, bytes);
    else if (kind === 'line' || kind === 'fact') this.#takeLine(kind, bytes);
  }

  /** Brings everything that was taken to the files. */
  flush(): void {
    for (const side of this.#sound.keys()) this.#writeSound(side);
    for (const [kind, parts] of this.#lines) {
      // Taken out first: a disk without room must not fill the memory instead.
      const taken = parts.splice(0);
      if (taken.length > 0) this.#open(kind).write(Buffer.concat(taken));
    }
  }

  /** Shows that the call goes on, although nothing may be said in it. */
  touch(nowS: number): void {
    utimesSync(this.#folder, nowS, nowS);
  }

  /** The call is over: what was written is whole. */
  finish(): void {
    this.flush();
    this.close();
    mkdirSync(join(this.#dir, recordingFolders.ended), { recursive: true, mode: 0o750 });
    if (existsSync(this.#folder))
      renameSync(this.#folder, join(this.#dir, recordingFolders.ended, this.name));
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
    this.#sound.clear();
    this.#lines.clear();
  }

  #takeSound(side: Side, at: number, bytes: Uint8Array): void {
    let piece = this.#sound.get(side);
    const isNext = piece !== undefined && piece.at + piece.bytes / bytesPerSample === at;
    if (piece !== undefined && (!isNext || piece.bytes + bytes.length > pieceBytes)) {
      this.#writeSound(side);
      piece = undefined;
    }
    if (piece === undefined) this.#sound.set(side, (piece = { at, parts: [], bytes: 0 }));
    // A copy: the ring gives its bytes to others afterwards.
    piece.parts.push(bytes.slice());
    piece.bytes += bytes.length;
  }

  #writeSound(side: Side): void {
    const piece = this.#sound.get(side);
    this.#sound.delete(side);
    if (piece === undefined || piece.bytes === 0) return;
    this.#open(side).write(Buffer.concat(piece.parts), Math.max(0, piece.at) * bytesPerSample);
  }

  #takeLine(kind: Lines, bytes: Uint8Array): void {
    const parts = this.#lines.get(kind) ?? [];
    this.#lines.set(kind, parts);
    parts.push(bytes.slice());
  }

  #open(kind: Side | Lines): Target {
    const known = this.#files.get(kind);
    if (known !== undefined) return known;
    const isSound = kind === 'heard' || kind === 'sent';
    const file =
      this.#key === undefined
        ? plainFile(join(this.#folder, isSound ? soundFiles[kind] : `${kind}s-${this.#segment}.jsonl`), {
            isSound,
          })
        : sealedFile(join(this.#folder, `${isSound ? kind : `${kind}s`}-${this.#segment}`), this.#key);
    this.#files.set(kind, file);
    return file;
  }
}

function plainFile(path: string, { isSound }: { readonly isSound: boolean }): Target {
  const { O_CREAT, O_WRONLY, O_APPEND } = constants;
  const fd = openSync(path, O_CREAT | O_WRONLY | (isSound ? 0 : O_APPEND), 0o640);
  return {
    write: (bytes, at) => (at === undefined ? appendWhole(fd, bytes) : writeWhole(fd, bytes, at)),
    close: () => closeSync(fd),
  };
}

function sealedFile(beginning: string, key: RecordingKey): Target {
  const log = new SealedLog(beginning, key);
  return {
    write: (bytes, at) => log.append(at === undefined ? bytes : soundPayload(at, bytes)),
    close: () => log.close(),
  };
}
