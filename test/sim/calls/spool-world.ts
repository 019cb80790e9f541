/**
 * A spool with all that has to do with it: workers that write and die, a disk that is full at times, a database that is gone at times or loses
 * its answers, and the process that makes records, which may die at each of its steps. Time is virtual; one seed is one world.
 */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import type { CallEndCode } from '../../../shared/calls/ends.ts';
import { readFact, type CallFact } from '../../../shared/calls/facts.ts';
import type { CallRecord } from '../../../shared/calls/record.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { RecordMaker } from '../../../records/record-maker.ts';
import type { SpoolFile, SpoolFolder } from '../../../records/spool-folder.ts';
import { spoolFile } from '../../../shared/calls/spool.ts';
import { SpoolWriter, type SpoolDisk } from '../../../worker/calls/spool-writer.ts';
import { headFact, startedMs } from '../../support/calls/records.ts';

interface File {
  text: string;
  writtenMs: number;
}

type Place = 'open' | 'ended';

/** What a call should leave behind. */
export interface Expected {
  readonly id: string;
  /** Something of it reached the disk. */
  isKnown: boolean;
  /** How it ended, once that is on the disk. */
  ended: CallEndCode | undefined;
  /** Turns of which a line is on the disk. */
  readonly turns: Set<number>;
  /** Milliseconds of voice whose lines are on the disk. */
  voiceMs: number;
}

/** The supervisor gives a call to another worker within this time, or gives it up. */
const longestMoveMs = 30_000;

const codes: readonly CallEndCode[] = ['caller_hung_up', 'agent_ended', 'refused', 'shutdown', 'transferred'];

class VirtualClock implements Clock {
  #now = 0;
  readonly #timers = new Map<object, { readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): Timer {
    const key = {};
    this.#timers.set(key, { at: this.#now + delayMs, callback });
    return { cancel: () => void this.#timers.delete(key) };
  }

  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(([, { at }]) => at <= until)
        .toSorted((a, b) => a[1].at - b[1].at)[0];
      if (due === undefined) break;
      this.#timers.delete(due[0]);
      this.#now = Math.max(this.#now, due[1].at);
      due[1].callback();
    }
    this.#now = until;
  }
}

/** A worker with the calls that it has. */
class SimWorker {
  readonly name: { readonly pid: number; readonly since: string };
  readonly writer: SpoolWriter;
  readonly calls = new Set<Expected>();
  isAlive = true;

  constructor(pid: number, clock: Clock, diskOf: (pid: number) => SpoolDisk) {
    const disk = diskOf(pid);
    this.name = { pid, since: `boot-${pid}` };
    this.writer = new SpoolWriter({
      disk: {
        append: (name, text, done) => (this.isAlive ? disk.append(name, text, done) : undefined),
        touch: (name) => (this.isAlive ? disk.touch(name) : undefined),
        end: (name, done) => (this.isAlive ? disk.end(name, done) : undefined),
      },
      clock,
      failed: () => undefined,
      leftOut: () => undefined,
    });
  }
}

export class SpoolWorld {
  readonly #prng: Prng;
  readonly #clock = new VirtualClock();
  readonly #files: Record<Place, Map<string, File>> = { open: new Map(), ended: new Map() };
  readonly kept = new Map<string, CallRecord[]>();
  readonly expected: Expected[] = [];
  readonly dropped: string[] = [];
  #workers: SimWorker[] = [];
  #supervisor = 1;
  #pids = 1;
  #isDiskFull = false;
  #isDatabaseGone = false;
  /** Calls of dead workers that the supervisor is about to give to others. */
  readonly #moving: Expected[] = [];
  #movesSince = 0;
  #stillSince = 0;
  /** Nothing fails any more. */
  #isHealed = false;
  /** Of the process that makes records. */
  #life = { isOver: false };
  #maker = this.#newMaker();

  constructor(seed: number) {
    this.#prng = newPrng(seed);
  }

  async run(): Promise<void> {
    const steps = 20 + this.#prng.below(60);
    for (let step = 0; step < steps; step += 1) await this.#step();
    await this.#heal();
  }

