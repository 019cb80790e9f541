/**
 * What becomes of recordings when their calls are over: put together, kept or uploaded, and deleted in the end. It looks at the
 * folders again and again, so work that a process left half done when it died is taken up by the next one; a folder belongs to the process
 * that renamed it.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '../../shared/base/present.ts';
import type { AudioFormat } from '../../shared/recording/agent-file.ts';
import type { RecordingKeys } from '../../shared/recording/keys.ts';
import {
  readRecordingName,
  recordingFolders,
  tenantsFolder,
  type UploadTarget,
} from '../../shared/recording/layout.ts';
import { finishRecording, keepDaysOf } from './finish.ts';
import { superfluous, type KeptRecording } from './retention.ts';
import { uploadRecording } from './upload.ts';

/** A running call shows itself more often; half-done work of a living process does not take so long. */
const orphanedAfterMs = 5 * 60_000;
/** Looks come every second. After a longer time without one the clock was set, or this thread stood still, and a running call looks old. */
const longestBetweenLooksMs = 60_000;
/** Within this every running call has shown itself again. */
const shownWithinMs = 2 * 60_000;
/** From one look for room to the next. */
const roomEveryMs = 60_000;
const firstRetryMs = 2_000;
const longestRetryMs = 5 * 60_000;
/** Where more calls than these wait to be put together, they come faster than the codec takes them. */
const mostWaitingForCodec = 20;

export interface RecordingArchiveOptions {
  readonly dir: string;
  readonly mostBytes: number;
  readonly keepDays?: number;
  readonly format?: AudioFormat;
  readonly upload?: UploadTarget;
  /** Absent: nothing is encrypted. */
  readonly keys?: RecordingKeys;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly told: (what: ArchiveEvent) => void;
}

export type ArchiveEvent =
  | { readonly type: 'finished' | 'uploaded' | 'cut'; readonly call: string }
  | { readonly type: 'deleted'; readonly call: string; readonly wasWaiting: boolean }
  /** `waiting`: recordings that are on no bucket yet. */
  | {
      readonly type: 'upload.failed';
      readonly error: unknown;
      readonly call: string;
      readonly waiting: number;
    }
  | { readonly type: 'failed'; readonly error: unknown; readonly call?: string };

/** Files that somebody has put beside recordings are nobody's. */
const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** An upload that ends just then takes its folder away. */
const filesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** The name of a recording that has ended. */
const wholeName = (name: string): string => name.replace(/[.]cut$/, '');

const callOf = (name: string): string => readRecordingName(wholeName(name)).call;

const folderOf = (tenant: string | undefined): readonly string[] =>
  tenant === undefined ? [] : [tenantsFolder, tenant];

