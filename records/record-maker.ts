/**
 * Makes records of spools that ended, keeps them in the store, and takes the spools away. It finds calls that ended without a word: their
 * worker is gone, and nobody took them up.
 *
 * Invariant: a spool is taken away only when its record is in the store, or when there is no room for it; whenever this process dies in
 * between, the next one finds the spool again and the store knows the record.
 */
import { present } from '../shared/base/present.ts';
import { CallFold } from '../shared/calls/fold.ts';
import { readFact, type FactOf } from '../shared/calls/facts.ts';
import type { ProcessName } from '../shared/runtime/process-name.ts';
import type { CallRecord } from '../shared/calls/record.ts';
import type { CallStore, RecordHooks } from './call-store.ts';
import type { SpoolFile, SpoolFolder } from './spool-folder.ts';

export interface MakerOptions {
  readonly spool: SpoolFolder;
  /** Rejects where there is none at present. */
  readonly store: () => Promise<Pick<CallStore, 'insert'>>;
  readonly hooks: readonly RecordHooks[];
  /** Adds what a call cost. */
  readonly priced: (record: CallRecord) => CallRecord;
  readonly mostBytes: number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  readonly who: Processes;
  /** Spools that were dropped for want of room, or because nothing can be read of them. */
  readonly dropped: (names: readonly string[]) => void;
  /** The store did not take a record, and took others. */
  readonly refused: (error: unknown) => void;
}

/** What waits for the store. */
export interface Waiting {
  readonly count: number;
  readonly bytes: number;
  /** When the oldest of it ended, in milliseconds since 1970. */
  readonly oldestMs: number | undefined;
}

/** What is known of the processes that have calls. */
export interface Processes {
  readonly isAlive: (process: ProcessName) => boolean;
  /** For how long this supervisor has said that no call of a dead worker of its own waits for another worker. */
  readonly stillForMs: (supervisor: ProcessName) => number;
}

/** Who has a call, as its spool said when it was last written. */
interface Owned {
  readonly version: string;
  readonly owner: FactOf<'worker'> | undefined;
  readonly isEnded: boolean;
  /** The supervisor does not count it among those that move. */
  readonly mayMoveUnseen: boolean;
  /** When it was noticed that the owner is gone. */
  goneAt: number | undefined;
}

/** Another worker takes a call up within this time, or nobody does: longer than any wait of the hand-over (supervisor/handover). */
const takenUpWithinMs = 60_000;
/** The supervisor hears of the end of a worker, and a worker that has taken a call up has written so, within this time. */
const heardWithinMs = 3_000;
/** So many records in a row that are refused mean that the store takes none. */
const refusedInARow = 3;
/** A spool that was written to since belongs to a worker that is there. */
const quietMs = 2_000;

