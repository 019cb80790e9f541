/**
 * The process that keeps the records of calls, as the supervisor sees it: started where records are kept, started again with pauses when it
 * dies, and told what only the supervisor knows. No call depends on it.
 */
import { parseJson } from '../../shared/base/exact-json.ts';
import { fork, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  recordsLeaveWithinMs,
  type AfterCallVersions,
  type FromRecords,
  type RecordsQuestion,
  type RecordsSetup,
  type ToRecords,
} from '../../shared/calls/messages.ts';
import { readPrices } from '../../shared/calls/prices.ts';
import { spoolFolders } from '../../shared/calls/spool.ts';
import { callsVariables, isPostgres } from '../../shared/calls/variables.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { makeFolder, readText, reasonOfFile, whyUnreadable } from '../../shared/installation/named-files.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** A process that lived for so long begins anew with the first pause. */
const provenMs = 60_000;
const answerWithinMs = 10_000;

/** Why records cannot be kept as these settings say; undefined where they can, or none are. Folders are made where they are not there. */
export function whyNoRecords({ calls }: Pick<ServerSettings, 'calls'>): string | undefined {
  if (calls === undefined) return undefined;
  const { callsDb, pricesFile } = callsVariables;
  const database = calls.database.reveal();
  try {
    for (const folder of Object.values(spoolFolders)) makeFolder(join(calls.spool, folder), 0o700);
    const written = isPostgres(database) ? [calls.spool] : [calls.spool, dirname(resolve(database))];
    for (const folder of written) accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    return `${callsDb.name} needs a folder that can be written to: ${reasonOfFile(error)}`;
  }
  const { pricesFile: path } = calls;
  if (path === undefined) return undefined;
  const text = readText(path);
  if (text === undefined)
    return `${pricesFile.name} must name a file that can be read: ${whyUnreadable(path)}`;
  const read = readPrices(text);
  return read.ok ? undefined : `${pricesFile.name} must name a price table: ${read.error}`;
}

export interface CallRecordsOptions {
  readonly settings: Pick<ServerSettings, 'calls' | 'logLevel'>;
  /** Of all versions that calls may have. */
  readonly afterCall: () => AfterCallVersions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<
    SupervisorMetrics,
    'callRecords' | 'callRecordsWaiting' | 'callRecordsWaitingBytes' | 'callRecordsOldest'
  >;
  /** Calls of workers that are gone and that wait for another one. */
  readonly moving: () => number;
}

export class CallRecords {
  readonly #options: CallRecordsOptions;
  #child: ChildProcess | undefined;
  #startedAt = 0;
  #deaths = 0;
  #timer: Timer | undefined;
  #isLeaving = false;
  #gone: (() => void) | undefined;
  /** Waits for a child that still loads. */
  #becameReady: (() => void) | undefined;
  #isReady = false;
  #moving: number | undefined;
  /** Hashes of versions that the process was told of. */
  #told = new Set<string>();
  #isOutdated = false;
  readonly #open = new Map<number, (value: unknown) => void>();
  #lastAsk = 0;

  constructor(options: CallRecordsOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#options.settings.calls !== undefined;
  }

