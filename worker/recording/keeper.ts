/**
 * What becomes of recordings when their calls are over: put together, kept or uploaded, and deleted in the end. Looks at the folders again
 * and again, so whatever a process that died left half done is taken up by the next one; a folder belongs to whoever renamed it.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AudioFormat } from '../../shared/config/agent/recording.ts';
import { recordingFolders, type UploadTarget } from '../../shared/protocol/recording.ts';
import { finishRecording } from './finish.ts';
import { superfluous, type KeptRecording } from './retention.ts';
import { uploadRecording } from './upload.ts';

/** A running call shows itself more often; half-done work of a living process does not take so long. */
const orphanedAfterMs = 5 * 60_000;
/** From one look for room to the next. */
const roomEveryMs = 60_000;
const firstRetryMs = 2_000;
const longestRetryMs = 5 * 60_000;
/** Where more calls than these wait to be put together, they come faster than the codec takes them. */
const mostWaitingForCodec = 20;

export interface KeeperOptions {
  readonly dir: string;
  readonly mostBytes: number;
  readonly keepDays?: number;
  readonly format?: AudioFormat;
  readonly upload?: UploadTarget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly told: (what: KeeperNews) => void;
}

export type KeeperNews =
  | { readonly type: 'finished' | 'uploaded' | 'cut'; readonly call: string }
  | { readonly type: 'deleted'; readonly call: string; readonly wasWaiting: boolean }
  | { readonly type: 'upload.failed' | 'failed'; readonly error: unknown };

export class Keeper {
  readonly #options: KeeperOptions;
  /** Bytes of finished recordings, which do not change. */
  readonly #sizes = new Map<string, number>();
  #roomAt = 0;
  #retryAt = 0;
  #retryMs = firstRetryMs;
  #isBusy = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    for (const folder of Object.values(recordingFolders)) mkdirSync(this.#path(folder), { recursive: true });
  }

  /** Does what is to be done now. A look while one is under way does nothing. */
  async look(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const { now, told } = this.#options;
    try {
      this.#takeOrphans();
      const ended = this.#names('ended');
      for (const [index, name] of ended.entries()) {
        const isBehind = ended.length - index > mostWaitingForCodec;
        await this.#finish(name, isBehind ? 'wav' : this.#options.format);
      }
      await this.#upload();
      if (now() >= this.#roomAt) this.#makeRoom();
    } catch (error) {
      told({ type: 'failed', error });
    } finally {
      this.#isBusy = false;
    }
  }

  /** Calls that nobody ends any more, and work that nobody finishes. */
  #takeOrphans(): void {
    const isOld = (path: string): boolean => {
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return at !== undefined && at < this.#options.now() - orphanedAfterMs;
    };
    for (const name of this.#names('open')) {
      if (!isOld(this.#path('open', name))) continue;
      this.#options.told({ type: 'cut', call: name });
      this.#move(this.#path('open', name), this.#path('ended', `${name}.cut`));
    }
    for (const name of this.#names('work')) {
      const path = this.#path('work', name);
      if (isOld(path)) this.#move(path, this.#path('ended', name.replace(/^\d+-/, '')));
    }
  }

  async #finish(name: string, format: AudioFormat = 'wav'): Promise<void> {
    const call = name.replace(/[.]cut$/, '');
    const mine = this.#path('work', `${process.pid}-${name}`);
    if (!this.#move(this.#path('ended', name), mine)) return;
    const { day } = await finishRecording(mine, { wasCut: call !== name, format });
    const { upload } = this.#options;
    if (upload === undefined) {
      mkdirSync(this.#path('kept', day), { recursive: true, mode: 0o750 });
      this.#move(mine, this.#path('kept', day, call));
    } else this.#move(mine, this.#path('outbox', `${day}_${call}`));
    this.#options.told({ type: 'finished', call });
  }

  async #upload(): Promise<void> {
    const { upload, now, told } = this.#options;
    if (upload === undefined || now() < this.#retryAt) return;
    for (const name of this.#names('outbox')) {
      const path = this.#path('outbox', name);
      const [day, call] = [name.slice(0, name.indexOf('_')), name.slice(name.indexOf('_') + 1)];
      try {
        await uploadRecording(path, `${day}/${call}`, upload);
      } catch (error) {
        told({ type: 'upload.failed', error });
        this.#retryAt = now() + this.#retryMs;
        this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
        return;
      }
      this.#retryMs = firstRetryMs;
      rmSync(path, { recursive: true, force: true });
      told({ type: 'uploaded', call });
    }
  }

  #makeRoom(): void {
    const { now, told } = this.#options;
    this.#roomAt = now() + roomEveryMs;
    const days = this.#names('kept');
    const kept = days.flatMap((day) => this.#finished(this.#path('kept', day), false));
    const all = [...kept, ...this.#finished(this.#path('outbox'), true)];
    for (const { path, isWaiting } of superfluous(all, this.#options, now())) {
      rmSync(path, { recursive: true, force: true });
      this.#sizes.delete(path);
      told({ type: 'deleted', call: path.slice(path.lastIndexOf('/') + 1), wasWaiting: isWaiting });
    }
    for (const day of days)
      if (readdirSync(this.#path('kept', day)).length === 0)
        rmSync(this.#path('kept', day), { recursive: true });
  }

  #finished(folder: string, isWaiting: boolean): KeptRecording[] {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return at === undefined ? [] : [{ path, at, isWaiting, bytes: this.#sizeOf(path) }];
    });
  }

  #sizeOf(path: string): number {
    const known = this.#sizes.get(path);
    if (known !== undefined) return known;
    const bytes = readdirSync(path).reduce(
      (sum, file) => sum + (statSync(join(path, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    this.#sizes.set(path, bytes);
    return bytes;
  }

  /** False where the folder is somebody else's by now. */
  #move(from: string, to: string): boolean {
    try {
      renameSync(from, to);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  }

  #names(folder: keyof typeof recordingFolders): string[] {
    return readdirSync(this.#path(folder));
  }

  #path(folder: keyof typeof recordingFolders, ...names: readonly string[]): string {
    return join(this.#options.dir, recordingFolders[folder], ...names);
  }
}