  async #step(): Promise<void> {
    const prng = this.#prng;
    this.#clock.pass(prng.pick([1, 50, 300, 2_500]));
    if (this.#clock.now() - this.#movesSince > longestMoveMs) this.#takeUp();
    const what = prng.below(12);
    if (what <= 2) this.#begin();
    else if (what <= 5) this.#talk();
    else if (what === 6) this.#end();
    else if (what === 7) this.#killWorker();
    else if (what === 8) this.#takeUp();
    else if (what === 9) this.#isDiskFull = prng.chance(0.3);
    else if (what === 10) this.#isDatabaseGone = prng.chance(0.3);
    else if (prng.chance(0.1)) this.#killSupervisor();
    await this.#look();
  }

  // ---- calls ----

  #worker(): SimWorker {
    const alive = this.#workers.filter(({ isAlive }) => isAlive);
    if (alive.length > 0 && this.#prng.chance(0.8)) return this.#prng.pick(alive);
    this.#pids += 1;
    const worker = new SimWorker(this.#pids, this.#clock, (pid) => this.#diskOf(pid));
    this.#workers.push(worker);
    return worker;
  }

  #open(worker: SimWorker, call: Expected): void {
    worker.calls.add(call);
    const parent = { pid: this.#supervisor, since: 'supervisor' };
    this.#write(worker, call, headFact({ id: call.id, call: call.id, started: startedMs }), true);
    this.#write(worker, call, { t: 'worker', at: this.#at, ...worker.name, parent }, true);
  }

  #begin(): void {
    const id = `call-${this.expected.length}`;
    const call: Expected = { id, isKnown: false, ended: undefined, turns: new Set(), voiceMs: 0 };
    this.expected.push(call);
    this.#open(this.#worker(), call);
  }