export class RecordMaker {
  readonly #options: MakerOptions;
  /** Open spools whose beginning was told: before, the call may be handed to another agent. */
  readonly #started = new Set<string>();
  readonly #owners = new Map<string, Owned>();
  readonly #refusals = new Map<string, number>();
  #waiting: readonly SpoolFile[] = [];

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** Spools that ended and wait for the store, as of the last look. */
  get waiting(): Waiting {
    const bytes = this.#waiting.reduce((sum, file) => sum + file.bytes, 0);
    return { count: this.#waiting.length, bytes, oldestMs: this.#waiting[0]?.writtenMs };
  }

  /** Looks at the whole spool once. Rejects where the store takes no record: all spools wait, but for the oldest where there are too many. */
  async look(): Promise<number> {
    await this.#lookAtOpen();
    const ended = await this.#withinBounds(await this.#options.spool.list('ended'));
    this.#waiting = ended;
    let kept = 0;
    const errors: unknown[] = [];
    for (const file of this.#inOrder(ended)) {
      try {
        if (await this.#keep(file)) kept += 1;
        this.#waiting = this.#waiting.filter((one) => one !== file);
      } catch (error) {
        errors.push(error);
        this.#refusals.set(file.name, (this.#refusals.get(file.name) ?? 0) + 1);
        if (kept === 0 && errors.length >= refusedInARow) break;
      }
    }
    if (errors.length > 0 && kept === 0) throw errors[0];
    if (errors.length > 0) this.#options.refused(errors[0]);
    return kept;
  }

  /** Those that were refused before come last, so that none of them stands in the way of others. */
  #inOrder(ended: readonly SpoolFile[]): readonly SpoolFile[] {
    const names = new Set(ended.map(({ name }) => name));
    for (const name of this.#refusals.keys()) if (!names.has(name)) this.#refusals.delete(name);
    const refusals = ({ name }: SpoolFile): number => this.#refusals.get(name) ?? 0;
    return ended.toSorted((a, b) => refusals(a) - refusals(b));
  }

  async #keep({ name, writtenMs }: SpoolFile): Promise<boolean> {
    const { spool, store, hooks, priced, dropped } = this.#options;
    const text = await spool.read('ended', name);
    if (text === undefined) return false;
    const fold = folded(text);
    await this.#tellStart(name, fold);
    const lastAt = Math.max(fold.lastAt, Math.round(writtenMs - (fold.head?.started ?? writtenMs)));
    const made = fold.record({ code: 'worker_lost', at: lastAt });
    if (made === undefined) {
      dropped([name]);
      await spool.remove(name);
      return false;
    }
    const record = priced(made);
    const isNew = await (
      await store()
    ).insert(record, async (one, connection) => {
      for (const hook of hooks) await hook.within?.(one, connection);
    });
    if (isNew) for (const hook of hooks) hook.kept?.(record);
    await spool.remove(name);
    this.#started.delete(name);
    return isNew;
  }

  async #lookAtOpen(): Promise<void> {
    const { spool, wallNow } = this.#options;
    const open = await spool.list('open');
    const names = new Set(open.map(({ name }) => name));
    for (const name of this.#owners.keys()) if (!names.has(name)) this.#owners.delete(name);
    for (const file of open) {
      const silentMs = wallNow() - file.writtenMs;
      const isSilent = silentMs >= quietMs;
      const isKnown = this.#owners.get(file.name)?.version === versionOf(file);
      if (!isKnown && (isSilent || !this.#started.has(file.name))) await this.#readOpen(file);
      const owned = this.#owners.get(file.name);
      if (isSilent && owned !== undefined && this.#isOver(owned, silentMs)) await spool.end(file.name);
    }
  }

  async #readOpen(file: SpoolFile): Promise<void> {
    const text = await this.#options.spool.read('open', file.name);
    if (text === undefined) return;
    const fold = folded(text);
    const { worker: owner, isEnded, head } = fold;
    const mayMoveUnseen = head?.transport === 'sip';
    if (fold.isSettled) await this.#tellStart(file.name, fold);
    this.#owners.set(file.name, {
      version: versionOf(file),
      owner,
      isEnded,
      mayMoveUnseen,
      goneAt: undefined,
    });
  }

  /** Its worker could not say where the spool belongs, or is gone for good. */
  #isOver(owned: Owned, silentMs: number): boolean {
    const { owner, isEnded, mayMoveUnseen } = owned;
    const { who, wallNow } = this.#options;
    if (isEnded) return true;
    // A full disk may have taken no line that says who has it.
    if (owner === undefined) return silentMs > takenUpWithinMs;
    if (who.isAlive(owner)) return false;
    owned.goneAt ??= wallNow();
    const { parent } = owner;
    const goneMs = wallNow() - owned.goneAt;
    if (!who.isAlive(parent) || goneMs > takenUpWithinMs) return true;
    return !mayMoveUnseen && Math.min(goneMs, who.stillForMs(parent)) >= heardWithinMs;
  }

  async #tellStart(name: string, { head }: CallFold): Promise<void> {
    if (head === undefined || this.#started.has(name)) return;
    this.#started.add(name);
    const { id, call: callId, direction, transport, from, to, started: startedAtMs } = head;
    const agent = present({ name: head.agent, version: head.version });
    const numbers = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    for (const hook of this.#options.hooks)
      await hook.started?.({ id, callId, agent, direction, transport, startedAtMs, ...numbers });
  }

  /** Drops the oldest where there are too many. */
  async #withinBounds(ended: readonly SpoolFile[]): Promise<readonly SpoolFile[]> {
    const { spool, mostBytes, dropped } = this.#options;
    let bytes = ended.reduce((sum, file) => sum + file.bytes, 0);
    const over = ended.filter((file) => {
      if (bytes <= mostBytes) return false;
      bytes -= file.bytes;
      return true;
    });
    if (over.length === 0) return ended;
    dropped(over.map(({ name }) => name));
    for (const { name } of over) await spool.remove(name);
    return ended.slice(over.length);
  }
}

/** Two writes may fall into one moment of the file system's clock. */
const versionOf = ({ writtenMs, bytes }: SpoolFile): string => `${writtenMs} ${bytes}`;

function folded(text: string): CallFold {
  const fold = new CallFold();
  for (const line of text.split('\n')) {
    const fact = readFact(line);
    if (fact !== undefined) fold.take(fact);
  }
  return fold;
}
