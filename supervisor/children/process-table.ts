/**
 * Which child processes should exist and what each is doing, as a pure machine. A child that ends without being asked to is
 * started again, at once the first time and later with growing pauses. It starts and kills nothing itself. Pure.
 */
import type { Millis } from '../../shared/base/units.ts';

export type ChildRole = 'worker' | 'inference';

export type ChildPhase =
  | { readonly phase: 'starting'; readonly since: Millis }
  | { readonly phase: 'ready' }
  /** Finishes its calls and is replaced when it exits. */
  | { readonly phase: 'leaving' }
  | { readonly phase: 'waiting'; readonly until: Millis };

export interface ChildRow {
  readonly role: ChildRole;
  readonly index: number;
  state: ChildPhase;
  /** Ends in a row, each soon after the one before. */
  failures: number;
  lastEndAt: Millis | undefined;
}

export interface ProcessTable {
  readonly rows: readonly ChildRow[];
  /** Workers that calls are given to. One row more than these is the spare's. */
  readonly workers: number;
  /** Index of the worker that waits for another to die; it is ready and has no calls. */
  spare: number | undefined;
  /** How many children may make their first start at the same time. */
  readonly startsAtOnce: number;
  /** Which children are replaced: all; while the last calls end only a last worker, without which they would be lost; none any more. */
  course: 'serving' | 'draining' | 'closed';
}

export interface ForkOrder {
  readonly role: ChildRole;
  readonly index: number;
}

/** A child that lived longer than this has proved itself: its end starts a new count. */
const provenMs = 30_000;
const firstPauseMs = 200;
const longestPauseMs = 5_000;
/** One that was ready can start: whatever killed it, the calls that it had wait for the next one in silence. */
const longestPauseOfReadyMs = 500;
/** With a spare in its place a worker is not missed; its successor's start must not slow down the calls that move. */
const coveredPauseMs = 3_000;
/** After this many ends in a row a human has to look. The child is still tried again. */
const failureBudget = 6;
/** A child that is not ready by then hangs. */
const startWithinMs = 30_000;

export function newProcessTable(
  workers: number,
  options: { readonly spare?: boolean; readonly startsAtOnce?: number } = {},
): ProcessTable {
  const { spare = false, startsAtOnce = Number.POSITIVE_INFINITY } = options;
  const workerRows = spare ? workers + 1 : workers;
  const row = (role: ChildRole, index: number): ChildRow => ({
    role,
    index,
    state: { phase: 'waiting', until: 0 },
    failures: 0,
    lastEndAt: undefined,
  });
  return {
    rows: [row('inference', 0), ...Array.from({ length: workerRows }, (_, index) => row('worker', index))],
    workers,
    spare: undefined,
    startsAtOnce,
    course: 'serving',
  };
}

export function rowOf(table: ProcessTable, role: ChildRole, index: number): ChildRow | undefined {
  return table.rows.find((row) => row.role === role && row.index === index);
}

export function childReady(table: ProcessTable, row: ChildRow): void {
  if (row.state.phase !== 'starting') return;
  row.state = { phase: 'ready' };
  if (row.role === 'worker' && readyWorkers(table).length > table.workers) table.spare = row.index;
}

/** The child asked to be replaced, or was found unfit: it takes no new work. */
export function childLeaving(table: ProcessTable, row: ChildRow): void {
  row.state = { phase: 'leaving' };
  promoteSpare(table);
}

/** The spare becomes a worker like the others as soon as one of them is missing. */
function promoteSpare(table: ProcessTable): void {
  const { spare } = table;
  if (spare === undefined) return;
  const isThere = rowOf(table, 'worker', spare)?.state.phase === 'ready';
  if (!isThere || readyWorkers(table).length < table.workers) table.spare = undefined;
}

/** The process is gone, for whatever reason. */
export function childGone(table: ProcessTable, row: ChildRow, now: Millis): void {
  const { phase } = row.state;
  const asked = phase === 'leaving';
  const soon = row.lastEndAt !== undefined && now - row.lastEndAt < provenMs;
  row.failures = asked ? 0 : soon ? row.failures + 1 : 1;
  row.lastEndAt = now;
  row.state = { phase: 'waiting', until: now + pauseMs(row.failures, phase === 'ready') };
  promoteSpare(table);
}

