/**
 * Finds children whose event loop hangs, by the heartbeats in shared memory. A hung child is alive for the kernel and gone
 * for its callers; it is killed, and from there on it is an ordinary death. A silent child may only be waiting for a processor of a
 * busy host, so it is given time, unless the kernel says that it is stopped, or that it has had a processor all the while.
 */
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import { type Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { ProcessState } from '../../shared/runtime/process-state.ts';
import { hangs, type ChildPhase, type ChildRow, type ProcessTable } from './process-table.ts';

/** When this process itself was held up for longer, its view of the others is old and proves nothing. */
const longestOwnGapMs = 1_000;
/** A child that was killed stands in the table until the kernel says that it is gone. */
const shortestPauseMs = 20;
/** A worker that was stopped by a signal comes back by another one, or never. */
const stoppedMs = 1_000;
/** A worker whose event loop has kept a processor busy for this long without a beat is in a circle. */
const spinningMs = 2_000;
/** That much of the time is all of it. */
const busyShare = 0.7;
/** Below this the kernel is not asked. */
const askedAfterMs = 600;
/** A worker that missed so many beats gets no new call while another is there: its caller would wait until it is found to hang. */
const drowsyMs = 1_000;
/** Calls hear loudness alone while inference is silent: after this long that is no hiccup any more. */
const unheardMs = 2_000;

export interface HangWatchOptions {
  readonly table: ProcessTable;
  readonly boxes: Mailboxes;
  /** Threads that judge the end of turns; none where there is no turn model. */
  readonly turnThreads: () => number;
  readonly hangMs: Millis;
  readonly log: Pick<Log, 'error'>;
  readonly kill: (row: ChildRow, why: 'hung' | 'stopped') => void;
  /** What the kernel says of a child; undefined where it says nothing. */
  readonly stateOf: (row: ChildRow) => ProcessState | undefined;
}

export class HangWatch {
  readonly #options: HangWatchOptions;
  #lookedAt: Millis | undefined;
  /** For children that are silent: how long they had been when they were first looked at, and what they had used by then. */
  readonly #silent = new WeakMap<ChildPhase, { readonly silentMs: Millis; readonly cpuMs: Millis }>();
  /** Lives of children that were ended here. */
  readonly #killed = new WeakSet<ChildPhase>();

  constructor(options: HangWatchOptions) {
    this.#options = options;
  }

  /**
   * Looks once; to be called several times a second, and again after the time that it returns: the callers of a hung child hear
   * nothing while it is not found. `now` is on this process's clock, as in the process table; `machineMs` is on the
   * machine's, as in heartbeats.
   */
  look(now: Millis, machineMs: Millis): Millis {
    const gapMs = now - (this.#lookedAt ?? Number.NEGATIVE_INFINITY);
    this.#lookedAt = now;
    const { table, hangMs, log, kill, stateOf } = this.#options;
    if (gapMs > longestOwnGapMs) return hangMs;
    let nextMs = hangMs;
    for (const row of table.rows) {
      const silentMs = this.#silentMs(row, machineMs);
      const patienceMs = this.#patienceMs(row, silentMs);
      if (row.state.phase === 'ready') nextMs = Math.min(nextMs, patienceMs - silentMs + 1);
      if (this.#killed.has(row.state) || !hangs(row, { now, silentMs, hangMs: patienceMs })) continue;
      this.#killed.add(row.state);
      log.error({ child: row.role, index: row.index }, 'a child hangs and is killed');
      kill(row, stateOf(row)?.stopped === true ? 'stopped' : 'hung');
    }
    return Math.max(shortestPauseMs, nextMs);
  }

  /** How long a child may be silent. */
  #patienceMs(row: ChildRow, silentMs: Millis): Millis {
    const { hangMs, stateOf } = this.#options;
    if (silentMs < askedAfterMs || row.state.phase === 'waiting') {
      this.#silent.delete(row.state);
      return hangMs;
    }
    // While inference is silent calls are judged by loudness: nobody waits for it.
    const state = row.role === 'worker' ? stateOf(row) : undefined;
    if (state === undefined) return hangMs;
    if (state.stopped) return Math.min(hangMs, stoppedMs);
    const first = this.#silent.get(row.state);
    if (first === undefined || first.silentMs > silentMs) {
      this.#silent.set(row.state, { silentMs, cpuMs: state.cpuMs });
      return hangMs;
    }
    const isBusy = state.cpuMs - first.cpuMs >= busyShare * (silentMs - first.silentMs);
    return isBusy ? Math.min(hangMs, spinningMs) : hangMs;
  }

  /** Those of the workers that showed a sign of life lately; all of them when none did. */
  awake(workers: readonly number[], machineMs: Millis): readonly number[] {
    const { boxes } = this.#options;
    const awake = workers.filter(
      (worker) => heartbeatAge(machineMs, boxes.workerStatus(worker).heartbeatMs) < drowsyMs,
    );
    return awake.length > 0 ? awake : workers;
  }

  /** A thread of inference has shown no sign of life for long, its process being there or not. */
  isInferenceSilent(machineMs: Millis): boolean {
    const row = this.#options.table.rows.find(({ role }) => role === 'inference');
    return row !== undefined && this.#silentMs(row, machineMs) >= unheardMs;
  }

  /** Inference is as alive as the thread that has been silent longest. */
  #silentMs(row: ChildRow, machineMs: Millis): Millis {
    const { boxes, turnThreads } = this.#options;
    if (row.role === 'worker') return heartbeatAge(machineMs, boxes.workerStatus(row.index).heartbeatMs);
    let silentMs = 0;
    for (let thread = 0; thread < boxes.layout.threads; thread += 1)
      silentMs = Math.max(silentMs, heartbeatAge(machineMs, boxes.threadHeartbeat(thread)));
    for (let thread = 0; thread < turnThreads(); thread += 1)
      silentMs = Math.max(silentMs, heartbeatAge(machineMs, boxes.turnThreadStatus(thread).heartbeatMs));
    return silentMs;
  }
}