const waitingOwner = (name: string): string =>
  readRecordingName(name.slice(name.indexOf('_') + 1)).tenant ?? '';

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export class RecordingArchive {
  readonly #options: RecordingArchiveOptions;
  /** Of finished recordings, which do not change. */
  readonly #known = new Map<string, Pick<KeptRecording, 'bytes' | 'keepDays'>>();
  #roomAt = 0;
  #retryAt = 0;
  #retryMs = firstRetryMs;
  #lookedAt: number | undefined;
  #orphansFrom = -Infinity;
  #tending: Promise<void> | undefined;
  #uploading: Promise<void> | undefined;
  /** In the outbox, the one that is on its way. */
  #onItsWay: string | undefined;
  /** In the outbox, tried in vain: the others go first. */
  readonly #triedInVain = new Set<string>();

  constructor(options: RecordingArchiveOptions) {
    this.#options = options;
    for (const folder of Object.values(recordingFolders)) mkdirSync(this.#path(folder), { recursive: true });
  }

  /**
   * Does what is to be done now. A look while one is under way does nothing, and no upload, however slow, keeps others from being put
   * together or deleted.
   */
  async look(): Promise<void> {
    await (this.#tending ??= this.#tend().finally(() => (this.#tending = undefined)));
    await (this.#uploading ??= this.#upload().finally(() => (this.#uploading = undefined)));
  }

  async #tend(): Promise<void> {
    const { now, told, format } = this.#options;
    let atHand: string | undefined;
    try {
      this.#takeOrphans();
      const ended = this.#names('ended');
      for (const [index, name] of ended.entries()) {
        const isBehind = ended.length - index > mostWaitingForCodec;
        atHand = callOf(name);
        await this.#finish(name, { format, isHurried: isBehind });
      }
      atHand = undefined;
      if (now() >= this.#roomAt || this.#roomAt > now() + roomEveryMs) await this.#makeRoom();
    } catch (error) {
      told({ type: 'failed', error, ...(atHand !== undefined && { call: atHand }) });
    }
  }

  /** Calls that nobody ends any more, and work that nobody finishes. */
  #takeOrphans(): void {
    const now = this.#options.now();
    const sinceMs = now - (this.#lookedAt ?? now);
    this.#lookedAt = now;
    if (sinceMs < 0 || sinceMs > longestBetweenLooksMs) this.#orphansFrom = now + shownWithinMs;
    if (now < this.#orphansFrom) return;
    const isOld = (path: string): boolean => {
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return at !== undefined && at < now - orphanedAfterMs;
    };
    for (const name of this.#names('open')) {
      if (!isOld(this.#path('open', name))) continue;
      this.#options.told({ type: 'cut', call: callOf(name) });
      this.#move(this.#path('open', name), this.#path('ended', `${name}.cut`));
    }
    for (const name of this.#names('work')) {
      const path = this.#path('work', name);
      if (isOld(path)) this.#move(path, this.#path('ended', name.replace(/^\d+-/, '')));
    }
  }

  async #finish(
    name: string,
    how: { readonly format: AudioFormat | undefined; readonly isHurried: boolean },
  ): Promise<void> {
    const whole = wholeName(name);
    const { tenant, call } = readRecordingName(whole);
    const mine = this.#path('work', `${process.pid}-${name}`);
    if (!this.#move(this.#path('ended', name), mine)) return;
    const { upload, keys } = this.#options;
    const { day } = await finishRecording(mine, { wasCut: whole !== name, keys, ...present(how) });
    if (upload === undefined) {
      const folder = this.#path('kept', ...folderOf(tenant), day);
      mkdirSync(folder, { recursive: true, mode: 0o750 });
      this.#move(mine, join(folder, call));
    } else this.#move(mine, this.#path('outbox', `${day}_${whole}`));
    this.#options.told({ type: 'finished', call });
  }

  async #upload(): Promise<void> {
    const { upload, now } = this.#options;
    const isPause = now() < this.#retryAt && this.#retryAt <= now() + longestRetryMs;
    if (upload === undefined || isPause) return;
    const wasInVain = (name: string): number => Number(this.#triedInVain.has(name));
    const names = this.#names('outbox').toSorted((a, b) => wasInVain(a) - wasInVain(b));
    for (const name of names) if (!(await this.#uploadOne(name, upload))) return;
  }

  /** False where the bucket is better left alone for a while. */
  async #uploadOne(name: string, upload: UploadTarget): Promise<boolean> {
    const { now, told } = this.#options;
    const path = this.#path('outbox', name);
    const [day, whole] = [name.slice(0, name.indexOf('_')), name.slice(name.indexOf('_') + 1)];
    const { tenant, call } = readRecordingName(whole);
    this.#onItsWay = path;
    try {
      await uploadRecording(path, [...folderOf(tenant), day, call].join('/'), upload);
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      // Another process of the same folder was faster.
      if (!existsSync(path)) return true;
      this.#triedInVain.add(name);
      this.#retryAt = now() + this.#retryMs;
      this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
      told({ type: 'upload.failed', error, call, waiting: this.#names('outbox').length });
      return false;
    } finally {
      this.#onItsWay = undefined;
    }
    this.#triedInVain.delete(name);
    this.#known.delete(path);
    this.#retryMs = firstRetryMs;
    told({ type: 'uploaded', call });
    return true;
  }

  async #makeRoom(): Promise<void> {
    const { now, told } = this.#options;
    this.#roomAt = now() + roomEveryMs;
    const days = this.#days();
    const all: KeptRecording[] = [];
    for (const { path, owner } of days)
      all.push(...(await this.#finished(path, () => owner, { isWaiting: false })));
    all.push(...(await this.#finished(this.#path('outbox'), waitingOwner, { isWaiting: true })));
    // A recording that is on its way is being read, and will be gone from here by itself.
    const onItsWay = all.filter(({ path }) => path === this.#onItsWay);
    const others = all.filter(({ path }) => path !== this.#onItsWay);
    const mostBytes = onItsWay.reduce((left, { bytes }) => left - bytes, this.#options.mostBytes);
    for (const { path, isWaiting } of superfluous(others, { ...this.#options, mostBytes }, now())) {
      rmSync(path, { recursive: true, force: true });
      this.#known.delete(path);
      this.#triedInVain.delete(nameOf(path));
      const name = nameOf(path);
      const call = isWaiting ? callOf(name.slice(name.indexOf('_') + 1)) : name;
      told({ type: 'deleted', call, wasWaiting: isWaiting });
    }
    for (const { path } of days)
      if (filesIn(path).length === 0) rmSync(path, { recursive: true, force: true });
  }

  /** The folders of days, of the operator's own agents and of each tenant. */
  #days(): readonly { readonly path: string; readonly owner: string }[] {
    const own = this.#path('kept');
    const tenants = join(own, tenantsFolder);
    const owners = existsSync(tenants) ? foldersIn(tenants) : [];
    return [
      ...foldersIn(own)
        .filter((name) => name !== tenantsFolder)
        .map((day) => ({ path: join(own, day), owner: '' })),
      ...owners.flatMap((owner) =>
        foldersIn(join(tenants, owner)).map((day) => ({ path: join(tenants, owner, day), owner })),
      ),
    ];
  }

  async #finished(
    folder: string,
    ownerOf: (name: string) => string,
    { isWaiting }: { readonly isWaiting: boolean },
  ): Promise<KeptRecording[]> {
    const found: KeptRecording[] = [];
    for (const name of foldersIn(folder)) {
      const path = join(folder, name);
      const known = await this.#knownOf(path);
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (at !== undefined) found.push({ path, at, isWaiting, owner: ownerOf(name), ...known });
    }
    return found;
  }

  async #knownOf(path: string): Promise<Pick<KeptRecording, 'bytes' | 'keepDays'>> {
    const before = this.#known.get(path);
    if (before !== undefined) return before;
    const keepDays = await keepDaysOf(path, this.#options.keys);
    const bytes = filesIn(path).reduce(
      (sum, file) => sum + (statSync(join(path, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    const known = { bytes, ...present({ keepDays }) };
    this.#known.set(path, known);
    return known;
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
    return foldersIn(this.#path(folder));
  }

  #path(folder: keyof typeof recordingFolders, ...names: readonly string[]): string {
    return join(this.#options.dir, recordingFolders[folder], ...names);
  }
}
