/**
 * The circuit breakers of providers, shared by all calls of all workers: one for each provider of the service's own agent, and for other agents one
 * for each provider and key, so that a key that is refused or spent stops nobody else's calls. Their state is a line of 16 integers in the
 * control page of the shared memory; every worker applies the same rules to it, and nobody asks anybody. Lines by key are many and
 * bounded: the one used longest ago is given to the next key.
 *
 * Invariant: while a breaker is open, one use at a time machine-wide tries the provider (the probe), and only such a use
 * closes it. A probe whose worker died is replaced after {@link probeExpiresMs}. Pure: time is an argument, in milliseconds
 * of the machine's monotonic clock.
 */
import { createHash } from 'node:crypto';
import { assert } from '../base/assert.ts';
import type { StageName } from '../config/stages/declaration.ts';

/** Stages with providers, and the providers of a stage, in the order of their lines. */
export const breakerStages = ['stt', 'llm', 'tts', 'realtime'] as const satisfies readonly StageName[];
export const providerRoles = ['primary', 'secondary'] as const;
export type ProviderRole = (typeof providerRoles)[number];

const lineInts = 16;
const ownLines = breakerStages.length * providerRoles.length;
/** A key has its line among so many. */
const ways = 8;
const buckets = 128;
const keyLines = ways * buckets;
/** The last line counts uses, by which the line used longest ago is known. */
export const breakerInts = (ownLines + keyLines + 1) * lineInts;

/** So many failures without a success between them open a breaker, however few uses there were. */
const failuresInARow = 5;
/** So many failures open it when they are at least half of what the window holds. */
const failuresInWindow = 3;
/** The window is this half and the one before it. */
const halfWindowMs = 30_000;
const firstPauseMs = 2_000;
/** Pauses double with each probe that fails, up to this; what a provider asks for is bounded by it too. */
const longestPauseMs = 60_000;
/** A probe that has not come to anything in this time is taken for lost. */
export const probeExpiresMs = 20_000;

/** Word of each fact. Moments are 31 bits of milliseconds and never 0, which stands for "none". */
const cell = {
  openedAt: 0,
  pauseMs: 1,
  probeAt: 2,
  even: 3,
  odd: 4,
  inARow: 5,
  opened: 6,
  succeeded: 7,
  /** Of a line by key: whose it is, 0 for nobody's, and when it was used last, in uses of any. */
  owner: 8,
  usedAt: 9,
} as const;

const stateCells = [
  ...[cell.openedAt, cell.pauseMs, cell.probeAt, cell.even, cell.odd],
  ...[cell.inARow, cell.opened, cell.succeeded],
];

/** A count of uses: the number of the half window in 10 bits, failures and successes in 11 bits each. */
const countBits = 11;
const mostCounted = 2 ** countBits - 1;
const halfMask = 0x3ff;

interface HalfCount {
  readonly half: number;
  readonly failures: number;
  readonly successes: number;
}

const unpack = (word: number): HalfCount => ({
  half: (word >>> (2 * countBits)) & halfMask,
  failures: (word >>> countBits) & mostCounted,
  successes: word & mostCounted,
});

const pack = ({ half, failures, successes }: HalfCount): number =>
  (half << (2 * countBits)) | (failures << countBits) | successes | 0;

const momentOf = (nowMs: number): number => Math.floor(nowMs) & 0x7fff_ffff || 1;
const ageOf = (moment: number, nowMs: number): number => (momentOf(nowMs) - moment) & 0x7fff_ffff;

/** Names a provider and its key, as 32 bits that are not 0. Nothing leads back from it to the key. */
const hashOf = (stage: StageName, identity: string): number =>
  createHash('sha256').update(`${stage}\n${identity}`).digest().readInt32LE(0) || 1;

export type BreakerState = 'closed' | 'half-open' | 'open';

/** The right to use a provider once. Its holder reports by it what came of the use. */
export interface Leave {
  readonly kind: 'usual' | 'probe' | 'forced';
  /** When the probe was claimed; 0 for other uses. */
  readonly probeAt: number;
}

