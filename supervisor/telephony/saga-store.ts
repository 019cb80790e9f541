/**
 * Warm transfers on disk, so that a parked caller is found again after the service has died: one file, to which the whole state of a
 * transfer is appended before each of its steps, and which is written anew without a transfer that is over. Only the owner of the process
 * can read it, and one process at a time writes it. Without a folder transfers live in memory alone.
 */
import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { telephonyVariables } from '../../shared/telephony/variables.ts';
import { carrierNames } from '../../shared/telephony/call-control.ts';
import { takeLock } from '../../shared/runtime/file-lock.ts';
import { makeFolder, reasonOfFile } from '../../shared/installation/named-files.ts';
import { isOver, isPhase, type Saga } from './saga.ts';

const fileName = 'transfers.jsonl';
const lockName = 'lock';
/** Lines after which the file is written anew, however many transfers are open. */
const mostLines = 10_000;

/** Why transfers cannot be written down there; undefined when they can. The folder is made when it is not there. */
export function whyNoState(
  folder: string | undefined,
  { isSuccessor }: { readonly isSuccessor: boolean },
): string | undefined {
  if (folder === undefined) return undefined;
  const { name } = telephonyVariables.stateDir;
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const store = new SagaStore(folder);
    const isFree = isSuccessor || store.lock();
    store.close();
    const file = join(folder, fileName);
    if (existsSync(file)) appendFileSync(file, '');
    store.read();
    return isFree ? undefined : `${name} must name a folder of this service alone: another one is using it`;
  } catch (error) {
    return `${name} must name a folder that can be written to: ${reasonOfFile(error)}`;
  }
}

export class SagaStore {
  readonly #folder: string | undefined;
  readonly #open = new Map<string, Saga>();
  #lines = 0;
  #unlock: (() => void) | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  get folder(): string | undefined {
    return this.#folder;
  }

  /** What is saved outlives this process. */
  get isKept(): boolean {
    return this.#folder !== undefined;
  }

  /** Whether this process is the one that writes there. @throws when the folder cannot be used. */
  lock(): boolean {
    if (this.#folder === undefined) return true;
    this.#unlock ??= takeLock(join(this.#folder, lockName));
    return this.#unlock !== undefined;
  }

  /** Another process may write there. */
  close(): void {
    this.#unlock?.();
    this.#unlock = undefined;
  }

  /** Transfers that were not over when the service was last there. @throws when they cannot be read. */
  load(): Saga[] {
    for (const line of this.read()) {
      const saga = sagaOf(line);
      if (saga !== undefined) this.#note(saga);
    }
    this.#writeAnew();
    return [...this.#open.values()];
  }

  /** Why it was not written down; undefined when it was, or where there is no folder. */
  save(saga: Saga): string | undefined {
    const wasOpen = this.#open.has(saga.handle);
    this.#note({ ...saga });
    if (this.#folder === undefined) return undefined;
    try {
      // A summary is the caller's own affair: it goes as soon as nobody needs it any more.
      if ((isOver(saga) && wasOpen) || this.#lines >= mostLines) this.#writeAnew();
      else {
        appendFileSync(this.#path, `${JSON.stringify(saga)}\n`, { mode: 0o600, flush: true });
        this.#lines += 1;
      }
      return undefined;
    } catch (error) {
      // A full disk takes a part of a line, and the next one must not be appended to it.
      this.#lines = mostLines;
      return reasonOfFile(error);
    }
  }

  get #path(): string {
    return join(this.#folder ?? '', fileName);
  }

  #note(saga: Saga): void {
    if (isOver(saga)) this.#open.delete(saga.handle);
    else this.#open.set(saga.handle, saga);
  }

  /** What is written down. @throws when it cannot be read. */
  read(): string[] {
    if (this.#folder === undefined) return [];
    try {
      return readFileSync(this.#path, 'utf8').split('\n');
    } catch (error) {
      // The first start finds none.
      if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return [];
      throw error;
    }
  }

  /** Whenever the process dies, one of both files is there and whole. */
  #writeAnew(): void {
    if (this.#folder === undefined) return;
    const lines = [...this.#open.values()].map((saga) => `${JSON.stringify(saga)}\n`);
    writeFileSync(`${this.#path}.new`, lines.join(''), { mode: 0o600, flush: true });
    renameSync(`${this.#path}.new`, this.#path);
    this.#lines = lines.length;
  }
}

const textFields = ['handle', 'callId', 'commandId', 'summary', 'language', 'conference', 'leg'] as const;

/** A line that a death has cut is left out. */
function sagaOf(line: string): Saga | undefined {
  try {
    const read: unknown = JSON.parse(line);
    return isSaga(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** What was written down, or told, is a transfer. */
export function isSaga(value: unknown): value is Saga {
  if (typeof value !== 'object' || value === null) return false;
  const field = (name: string): unknown => Reflect.get(value, name);
  return (
    textFields.every((name) => typeof field(name) === 'string') &&
    carrierNames.some((name) => name === field('carrier')) &&
    [field('endsBy'), field('steps')].every((number) => typeof number === 'number') &&
    isPhase(field('phase'))
  );
}
