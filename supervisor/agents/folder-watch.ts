/**
 * Looks after the folder of agents: notices what changes in it and reads it once it is quiet. A file that was written a moment ago, that changes
 * while it is read, or that has just vanished stays as it was until the next look. The kernel says when there is something to look at; a look
 * now and then finds what it does not tell of, as on file systems of other machines.
 */
import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../../shared/base/units.ts';
import {
  listAgents,
  readAgentAt,
  stampOf,
  type AgentPlace,
  type AgentReading,
} from '../../shared/installation/agents-folder.ts';
import { reasonOfFile } from '../../shared/installation/named-files.ts';
import { afterOthers, type Clock, type Timer, type WallClock } from '../../shared/runtime/clock.ts';

/** A file is read when it has not changed for so long: its writer is done then. */
export const quietMs: Millis = 150;
/** From a word of the kernel to the look at what it speaks of. */
const soonMs: Millis = 20;
const nowAndThenMs: Millis = 5_000;
/** Of one who asks for a look and waits for what it finds. */
const mostLooks = 10;
/** Where the kernel tells nothing. */
const oftenMs: Millis = 500;

export interface FoundAgent {
  readonly place: AgentPlace;
  readonly reading: AgentReading;
}

/** What a folder tells. */
export interface FolderEvents {
  /** Files that were read anew, and those that are gone, as undefined; by path. */
  readonly found: (changes: ReadonlyMap<string, FoundAgent | undefined>) => void;
  /** What lies in the folder and is no agent, or why the folder cannot be read; told when it changes. */
  readonly unusable: (problems: readonly string[]) => void;
  /** The kernel does not tell of changes. */
  readonly deaf: (reason: string) => void;
}

/** A folder that is looked after. */
export interface Folder {
  readonly open: () => Promise<void>;
  readonly lookNow: () => Promise<void>;
  readonly close: () => void;
}

export interface FolderWatchOptions extends FolderEvents {
  readonly dir: string;
  /** A file that is an agent wherever it lies. It has been read before. */
  readonly besides: { readonly place: AgentPlace; readonly named: readonly string[] };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secretsDir?: string | undefined;
  readonly clock: Clock;
  readonly wallClock: WallClock;
}

interface Known {
  stamp: string;
  named: readonly string[];
}

