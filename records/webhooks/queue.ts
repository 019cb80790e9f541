/**
 * Events that wait for their endpoints, one file each: what is in the folder is to be sent, whatever becomes of the process. An event is
 * written whole and under its own name, so keeping it twice keeps it once.
 *
 * Invariant: bounded. With too many that wait the oldest is given up, and of those that were given up the oldest go.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  endpointOfFile,
  queuedFile,
  readQueued,
  webhookFolders,
  writeQueued,
  type QueuedEvent,
} from '../../shared/calls/webhooks/queued.ts';

type Folder = keyof typeof webhookFolders;

export class WebhookQueue {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
    for (const folder of Object.values(webhookFolders))
      mkdirSync(join(dir, folder), { recursive: true, mode: 0o750 });
  }

  /** Names of the files that wait, in no order. */
  names(folder: Folder = 'waiting'): string[] {
    return readdirSync(this.#path(folder)).filter((name) => endpointOfFile(name) !== undefined);
  }

  /** Undefined for one that is gone, or cannot be read and is put aside. */
  read(name: string): QueuedEvent | undefined {
    const path = this.#path('waiting', name);
    const text = ifThere(() => readFileSync(path, 'utf8'));
    if (text === undefined) return undefined;
    const event = readQueued(text);
    if (event.ok) return event.value;
    this.#move(name, 'waiting', 'failed');
    return undefined;
  }

  /** @throws where there is no room for it. */
  keep(event: QueuedEvent): void {
    const name = queuedFile(event);
    const unfinished = this.#path('waiting', `${name}.${process.pid}.part`);
    try {
      const fd = openSync(unfinished, 'w', 0o640);
      try {
        writeFileSync(fd, writeQueued(event));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(unfinished, this.#path('waiting', name));
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
  }

  remove(name: string): void {
    rmSync(this.#path('waiting', name), { force: true });
  }

  giveUp(name: string): void {
    this.#move(name, 'waiting', 'failed');
  }

  /** Deletes of those that were given up all but the newest. */
  trim(most: number): void {
    const names = this.names('failed');
    if (names.length <= most) return;
    const ageOf = (name: string): number =>
      statSync(this.#path('failed', name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const aged = names.map((name) => ({ name, at: ageOf(name) })).toSorted((a, b) => a.at - b.at);
    for (const { name } of aged.slice(0, names.length - most))
      rmSync(this.#path('failed', name), { force: true });
  }

  isDisabled(endpoint: string): boolean {
    return existsSync(this.#path('disabled', endpoint));
  }

  disable({ endpoint, host }: Pick<QueuedEvent, 'endpoint' | 'host'>): void {
    writeFileSync(this.#path('disabled', endpoint), host, { mode: 0o640 });
  }

  #move(name: string, from: Folder, to: Folder): void {
    ifThere(() => renameSync(this.#path(from, name), this.#path(to, name)));
  }

  #path(folder: Folder, ...names: readonly string[]): string {
    return join(this.#dir, webhookFolders[folder], ...names);
  }
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