/** When a child that waits may be started; later for a worker that died and is not missed. */
function dueAt(table: ProcessTable, row: ChildRow): Millis | undefined {
  if (row.state.phase !== 'waiting') return undefined;
  const { until } = row.state;
  const isMissed = row.role !== 'worker' || readyWorkers(table).length < table.workers;
  if (isMissed || row.lastEndAt === undefined || row.failures === 0) return until;
  return Math.max(until, row.lastEndAt + coveredPauseMs);
}

const pauseMs = (failures: number, wasReady: boolean): Millis =>
  failures <= 1
    ? 0
    : Math.min(wasReady ? longestPauseOfReadyMs : longestPauseMs, firstPauseMs * 2 ** (failures - 2));

/** The child has used up its budget of ends in a row with this one. */
export const usedUp = (row: ChildRow): boolean => row.failures === failureBudget;

/** Some child dies again and again: readiness falls until one start of it has lasted. */
export const anyFailing = (table: ProcessTable): boolean =>
  table.rows.some((row) => row.failures >= failureBudget && row.state.phase !== 'ready');

/** Whether a child hangs. `silentMs` is the age of the last sign of life of its event loop. */
export function hangs(row: ChildRow, at: { now: Millis; silentMs: Millis; hangMs: Millis }): boolean {
  switch (row.state.phase) {
    case 'starting':
      return at.now - row.state.since > startWithinMs;
    case 'ready':
    case 'leaving':
      return at.silentMs > at.hangMs;
    case 'waiting':
      return false;
  }
}

/** Children to start now. They count as starting from here on. */
export function dueForks(table: ProcessTable, now: Millis): ForkOrder[] {
  const orders: ForkOrder[] = [];
  for (const row of table.rows) {
    if ((dueAt(table, row) ?? Infinity) > now || isHeldBack(table, row) || !isReplaced(table, row)) continue;
    row.state = { phase: 'starting', since: now };
    orders.push({ role: row.role, index: row.index });
  }
  return orders;
}

function isReplaced(table: ProcessTable, { role }: ChildRow): boolean {
  if (table.course !== 'draining') return table.course === 'serving';
  return (
    role === 'worker' && table.rows.every((row) => row.role !== 'worker' || row.state.phase === 'waiting')
  );
}

/** The spare is started once everything else is there: it must not slow the start of what callers wait for. */
function isHeldBack(table: ProcessTable, row: ChildRow): boolean {
  const starting = table.rows.filter(({ state }) => state.phase === 'starting');
  if (row.lastEndAt === undefined && starting.length >= table.startsAtOnce) return true;
  if (row.role !== 'worker' || row.index < table.workers) return false;
  return (
    starting.some((other) => other.index < table.workers) ||
    table.rows.some(
      (other) =>
        other.index < table.workers && other.lastEndAt === undefined && other.state.phase === 'waiting',
    )
  );
}

/** When `dueForks` has something to say next. */
export function nextFork(table: ProcessTable): Millis | undefined {
  const times = table.rows.flatMap((row) =>
    isHeldBack(table, row) || !isReplaced(table, row) ? [] : [dueAt(table, row) ?? []].flat(),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Workers that take calls: the spare is not among them. */
export const readyWorkers = (table: ProcessTable): number[] =>
  reachableWorkers(table).filter((worker) => worker !== table.spare);

/** Workers that answer, the spare among them. */
export const reachableWorkers = (table: ProcessTable): number[] =>
  table.rows.filter((row) => row.role === 'worker' && row.state.phase === 'ready').map((row) => row.index);

/** Everything that calls need is there. */
export const allReady = (table: ProcessTable): boolean =>
  inferenceReady(table) && readyWorkers(table).length >= table.workers;

export const inferenceReady = (table: ProcessTable): boolean =>
  rowOf(table, 'inference', 0)?.state.phase === 'ready';
