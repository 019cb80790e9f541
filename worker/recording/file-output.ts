/** A file of a finished recording while it is written, from its beginning to its end: beside its place, so that a file with its own name is whole. */
import { closeSync, openSync, renameSync } from 'node:fs';
import type { RecordingKey } from '../../shared/recording/keys.ts';
import { fixedChunk, sealedEnding, Sealer } from '../../shared/recording/sealed.ts';
import { writeWhole } from './whole-write.ts';

export class FileOutput {
  readonly #path: string;
  readonly #fd: number;
  readonly #sealer: Sealer | undefined;
  /** What makes no whole chunk yet. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param key encrypts the file, which then has another ending. */
  constructor(path: string, key: RecordingKey | undefined) {
    this.#path = key === undefined ? path : `${path}${sealedEnding}`;
    this.#fd = openSync(this.#part, 'w', 0o640);
    if (key === undefined) return;
    this.#sealer = new Sealer(key, fixedChunk);
    writeWhole(this.#fd, this.#sealer.head);
  }

  write(bytes: Uint8Array): void {
    if (this.#sealer === undefined) {
      writeWhole(this.#fd, bytes);
      return;
    }
    this.#rest = Buffer.concat([this.#rest, bytes]);
    // The last chunk is a chunk of its own, and may be whole: which one that is shows at the end.
    while (this.#rest.length > fixedChunk) {
      writeWhole(this.#fd, this.#sealer.seal(this.#rest.subarray(0, fixedChunk)));
      this.#rest = this.#rest.subarray(fixedChunk);
    }
  }

  /** Everything is written. */
  end(): void {
    if (this.#sealer !== undefined) writeWhole(this.#fd, this.#sealer.seal(this.#rest, { isLast: true }));
    renameSync(this.#part, this.#path);
  }

  close(): void {
    closeSync(this.#fd);
  }

  get #part(): string {
    return `${this.#path}.part`;
  }
}

/** Writes a whole file. */
export async function writeOutput(
  path: string,
  key: RecordingKey | undefined,
  write: (out: FileOutput) => Promise<void> | void,
): Promise<void> {
  const out = new FileOutput(path, key);
  try {
    await write(out);
    out.end();
  } finally {
    out.close();
  }
}