const usual: Leave = { kind: 'usual', probeAt: 0 };
const forced: Leave = { kind: 'forced', probeAt: 0 };

export class Breaker {
  /** Looked up each time: a line by key may have been given to another key. */
  readonly #line: () => Int32Array;

  constructor(cells: Int32Array | (() => Int32Array)) {
    assert(typeof cells === 'function' || cells.length === lineInts, 'a breaker has one line');
    this.#line = typeof cells === 'function' ? cells : () => cells;
  }

  get #cells(): Int32Array {
    return this.#line();
  }

  state(nowMs: number): BreakerState {
    const openedAt = this.#load('openedAt');
    if (openedAt === 0) return 'closed';
    return ageOf(openedAt, nowMs) < this.#load('pauseMs') ? 'open' : 'half-open';
  }

  /** How often it has opened since the service started. */
  get timesOpened(): number {
    return this.#load('opened');
  }

  /** Uses that succeeded since the service started, modulo 2^32: who sees another number knows that it works again. */
  get successes(): number {
    return this.#load('succeeded');
  }

  /** Leave to use the provider; undefined while it is to be left alone. A probe must be settled by one of the reports. */
  ask(nowMs: number): Leave | undefined {
    const state = this.state(nowMs);
    if (state === 'closed') return usual;
    if (state === 'open') return undefined;
    const claimed = this.#load('probeAt');
    if (claimed !== 0 && ageOf(claimed, nowMs) < probeExpiresMs) return undefined;
    const probeAt = momentOf(nowMs);
    const isMine = Atomics.compareExchange(this.#cells, cell.probeAt, claimed, probeAt) === claimed;
    return isMine ? { kind: 'probe', probeAt } : undefined;
  }

  /** Leave for a use that has nowhere else to go. */
  force(): Leave {
    return this.#load('openedAt') === 0 ? usual : forced;
  }

  succeeded(leave: Leave, nowMs: number): void {
    Atomics.store(this.#cells, cell.inARow, 0);
    Atomics.add(this.#cells, cell.succeeded, 1);
    if (leave.kind !== 'usual') {
      this.#close();
      this.#release(leave);
    }
    this.#count(nowMs, 'successes');
  }

  /** @param pauseMs how long the provider asked to be left alone, or how long it is known to be of no use. */
  failed(leave: Leave, nowMs: number, { pauseMs }: { readonly pauseMs?: number | undefined } = {}): void {
    const row = Atomics.add(this.#cells, cell.inARow, 1) + 1;
    const window = this.#count(nowMs, 'failures');
    if (leave.kind === 'probe') {
      this.#open(nowMs, pauseMs ?? Math.max(firstPauseMs, this.#load('pauseMs') * 2));
      this.#release(leave);
      return;
    }
    const isBroken =
      row >= failuresInARow || (window.failures >= failuresInWindow && window.failures >= window.successes);
    if (pauseMs === undefined && !isBroken) return;
    const isOpen = this.#load('openedAt') !== 0;
    // Uses that began before it opened tell nothing new, unless the provider names a time.
    if (!isOpen || pauseMs !== undefined) this.#open(nowMs, pauseMs ?? firstPauseMs);
  }

  /** The use ended before it showed anything. */
  abandoned(leave: Leave): void {
    this.#release(leave);
  }

  #load(name: keyof typeof cell): number {
    return Atomics.load(this.#cells, cell[name]);
  }

  #open(nowMs: number, pauseMs: number): void {
    Atomics.store(this.#cells, cell.pauseMs, Math.min(Math.max(1, Math.ceil(pauseMs)), longestPauseMs));
    const before = Atomics.exchange(this.#cells, cell.openedAt, momentOf(nowMs));
    if (before === 0) Atomics.add(this.#cells, cell.opened, 1);
  }

  #close(): void {
    Atomics.store(this.#cells, cell.openedAt, 0);
    Atomics.store(this.#cells, cell.pauseMs, 0);
    // The failures that opened it say nothing about the provider as it is now.
    Atomics.store(this.#cells, cell.even, 0);
    Atomics.store(this.#cells, cell.odd, 0);
  }

  #release({ kind, probeAt }: Leave): void {
    if (kind === 'probe') Atomics.compareExchange(this.#cells, cell.probeAt, probeAt, 0);
  }

  /** Adds one to the present half window; gives what both halves hold then. */
  #count(nowMs: number, what: 'failures' | 'successes'): { failures: number; successes: number } {
    const half = Math.floor(nowMs / halfWindowMs) & halfMask;
    const isEven = half % 2 === 0;
    const at = isEven ? cell.even : cell.odd;
    let now: HalfCount;
    for (;;) {
      const word = Atomics.load(this.#cells, at);
      const found = unpack(word);
      const fresh = found.half === half ? found : { half, failures: 0, successes: 0 };
      now = { ...fresh, [what]: Math.min(mostCounted, fresh[what] + 1) };
      if (Atomics.compareExchange(this.#cells, at, word, pack(now)) === word) break;
    }
    const other = unpack(Atomics.load(this.#cells, isEven ? cell.odd : cell.even));
    const isRecent = other.half === ((half - 1) & halfMask);
    return {
      failures: now.failures + (isRecent ? other.failures : 0),
      successes: now.successes + (isRecent ? other.successes : 0),
    };
  }
}

/** Gives a provider its breaker. `identity` is the same for the same provider with the same key. */
export interface BreakerBook {
  of(stage: StageName, role: ProviderRole, identity?: string): Breaker;
}

/** The breakers of all providers of a service. */
export class Breakers implements BreakerBook {
  readonly #cells: Int32Array;

  /** @param cells {@link breakerInts} integers of shared memory, zero at first. */
  constructor(cells: Int32Array) {
    assert(cells.length === breakerInts, 'there is a line for each provider, and those by key');
    this.#cells = cells;
  }

  of(stage: StageName, role: ProviderRole): Breaker {
    return new Breaker(this.#own(stage, role));
  }

  /** The same by provider and key, for agents of whom there are many. */
  get byKey(): BreakerBook {
    return {
      of: (stage, role, identity = '') => {
        const owner = hashOf(stage, identity);
        // Where others take line after line at this very moment, the one of the stage stands in.
        return new Breaker(() => this.#lineOf(owner) ?? this.#own(stage, role));
      },
    };
  }

  #own(stage: StageName, role: ProviderRole): Int32Array {
    return this.#line(breakerStages.indexOf(stage) * providerRoles.length + providerRoles.indexOf(role));
  }

  #line(index: number): Int32Array {
    return this.#cells.subarray(index * lineInts, (index + 1) * lineInts);
  }

  #lineOf(owner: number): Int32Array | undefined {
    const first = ownLines + ((owner >>> 0) % buckets) * ways;
    const now = Atomics.add(this.#line(ownLines + keyLines), 0, 1);
    for (let attempt = 0; attempt < ways; attempt += 1) {
      let [oldest, age] = [first, -1];
      for (let index = first; index < first + ways; index += 1) {
        const line = this.#line(index);
        const found = Atomics.load(line, cell.owner);
        if (found === owner) {
          Atomics.store(line, cell.usedAt, now);
          return line;
        }
        const unused = found === 0 ? 0x8000_0000 : (now - Atomics.load(line, cell.usedAt)) >>> 1;
        if (unused > age) [oldest, age] = [index, unused];
      }
      const line = this.#line(oldest);
      const before = Atomics.load(line, cell.owner);
      if (Atomics.compareExchange(line, cell.owner, before, owner) !== before) continue;
      for (const at of stateCells) Atomics.store(line, at, 0);
      Atomics.store(line, cell.usedAt, now);
      return line;
    }
    return undefined;
  }
}
