/**
 * The memory through which call workers hand audio to inference, and in which processes tell one another how they are: one control
 * page, then one mailbox per call slot (mailbox-slot.ts).
 */
import { assert } from '../base/assert.ts';
import { breakerInts, Breakers, type ProviderRole } from './breakers.ts';
import { heartbeatAge } from './heartbeat.ts';
import { frameBytes, headerBytes, Mailbox, maxUnreadFrames } from './mailbox-slot.ts';

const lineInts = 16;
/** Threads of one kind that the control page has lines for. */
export const maxThreads = 16;
const maxWorkers = 256;
const firstThreadLine = 1;
const firstWorkerLine = firstThreadLine + maxThreads;
const firstTurnLine = firstWorkerLine + maxWorkers;
const firstBreakerLine = firstTurnLine + maxThreads;
const controlBytes = Math.ceil(((firstBreakerLine * lineInts + breakerInts) * 4) / 4096) * 4096;
/** The first line: what concerns all. */
const serviceLine = { stopping: 0, turnQuestions: 1, mostSessions: 2, heartbeat: 3 } as const;
const threadLine = {
  heartbeat: 0,
  oldestUnread: 1,
  frames: 2,
  dropped: 3,
  runs: 4,
  state: 5,
  quiet: 6,
  cleaned: 7,
  noisy: 8,
} as const;
/** What a VAD thread does: one that is asleep has to be woken for what is written. */
export const asleepWord = 2;
const threadState = { awake: 0, gone: 1, asleep: asleepWord } as const;
const turnLine = { heartbeat: 0, waiting: 1, oldestAskedAt: 2, judged: 3, leftOut: 4 } as const;
/** Stands for "nothing waits"; heartbeats are never negative. */
const nothingWaits = -1;
/** A turn thread that has shown no life for this long waits for nothing: it is not there. */
const turnThreadGoneMs = 5_000;
const workerLine = {
  sleeping: 0,
  slotsInUse: 1,
  heartbeat: 2,
  calls: 3,
  worstLatenessUs: 4,
  /** Six counters: those of the primaries, then those of the secondaries. */
  requests: 5,
  sessions: 11,
  /** The slot of the call for which the worker works right now, plus one; 0 for none. */
  working: 12,
} as const;

/** Stages whose requests workers count, in the order of their counters. */
export const countedStages = ['stt', 'llm', 'tts'] as const;
export type CountedStage = (typeof countedStages)[number];

export interface MailboxLayout {
  readonly workers: number;
  readonly slotsPerWorker: number;
  /** Frames of history per slot; a power of two, at least 16. A turn model needs `turnRingFrames`. */
  readonly ringFrames: number;
  /** VAD threads. */
  readonly threads: number;
  /** Threads that judge the end of turns; without a turn model there are none. */
  readonly turnThreads?: number;
}

/** Frames of history that a slot needs for the 8 s that a turn model hears, and for what is written meanwhile. */
export const turnRingFrames = 256;

const slotBytes = (layout: MailboxLayout): number => headerBytes + layout.ringFrames * frameBytes;

/** A mapping is one array buffer, and the runtime makes none of 4 GiB or more. */
const mostBytes = 2 ** 32 - 1;

/** Slots that fit into one mapping with a ring of this length. */
export const mostSlots = (ringFrames: number): number =>
  Math.floor((mostBytes - controlBytes) / (headerBytes + ringFrames * frameBytes));

export function mailboxBytes(layout: MailboxLayout): number {
  assert(
    layout.workers <= maxWorkers && Math.max(layout.threads, layout.turnThreads ?? 0) <= maxThreads,
    'the control page has a line for each process',
  );
  assert(layout.ringFrames >= 2 * maxUnreadFrames, 'the ring is larger than what may be unread');
  assert(
    layout.workers * layout.slotsPerWorker <= mostSlots(layout.ringFrames),
    'the mailboxes fit into one mapping',
  );
  return controlBytes + layout.workers * layout.slotsPerWorker * slotBytes(layout);
}

