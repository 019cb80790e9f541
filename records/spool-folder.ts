/** The spool on the disk, as the process that keeps records sees it. A file that goes away meanwhile was taken by nobody else: its call ended. */
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSpoolFile, spoolFolders } from '../shared/calls/spool.ts';

export interface SpoolFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was last written, in milliseconds since 1970. */
  readonly writtenMs: number;
}

export interface SpoolFolder {
  /** The oldest first. */
  list(where: keyof typeof spoolFolders): Promise<readonly SpoolFile[]>;
  /** Undefined where it is gone. */
  read(where: keyof typeof spoolFolders, name: string): Promise<string | undefined>;
  /** Its call is over although nobody said so. */
  end(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export class DiskSpool implements SpoolFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async list(where: keyof typeof spoolFolders): Promise<readonly SpoolFile[]> {
    const names = (await readdir(join(this.#folder, spoolFolders[where]))).filter(isSpoolFile);
    const files: SpoolFile[] = [];
    for (const name of names) {
      const found = await ifThere(stat(this.#path(where, name)));
      if (found !== undefined) files.push({ name, bytes: found.size, writtenMs: found.mtimeMs });
    }
    return files.toSorted((a, b) => a.writtenMs - b.writtenMs);
  }

  async read(where: keyof typeof spoolFolders, name: string): Promise<string | undefined> {
    return await ifThere(readFile(this.#path(where, name), 'utf8'));
  }

  async end(name: string): Promise<void> {
    await ifThere(rename(this.#path('open', name), this.#path('ended', name)));
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path('ended', name), { force: true });
  }

  #path(where: keyof typeof spoolFolders, name: string): string {
    return join(this.#folder, spoolFolders[where], name);
  }
}

async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
