/** Looks at the spool again and again, and answers what the supervisor asks of the store. */
import { writeJson } from '../shared/base/exact-json.ts';
import { mkdirSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { FromRecords, RecordsQuestion, RecordsSetup, ToRecords } from '../shared/calls/messages.ts';
import { readPrices, withCost, type PriceTable } from '../shared/calls/prices.ts';
import { spoolFolders, spoolLock } from '../shared/calls/spool.ts';
import { systemClock, systemWallClock, type Timer } from '../shared/runtime/clock.ts';
import { takeLock } from '../shared/runtime/file-lock.ts';
import { errorFields, newLog, type Log } from '../shared/runtime/log.ts';
import { isRunning, nameOfProcess, type ProcessName } from '../shared/runtime/process-name.ts';
import type { CallStore } from './call-store.ts';
import { AfterCall } from './after-call.ts';
import { openDatabase } from './database.ts';
import { RecordMaker } from './record-maker.ts';
import { DiskSpool } from './spool-folder.ts';
import { SqlCallStore } from './sql-call-store.ts';

/** From one look at the spool to the next, unless something ends before. */
const lookEveryMs = 1_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const tellAgainMs = 60_000;
const retainEveryMs = 3_600_000;

export class RecordsProcess {
  readonly #setup: RecordsSetup;
  readonly #send: (message: FromRecords) => void;
  readonly #log: Log;
  readonly #supervisor: ProcessName | undefined = nameOfProcess(process.ppid);
  readonly #maker: RecordMaker;
  readonly #afterCall: AfterCall;
  readonly #prices: PriceTable | undefined;
  #store: CallStore | undefined;
  #unlock: (() => void) | undefined;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #isLooking = false;
  #looking: Promise<void> = Promise.resolve();
  #isLeaving = false;
  #stillSince = Infinity;
  #failures = 0;
  #toldAt = -Infinity;
  #retainedAt = -Infinity;
  /** Not at once: what waits since the process before may need what is old. */
  #tidiedAt = systemClock.now();
  #kept = 0;
  #dropped = 0;
  /** So many waited, as the supervisor knows it. */
  #toldWaiting = 0;

  constructor(setup: RecordsSetup, send: (message: FromRecords) => void) {
    this.#setup = setup;
    this.#send = send;
    this.#log = newLog({ role: 'records', level: setup.logLevel });
    const read = setup.prices === undefined ? undefined : readPrices(setup.prices);
    if (read?.ok === false)
      this.#log.error({ rule: read.error }, 'the price table cannot be read: records have no cost');
    this.#prices = read?.ok === true ? read.value : undefined;
    this.#afterCall = new AfterCall(setup, {
      log: this.#log,
      prices: this.#prices,
      store: () => this.#opened(),
    });
    this.#maker = this.#newMaker(setup);
  }

  run(): void {
    const { spool } = this.#setup;
    this.#makeFolders();
    this.#watcher = watch(join(spool, spoolFolders.ended), () => this.#lookIn(0));
    this.#watcher.on('error', () => undefined);
    this.#send({ type: 'ready' });
    this.#lookIn(0);
  }

  take(message: ToRecords): void {
    switch (message.type) {
      case 'setup':
        return;
      case 'ask':
        void this.#answer(message.ask, message.question);
        return;
      case 'after_call':
        this.#afterCall.know(message);
        return;
      case 'moving':
        this.#stillSince = message.count === 0 ? systemClock.now() : Infinity;
        return;
    }
  }

  /** Calls that have ended are brought into the database; then another process may look after the spool. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#timer?.cancel();
    this.#watcher?.close();
    await this.#looking;
    await this.#look();
    await this.#afterCall.close();
    await this.#store?.close();
    this.#unlock?.();
  }

  #lookIn(ms: number): void {
    if (this.#isLeaving || this.#isLooking) return;
    this.#timer?.cancel();
    this.#timer = systemClock.after(ms, () => {
      this.#looking = this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    let pauseMs = lookEveryMs;
    try {
      if (this.#failures > 0) this.#makeFolders();
      // Another supervisor, of which this one is the successor, may still have a process of its own there.
      this.#unlock ??= takeLock(join(this.#setup.spool, spoolLock));
      if (this.#unlock !== undefined) await this.#work();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      // The next one finds a server that has moved, and a file that is back.
      this.#forgetStore();
      pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1));
      if (!this.#isLeaving) this.#tell(error);
    } finally {
      this.#tellCounts();
      this.#isLooking = false;
      this.#lookIn(pauseMs);
    }
  }

  async #work(): Promise<void> {
    this.#kept += await this.#maker.look();
    const { keepMs } = this.#setup;
    const now = systemClock.now();
    if (now - this.#tidiedAt >= retainEveryMs) {
      this.#tidiedAt = now;
      this.#afterCall.tidy();
    }
    if (keepMs === undefined || now - this.#retainedAt < retainEveryMs) return;
    const erased = await (await this.#opened()).retain(systemWallClock.now() - keepMs);
    this.#retainedAt = now;
    if (erased > 0) this.#log.info({ erased }, 'records of calls were erased for their age');
  }

  #makeFolders(): void {
    for (const folder of Object.values(spoolFolders))
      mkdirSync(join(this.#setup.spool, folder), { recursive: true, mode: 0o700 });
  }

  /** Also where the database takes nothing: that is when somebody wants to know. */
  #tellCounts(): void {
    const { count: waiting, bytes, oldestMs } = this.#maker.waiting;
    const [kept, dropped] = [this.#kept, this.#dropped];
    if (kept === 0 && dropped === 0 && waiting === 0 && this.#toldWaiting === 0) return;
    const oldestForMs = oldestMs === undefined ? 0 : Math.max(0, systemWallClock.now() - oldestMs);
    this.#send({ type: 'counts', kept, dropped, waiting, bytes, oldestForMs });
    [this.#kept, this.#dropped, this.#toldWaiting] = [0, 0, waiting];
  }

  #forgetStore(): void {
    const store = this.#store;
    this.#store = undefined;
    // A server that does not answer is not waited for.
    void store?.close().catch(() => undefined);
  }

  async #opened(): Promise<CallStore> {
    this.#store ??= new SqlCallStore(await openDatabase(this.#setup.database));
    return this.#store;
  }

  #newMaker({ spool, mostSpoolBytes }: RecordsSetup): RecordMaker {
    return new RecordMaker({
      spool: new DiskSpool(spool),
      store: () => this.#opened(),
      hooks: [this.#afterCall],
      priced: (record) => (this.#prices === undefined ? record : withCost(record, this.#prices)),
      mostBytes: mostSpoolBytes,
      wallNow: () => systemWallClock.now(),
      who: {
        isAlive: isRunning,
        stillForMs: ({ pid, since }) =>
          pid === this.#supervisor?.pid && since === this.#supervisor.since
            ? systemClock.now() - this.#stillSince
            : -Infinity,
      },
      refused: (error) => this.#tell(error),
      dropped: (names) => {
        this.#dropped += names.length;
        this.#log.error(
          { calls: names.length },
          'records of calls were dropped: too many wait, or nothing can be read of them',
        );
      },
    });
  }

  async #answer(ask: number, question: RecordsQuestion): Promise<void> {
    try {
      const value = await this.#valueOf(question);
      this.#send({ type: 'answer', ask, value: writeJson(value) });
    } catch (error) {
      this.#tell(error);
      this.#send({ type: 'answer', ask });
    }
  }

  async #valueOf(question: RecordsQuestion): Promise<unknown> {
    const store = await this.#opened();
    switch (question.kind) {
      case 'list':
        return await store.list(question.query);
      case 'get':
        return (await store.get(question.id, question.tenant)) ?? null;
    }
  }

  #tell(error: unknown): void {
    const now = systemClock.now();
    if (now - this.#toldAt < tellAgainMs) return;
    this.#toldAt = now;
    const { count: waiting, bytes, oldestMs } = this.#maker.waiting;
    const oldest = oldestMs === undefined ? {} : { oldest: new Date(oldestMs).toISOString() };
    this.#log.error(
      { ...errorFields(error), waiting, bytes, ...oldest },
      'records of calls wait: the database or the spool cannot be used',
    );
  }
}