export class FolderWatch implements Folder {
  readonly #options: FolderWatchOptions;
  readonly #known = new Map<string, Known>();
  /** Since when files are not there any more. */
  readonly #missing = new Map<string, Millis>();
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: Timer | undefined;
  #dueMs = Infinity;
  #look: Promise<void> | undefined;
  #isDeaf = false;
  #isFirst = true;
  /** Something was left for the next look. */
  #isUnquiet = false;
  #isClosed = false;
  #unusable = '';

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    const { place, named } = options.besides;
    this.#known.set(place.path, { stamp: this.#stampNow(place.path, named), named });
  }

  /** Looks at everything for the first time, files that were written a moment ago among them: nothing of them is in force yet. */
  async open(): Promise<void> {
    await this.#lookOnce();
    this.#isFirst = false;
  }

  /** Looks at everything now, and again while something is being written. Resolves when what was found was told, within a bounded time. */
  async lookNow(): Promise<void> {
    for (let look = 0; look < mostLooks; look += 1) {
      await this.#lookOnce();
      if (!this.#isUnquiet) return;
      await new Promise<void>((resolve) => void this.#options.clock.after(quietMs, resolve));
    }
  }

  async #lookOnce(): Promise<void> {
    // One that is under way may have passed what is asked for.
    await this.#look;
    this.#look ??= this.#lookAt().finally(() => (this.#look = undefined));
    await this.#look;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #lookAt(): Promise<void> {
    const { besides, found } = this.#options;
    this.#timer?.cancel();
    this.#dueMs = Infinity;
    this.#isUnquiet = false;
    const places = [besides.place, ...this.#list()];
    const changes = new Map<string, FoundAgent | undefined>();
    for (const place of places) await this.#lookAtFile(place, changes);
    this.#lookForMissing(new Set(places.map(({ path }) => path)), changes);
    this.#watchFolders();
    if (this.#isClosed) return;
    if (changes.size > 0) found(changes);
    this.#lookIn(this.#isDeaf ? oftenMs : nowAndThenMs);
  }

  /** Where the folder cannot be read everything in it stays as it was. */
  #list(): readonly AgentPlace[] {
    const { dir, besides, unusable } = this.#options;
    let problems: readonly string[];
    let places: readonly AgentPlace[];
    try {
      const listed = listAgents(dir);
      places = listed.places.filter(({ path }) => path !== besides.place.path);
      problems = listed.unusable.map(({ shown, why }) => `${shown}: ${why}`);
      this.#folders = listed.folders;
    } catch (error) {
      places = this.#places;
      problems = [`the folder cannot be read: ${reasonOfFile(error)}`];
    }
    this.#places = places;
    const text = problems.join('\n');
    if (text !== this.#unusable) unusable(problems);
    this.#unusable = text;
    return places;
  }

  #places: readonly AgentPlace[] = [];
  #folders: readonly string[] = [];

  async #lookAtFile(place: AgentPlace, changes: Map<string, FoundAgent | undefined>): Promise<void> {
    const { env, secretsDir } = this.#options;
    const { path } = place;
    this.#missing.delete(path);
    const known = this.#known.get(path);
    const { stamp, changedMs } = stampOf([path, ...(known?.named ?? [])]);
    if (known?.stamp === stamp) return;
    if (!this.#isFirst && this.#isFresh(changedMs)) {
      this.#lookAgain();
      return;
    }
    const reading = await readAgentAt(place, env, { requireSecrets: true, secretsDir });
    if (stampOf([path, ...(known?.named ?? [])]).stamp !== stamp) {
      this.#lookAgain();
      return;
    }
    const { named } = reading;
    this.#known.set(path, { stamp: this.#stampNow(path, named), named });
    changes.set(path, { place, reading });
    // A thousand files take a second to read: calls are answered in between.
    await new Promise<void>(afterOthers);
  }

  /** What is known of files that were read now. Of one that changed a moment ago nothing is: it may have changed since without another stamp. */
  #stampNow(path: string, named: readonly string[]): string {
    const { stamp, changedMs } = stampOf([path, ...named]);
    if (!this.#isFresh(changedMs)) return stamp;
    this.#lookAgain();
    return '';
  }

  /** A clock that was set, or is another machine's, must not keep a file from being read for ever. */
  #isFresh(changedMs: number): boolean {
    return Math.abs(this.#options.wallClock.now() - changedMs) < quietMs;
  }

  #lookAgain(): void {
    this.#isUnquiet = true;
    this.#lookIn(quietMs + soonMs);
  }

  #lookForMissing(there: ReadonlySet<string>, changes: Map<string, FoundAgent | undefined>): void {
    const now = this.#options.clock.now();
    for (const path of this.#known.keys()) {
      if (there.has(path)) continue;
      const since = this.#missing.get(path) ?? now;
      this.#missing.set(path, since);
      // Some programs replace a file by deleting it first.
      if (now - since < quietMs) {
        this.#lookAgain();
        continue;
      }
      this.#known.delete(path);
      this.#missing.delete(path);
      changes.set(path, undefined);
    }
  }

  /** Every folder from which something is taken. */
  #watchFolders(): void {
    const named = [...this.#known.values()].flatMap(({ named: paths }) => paths.map((path) => dirname(path)));
    const wanted = new Set([...this.#folders, dirname(this.#options.besides.place.path), ...named]);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const lost = (error: unknown): void => {
      this.#watchers.get(folder)?.close();
      this.#watchers.delete(folder);
      // A folder that is gone is no loss: the look that finds it again watches it again.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      if (!this.#isDeaf) this.#options.deaf(reasonOfFile(error));
      this.#isDeaf = true;
    };
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookIn(soonMs));
      watcher.on('error', lost);
      this.#watchers.set(folder, watcher);
    } catch (error) {
      lost(error);
    }
  }

  /** The next look is due by then. */
  #lookIn(ms: Millis): void {
    const { clock } = this.#options;
    const dueMs = clock.now() + ms;
    if (this.#isClosed || dueMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = dueMs;
    this.#timer = clock.after(ms, () => void this.#lookOnce());
  }
}