  start(): void {
    const { settings, clock, log } = this.#options;
    const { calls } = settings;
    if (calls === undefined || this.#isLeaving) return;
    this.#startedAt = clock.now();
    const child = fork(new URL('./calls/process/main.js', import.meta.url), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    child.on('error', ({ message }) =>
      log.error({ child: 'records', error: message }, 'child process error'),
    );
    child.on('message', (message) => this.#take(message as FromRecords));
    if (child.pid === undefined) {
      this.#startLater();
      return;
    }
    this.#child = child;
    child.once('exit', (code, signal) => this.#died(code, signal));
    this.#told = new Set();
    child.send({ ...setupOf(calls, settings.logLevel), afterCall: this.#news() });
  }

  /** Tells how many calls are on their way between workers, when that has changed. */
  look(): void {
    if (!this.#isReady) return;
    const count = this.#options.moving();
    if (count === this.#moving) return;
    this.#moving = count;
    this.#send({ type: 'moving', count });
  }

  /** Calls may have other versions of agents from now on. */
  versionsChanged(): void {
    this.#isOutdated = true;
    if (this.#isReady) this.#send({ type: 'after_call', ...this.#news() });
  }

  #news(): AfterCallVersions {
    const { versions, kept, inForce } = this.#options.afterCall();
    const isNew = versions.filter(({ version }) => !this.#told.has(version));
    this.#told = new Set(versions.map(({ version }) => version));
    this.#isOutdated = false;
    return { versions: isNew, kept, inForce };
  }

  /** Undefined where nobody answers in time. */
  async ask(question: RecordsQuestion): Promise<unknown> {
    return await new Promise((resolved) => {
      this.#lastAsk += 1;
      const ask = this.#lastAsk;
      const answer = (value: unknown): void => {
        timer.cancel();
        this.#open.delete(ask);
        resolved(value);
      };
      const timer = this.#options.clock.after(answerWithinMs, () => answer(undefined));
      this.#open.set(ask, answer);
      if (!this.#send({ type: 'ask', ask, question })) answer(undefined);
    });
  }

  /** Another supervisor looks after records, or nobody does any more. Resolves when the process is gone. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#timer?.cancel();
    const child = this.#child;
    if (child === undefined) return;
    await new Promise<void>((resolved) => {
      const timer = this.#options.clock.after(recordsLeaveWithinMs, () => child.kill('SIGKILL'));
      this.#gone = () => {
        timer.cancel();
        resolved();
      };
      const part = (): void => {
        if (child.connected) child.disconnect();
      };
      // A process that still loads would leave without its setup, and the records of ended calls would wait for the next start.
      if (this.#isReady) part();
      else this.#becameReady = part;
    });
  }

  #send(message: ToRecords): boolean {
    const child = this.#child;
    if (child?.connected !== true) return false;
    child.send(message);
    return true;
  }

  #take(message: FromRecords): void {
    const { callRecords, callRecordsWaiting, callRecordsWaitingBytes, callRecordsOldest } =
      this.#options.metrics;
    switch (message.type) {
      case 'ready':
        // Before that it hears nothing but how it is set up.
        this.#moving = undefined;
        this.#isReady = true;
        this.#becameReady?.();
        this.look();
        if (this.#isOutdated) this.versionsChanged();
        return;
      case 'answer':
        this.#open.get(message.ask)?.(message.value && parseJson(message.value));
        return;
      case 'counts':
        callRecords.inc({ what: 'kept' }, message.kept);
        callRecords.inc({ what: 'dropped' }, message.dropped);
        callRecordsWaiting.set(message.waiting);
        callRecordsWaitingBytes.set(message.bytes);
        callRecordsOldest.set(message.oldestForMs / 1000);
        return;
    }
  }

  #died(code: number | null, signal: string | null): void {
    const { log, clock } = this.#options;
    this.#child = undefined;
    this.#isReady = false;
    for (const answer of this.#open.values()) answer(undefined);
    this.#gone?.();
    if (this.#isLeaving) return;
    log.error({ child: 'records', code, signal }, 'child process died');
    if (clock.now() - this.#startedAt >= provenMs) this.#deaths = 0;
    this.#startLater();
  }

  #startLater(): void {
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#deaths);
    this.#deaths += 1;
    this.#timer = this.#options.clock.after(pauseMs, () => this.start());
  }
}

const dayMs = 86_400_000;

function setupOf(
  calls: NonNullable<ServerSettings['calls']>,
  logLevel: ServerSettings['logLevel'],
): Omit<RecordsSetup, 'afterCall'> {
  const { database, spool, mostSpoolBytes, keepDays, pricesFile } = calls;
  const prices = pricesFile === undefined ? undefined : readText(pricesFile);
  return {
    type: 'setup',
    logLevel,
    database: database.reveal(),
    spool: resolve(spool),
    mostSpoolBytes,
    keepMs: keepDays * dayMs,
    ...(prices !== undefined && { prices }),
  };
}
