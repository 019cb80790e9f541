/**
 * Warm transfers on disk, so that a parked caller is found again after the service has died: one file, to which the whole state of a
 * transfer is appended before each of its steps. Only the owner of the process can read it. Without a folder they live in memory alone.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOver, type Saga } from './saga.ts';

const fileName = 'transfers.jsonl';
/** Lines after which the file is written anew with what is still open. */
const mostLines = 10_000;

export class SagaStore {
  readonly #path: string | undefined;
  readonly #open = new Map<string, Saga>();
  #lines = 0;

  /** @throws when the folder cannot be made. */
  constructor(folder: string | undefined) {
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#path = join(folder, fileName);
  }

  /** Transfers that were not over when the service was last there. */
  load(): Saga[] {
    for (const line of this.#read()) {
      const saga = sagaOf(line);
      if (saga !== undefined) this.#note(saga);
    }
    this.#compact();
    return [...this.#open.values()];
  }

  save(saga: Saga): void {
    this.#note({ ...saga });
    if (this.#path === undefined) return;
    appendFileSync(this.#path, `${JSON.stringify(saga)}\n`, { mode: 0o600, flush: true });
    this.#lines += 1;
    if (this.#lines > mostLines) this.#compact();
  }

  #note(saga: Saga): void {
    if (isOver(saga)) this.#open.delete(saga.handle);
    else this.#open.set(saga.handle, saga);
  }

  #read(): string[] {
    if (this.#path === undefined) return [];
    try {
      return readFileSync(this.#path, 'utf8').split('\n');
    } catch (error) {
      // The first start finds none.
      if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return [];
      throw error;
    }
  }

  #compact(): void {
    if (this.#path === undefined) return;
    const lines = [...this.#open.values()].map((saga) => `${JSON.stringify(saga)}\n`);
    writeFileSync(this.#path, lines.join(''), { mode: 0o600, flush: true });
    this.#lines = lines.length;
  }
}

/** A line that was cut by a death is none. */
function sagaOf(line: string): Saga | undefined {
  try {
    const read: unknown = JSON.parse(line);
    const isSaga = typeof read === 'object' && read !== null && 'handle' in read && 'phase' in read;
    return isSaga ? (read as Saga) : undefined;
  } catch {
    return undefined;
  }
}