export interface ThreadStatus {
  readonly heartbeatMs: number;
  /** Frames waiting in the fullest mailbox of this thread. */
  readonly oldestUnread: number;
  /** Frames that the model judged, that were left out, and that needed no judgement. */
  readonly frames: number;
  readonly dropped: number;
  readonly quiet: number;
  readonly runs: number;
  /** Frames whose noise was taken out, and those that VAD heard with it, because there was no time or no model. */
  readonly cleaned: number;
  readonly noisy: number;
}

export interface TurnThreadStatus {
  readonly heartbeatMs: number;
  /** Questions that waited when the thread last looked. */
  readonly waiting: number;
  readonly judged: number;
  /** Questions that came too late to be judged. */
  readonly leftOut: number;
}

/** Names the call of a slot while its worker works for it. */
export const markOfSlot = (slot: number): number => slot + 1;

/** One process's or thread's view of the memory. Heartbeats are milliseconds of the machine's monotonic clock, 31 bits. */
export class Mailboxes {
  readonly layout: MailboxLayout;
  readonly #memory: ArrayBuffer;
  readonly #control: Int32Array;

  constructor(memory: ArrayBuffer, layout: MailboxLayout) {
    assert(memory.byteLength === mailboxBytes(layout), 'the mapping has the size of its layout');
    this.layout = layout;
    this.#memory = memory;
    this.#control = new Int32Array(memory, 0, controlBytes / 4);
  }

  get slots(): number {
    return this.layout.workers * this.layout.slotsPerWorker;
  }