  #talk(): void {
    const found = this.#any();
    if (found === undefined) return;
    const epoch = this.#prng.below(6);
    this.#write(...found, { t: 'turn', at: this.#at, epoch });
    this.#write(...found, {
      ...{ t: 'tally', at: this.#at, caller: 1 + this.#prng.below(1_000), silence: this.#prng.below(1_000) },
      ...(this.#prng.chance(0.5) && { begins: true }),
    });
  }

  #end(): void {
    const found = this.#any();
    if (found === undefined) return;
    const [worker, call] = found;
    worker.calls.delete(call);
    worker.writer.end(call.id, { t: 'end', at: this.#at, code: this.#prng.pick(codes) } as CallFact);
  }

  #killWorker(): void {
    const alive = this.#workers.filter(({ isAlive }) => isAlive);
    if (alive.length === 0) return;
    const worker = this.#prng.pick(alive);
    worker.isAlive = false;
    // A call whose end is decided is taken up by nobody, as one that no record of the hand-over knows.
    if (this.#moving.length === 0) this.#movesSince = this.#clock.now();
    for (const call of worker.calls) if (this.#prng.chance(0.7)) this.#moving.push(call);
  }

  #takeUp(): void {
    if (this.#moving.length > 0) this.#stillSince = this.#clock.now();
    for (const call of this.#moving.splice(0)) this.#open(this.#worker(), call);
  }

  #killSupervisor(): void {
    for (const worker of this.#workers) worker.isAlive = false;
    this.#workers = [];
    this.#moving.length = 0;
    this.#stillSince = this.#clock.now();
    this.#pids += 1;
    this.#supervisor = this.#pids;
    this.#maker = this.#newMaker();
  }

  #any(): [SimWorker, Expected] | undefined {
    const all = this.#workers
      .filter(({ isAlive }) => isAlive)
      .flatMap((worker) => [...worker.calls].map((call): [SimWorker, Expected] => [worker, call]));
    return all.length === 0 ? undefined : this.#prng.pick(all);
  }

  #write(worker: SimWorker, call: Expected, fact: CallFact, isVital = false): void {
    worker.writer.write(call.id, fact, { isVital });
  }

  get #at(): number {
    return Math.round(this.#clock.now());
  }

  // ---- the disk ----

  get #wallMs(): number {
    return startedMs + this.#clock.now();
  }

  readonly #diskOf = (pid: number): SpoolDisk => ({
    append: (name, text, done) => {
      const isFull = this.#isDiskFull && !this.#isHealed;
      const taken = isFull ? text.slice(0, this.#prng.below(text.length)) : text;
      const file = this.#files.open.get(name) ?? { text: '', writtenMs: 0 };
      this.#files.open.set(name, file);
      if (taken !== '') Object.assign(file, { text: file.text + taken, writtenMs: this.#wallMs });
      this.#note(`${pid} ${name}`, name, taken);
      this.#clock.after(1, () => done(isFull ? 'ENOSPC' : undefined));
    },
    touch: (name) => void Object.assign(this.#files.open.get(name) ?? {}, { writtenMs: this.#wallMs }),
    end: (name, done) => {
      this.#move(name);
      this.#clock.after(1, () => done());
    },
  });

  #move(name: string): void {
    const file = this.#files.open.get(name);
    if (file !== undefined) this.#files.ended.set(name, file);
    this.#files.open.delete(name);
  }

  /** Lines that are on the disk now. */
  #note(writer: string, name: string, text: string): void {
    const call = this.expected.find(({ id }) => spoolFile(id) === name);
    for (const line of text.split('\n')) {
      const fact = readFact(line);
      if (call === undefined || fact === undefined || call.ended !== undefined) continue;
      if (fact.t === 'call') call.isKnown = true;
      if (fact.t === 'end') call.ended = fact.code;
      if (fact.t === 'turn') call.turns.add(fact.epoch);
      const key = `${writer} ${fact.n}`;
      if (fact.t === 'tally' && !this.#counted.has(key)) call.voiceMs += fact.caller ?? 0;
      this.#counted.add(key);
    }
  }

  readonly #counted = new Set<string>();

  // ---- the process of records ----

  #newMaker(): RecordMaker {
    const files = this.#files;
    const list = (where: Place): readonly SpoolFile[] =>
      [...files[where]]
        .map(([name, { text, writtenMs }]) => ({ name, bytes: text.length, writtenMs }))
        .toSorted((a, b) => a.writtenMs - b.writtenMs);
    // A process that has died does nothing more.
    const life = { isOver: false };
    this.#life = life;
    const mayDie = (): void => {
      life.isOver ||= !this.#isHealed && this.#prng.chance(0.03);
      if (life.isOver) throw new Error('the process of records is dead');
    };
    const step = async <T>(work: () => T): Promise<T> => {
      await Promise.resolve();
      mayDie();
      const done = work();
      mayDie();
      return done;
    };
    const spool: SpoolFolder = {
      list: (where) => step(() => list(where)),
      read: (where, name) => step(() => files[where].get(name)?.text),
      end: (name) => step(() => this.#move(name)),
      remove: (name) => step(() => void files.ended.delete(name)),
    };
    return new RecordMaker({
      spool,
      store: () => Promise.resolve({ insert: (record) => step(() => this.#insert(record)) }),
      hooks: [],
      priced: (record) => record,
      mostBytes: Number.POSITIVE_INFINITY,
      wallNow: () => this.#wallMs,
      who: {
        isAlive: ({ pid, since }) =>
          since === 'supervisor'
            ? pid === this.#supervisor
            : this.#workers.some(({ name, isAlive }) => name.pid === pid && isAlive),
        stillForMs: () => (this.#moving.length === 0 ? this.#clock.now() - this.#stillSince : 0),
      },
      dropped: (names) => void this.dropped.push(...names),
      refused: () => undefined,
    });
  }

  /** What was committed stays, also where nobody hears of it. */
  #insert(record: CallRecord): boolean {
    if (this.#isDatabaseGone && !this.#isHealed) throw new Error('the database is gone');
    const known = this.kept.get(record.id);
    if (known !== undefined) return false;
    this.kept.set(record.id, [record]);
    return true;
  }

  async #look(): Promise<void> {
    // The database may be gone, or the process.
    await this.#maker.look().catch(() => undefined);
    if (this.#life.isOver) this.#maker = this.#newMaker();
  }

  /** Everything works again, calls that run are ended, and what nobody took up is found. */
  async #heal(): Promise<void> {
    this.#isHealed = true;
    this.#takeUp();
    for (let round = 0; round < 8; round += 1) {
      this.#clock.pass(20_000);
      if (round === 1) while (this.#any() !== undefined) this.#end();
      await this.#look();
    }
  }

  /** What is left on the disk. */
  get left(): readonly string[] {
    return [...this.#files.open.keys(), ...this.#files.ended.keys()];
  }
}