  /** The mailbox of a slot; make it once and keep it. */
  mailbox(slot: number): Mailbox {
    assert(slot >= 0 && slot < this.slots, 'the slot exists');
    const at = controlBytes + slot * slotBytes(this.layout);
    return new Mailbox(this.#memory, { at, ringFrames: this.layout.ringFrames });
  }

  get stopping(): boolean {
    return Atomics.load(this.#control, serviceLine.stopping) !== 0;
  }

  setStopping(stopping: boolean): void {
    Atomics.store(this.#control, serviceLine.stopping, stopping ? 1 : 0);
  }

  /** The supervisor shows that its event loop turns. */
  beatSupervisor(nowMs: number): void {
    Atomics.store(this.#control, serviceLine.heartbeat, nowMs);
  }

  /** 0 before its first beat. */
  get supervisorHeartbeat(): number {
    return Atomics.load(this.#control, serviceLine.heartbeat);
  }

  /**
   * How many sessions the workers of this supervisor may have in all (docs/reference/server-settings.md, `SVC_MAX_SESSIONS`); the supervisor sets it.
   */
  setMostSessions(count: number): void {
    Atomics.store(this.#control, serviceLine.mostSessions, count);
  }

  /** Calls that have begun, of all workers. */
  get sessions(): number {
    let sum = 0;
    for (let worker = 0; worker < this.layout.workers; worker += 1)
      sum += Atomics.load(this.#control, this.#workerAt(worker) + workerLine.sessions);
    return sum;
  }

  /** A call begins, where there is room for it: at the last place, two that begin at once may both find none. */
  claimSession(worker: number): boolean {
    this.addSessions(worker, 1);
    if (this.sessions <= Atomics.load(this.#control, serviceLine.mostSessions)) return true;
    this.addSessions(worker, -1);
    return false;
  }

  /** A call of another worker goes on in this one, or a call is over. */
  addSessions(worker: number, count: 1 | -1): void {
    Atomics.add(this.#control, this.#workerAt(worker) + workerLine.sessions, count);
  }

  /** The worker is gone, and so are its calls, or they are on their way to another one. */
  forgetSessions(worker: number): void {
    Atomics.store(this.#control, this.#workerAt(worker) + workerLine.sessions, 0);
  }

  threadStatus(thread: number): ThreadStatus {
    const at = (firstThreadLine + thread) * lineInts;
    const load = (field: number): number => Atomics.load(this.#control, at + field);
    return {
      heartbeatMs: load(threadLine.heartbeat),
      oldestUnread: load(threadLine.oldestUnread),
      frames: load(threadLine.frames),
      dropped: load(threadLine.dropped),
      quiet: load(threadLine.quiet),
      runs: load(threadLine.runs),
      cleaned: load(threadLine.cleaned),
      noisy: load(threadLine.noisy),
    };
  }

  threadHeartbeat(thread: number): number {
    return Atomics.load(this.#control, (firstThreadLine + thread) * lineInts + threadLine.heartbeat);
  }

  /** The process of the VAD threads has ended: nobody needs to wait for their silence to be sure. The next beat takes it back. */
  threadsGone(): void {
    for (let thread = 0; thread < this.layout.threads; thread += 1)
      Atomics.store(this.threadWord(thread), 0, threadState.gone);
  }

  isThreadGone(thread: number): boolean {
    return Atomics.load(this.threadWord(thread), 0) === threadState.gone;
  }

  /** Where a VAD thread says whether it sleeps; it waits while the word is `asleepWord`. */
  threadWord(thread: number): Int32Array {
    const at = (firstThreadLine + thread) * lineInts + threadLine.state;
    return this.#control.subarray(at, at + 1);
  }

  /** The thread is about to look, and sleeps behind that: what is written from now on, and is not seen, wakes it. */
  setThreadAsleep(thread: number, isAsleep: boolean): void {
    Atomics.store(this.threadWord(thread), 0, isAsleep ? threadState.asleep : threadState.awake);
  }

  /** True when the thread sleeps and this caller is the one to wake it. */
  takeThreadAsleep(thread: number): boolean {
    const { asleep, awake } = threadState;
    return Atomics.compareExchange(this.threadWord(thread), 0, asleep, awake) === asleep;
  }

  beatThread(thread: number, nowMs: number, oldestUnread: number): void {
    const at = (firstThreadLine + thread) * lineInts;
    Atomics.compareExchange(this.#control, at + threadLine.state, threadState.gone, threadState.awake);
    Atomics.store(this.#control, at + threadLine.oldestUnread, oldestUnread);
    Atomics.store(this.#control, at + threadLine.heartbeat, nowMs);
  }

  /** Counts what became of frames since the last time. */
  countFrames(thread: number, counts: { judged: number; dropped: number; quiet: number }): void {
    const at = (firstThreadLine + thread) * lineInts;
    Atomics.add(this.#control, at + threadLine.frames, counts.judged);
    Atomics.add(this.#control, at + threadLine.dropped, counts.dropped);
    Atomics.add(this.#control, at + threadLine.quiet, counts.quiet);
    if (counts.judged > 0) Atomics.add(this.#control, at + threadLine.runs, 1);
  }

  /** Counts a frame that is to be heard without its noise: whether it was. */
  countNoise(thread: number, outcome: 'cleaned' | 'noisy'): void {
    Atomics.add(this.#control, (firstThreadLine + thread) * lineInts + threadLine[outcome], 1);
  }

  /** Tells the turn threads that there is a question; it stands in the box of a slot. */
  countTurnQuestion(): void {
    Atomics.add(this.#control, serviceLine.turnQuestions, 1);
  }

  /** Where questions are counted: the turn threads wait for it to change. */
  get turnWord(): Int32Array {
    return this.#control.subarray(serviceLine.turnQuestions, serviceLine.turnQuestions + 1);
  }

  /** Questions since the service started, modulo 2^32: a thread that sees the same number again need not look at the slots. */
  get turnQuestions(): number {
    return Atomics.load(this.#control, serviceLine.turnQuestions);
  }

  /** A turn thread shows that it lives, and what waits; the question that it is about to judge waits as well. */
  beatTurnThread(
    thread: number,
    status: { nowMs: number; waiting: number; oldestAskedAtMs: number | undefined },
  ): void {
    const at = (firstTurnLine + thread) * lineInts;
    Atomics.store(this.#control, at + turnLine.waiting, status.waiting);
    Atomics.store(this.#control, at + turnLine.oldestAskedAt, status.oldestAskedAtMs ?? nothingWaits);
    Atomics.store(this.#control, at + turnLine.heartbeat, status.nowMs);
  }

  countTurnAnswer(thread: number, outcome: 'judged' | 'leftOut'): void {
    Atomics.add(this.#control, (firstTurnLine + thread) * lineInts + turnLine[outcome], 1);
  }

  turnThreadStatus(thread: number): TurnThreadStatus {
    const at = (firstTurnLine + thread) * lineInts;
    return {
      heartbeatMs: Atomics.load(this.#control, at + turnLine.heartbeat),
      waiting: Atomics.load(this.#control, at + turnLine.waiting),
      judged: Atomics.load(this.#control, at + turnLine.judged),
      leftOut: Atomics.load(this.#control, at + turnLine.leftOut),
    };
  }

  /** Milliseconds for which the oldest question to the turn model has waited or been in work; 0 when there is none. */
  oldestTurnAskMs(nowMs: number): number {
    let oldest = 0;
    for (let thread = 0; thread < (this.layout.turnThreads ?? 0); thread += 1) {
      const at = (firstTurnLine + thread) * lineInts;
      const askedAt = Atomics.load(this.#control, at + turnLine.oldestAskedAt);
      const { heartbeatMs } = this.turnThreadStatus(thread);
      if (askedAt === nothingWaits || heartbeatMs === 0) continue;
      if (heartbeatAge(nowMs, heartbeatMs) < turnThreadGoneMs)
        oldest = Math.max(oldest, heartbeatAge(nowMs, askedAt));
    }
    return oldest;
  }

  /** The worker goes idle: the next result rings its bell. */
  setSleeping(worker: number): void {
    Atomics.store(this.#control, this.#workerAt(worker) + workerLine.sleeping, 1);
  }

  /** True when the worker sleeps and this caller is the one to wake it. */
  takeSleeping(worker: number): boolean {
    return Atomics.exchange(this.#control, this.#workerAt(worker) + workerLine.sleeping, 0) === 1;
  }

  /** Slots of the worker at or above this count are unused, so that nobody scans them. */
  slotsInUse(worker: number): number {
    return Math.min(
      Atomics.load(this.#control, this.#workerAt(worker) + workerLine.slotsInUse),
      this.layout.slotsPerWorker,
    );
  }

  setSlotsInUse(worker: number, count: number): void {
    Atomics.store(this.#control, this.#workerAt(worker) + workerLine.slotsInUse, count);
  }

  beatWorker(worker: number, status: { nowMs: number; calls: number; worstLatenessUs: number }): void {
    const at = this.#workerAt(worker);
    Atomics.store(this.#control, at + workerLine.calls, status.calls);
    Atomics.store(this.#control, at + workerLine.worstLatenessUs, status.worstLatenessUs);
    Atomics.store(this.#control, at + workerLine.heartbeat, status.nowMs);
  }

  workerStatus(worker: number): { heartbeatMs: number; calls: number; worstLatenessUs: number } {
    const at = this.#workerAt(worker);
    return {
      heartbeatMs: Atomics.load(this.#control, at + workerLine.heartbeat),
      calls: Atomics.load(this.#control, at + workerLine.calls),
      worstLatenessUs: Atomics.load(this.#control, at + workerLine.worstLatenessUs),
    };
  }

  /** Where the worker writes for which call it works, as `markOfSlot` says it. */
  workMark(worker: number): Int32Array {
    const at = this.#workerAt(worker) + workerLine.working;
    return this.#control.subarray(at, at + 1);
  }

  /** The slot of the call for which a worker that is gone worked at its end; undefined where it was for none. */
  workedFor(worker: number): number | undefined {
    const mark = Atomics.load(this.#control, this.#workerAt(worker) + workerLine.working);
    return mark === 0 ? undefined : mark - 1;
  }

  /** A call of the worker sent a request to a provider of a stage. */
  countRequest(worker: number, stage: CountedStage, role: ProviderRole): void {
    Atomics.add(this.#control, this.#requestsAt(worker, stage, role), 1);
  }

  /** Requests since the service started, modulo 2^32. */
  requests(worker: number, stage: CountedStage, role: ProviderRole): number {
    return Atomics.load(this.#control, this.#requestsAt(worker, stage, role));
  }

  /** The circuit breakers of the providers, shared by all calls of all workers. */
  get breakers(): Breakers {
    return new Breakers(this.#control.subarray(firstBreakerLine * lineInts).subarray(0, breakerInts));
  }

  #requestsAt(worker: number, stage: CountedStage, role: ProviderRole): number {
    const first = workerLine.requests + (role === 'primary' ? 0 : countedStages.length);
    return this.#workerAt(worker) + first + countedStages.indexOf(stage);
  }

  #workerAt(worker: number): number {
    return (firstWorkerLine + worker) * lineInts;
  }
}
