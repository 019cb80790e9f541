/**
 * All calls of one worker: their mailbox slots, the ticker that drives them, and the bell that inference rings. A call is
 * reached only through its scope, so that a call that throws takes no other with it.
 */
import type { Duplex } from 'node:stream';
import { assert } from '../../shared/base/assert.ts';
import { FRAME_MS, type Millis } from '../../shared/base/units.ts';
import { heartbeatOf } from '../../shared/protocol/heartbeat.ts';
import { type Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { Timer } from '../../shared/runtime/clock.ts';
import type { CallRunner } from '../call/runner.ts';
import type { WorkerServices } from '../call/services.ts';
import { earlyMs, Pacer, tickMs } from '../media/out/pacer.ts';

/** As often as a call that speaks sends a frame: it is done in the same tick. */
const housekeepingMs = FRAME_MS;
/** So many calls that send nothing wake the worker together, so that few wake it seldom, and many do not fall on one tick. */
const callsTogether = 12;
const heartbeatMs = 100;
/** Nobody is silent while a worker without calls hangs: it wakes a processor as seldom as the supervisor bears. */
const idleHeartbeatMs = 400;

interface HostedCall {
  readonly runner: CallRunner;
  readonly slot: number;
  housekeepAt: Millis;
  housekeptAt: Millis;
  readonly tick: (now: Millis) => void;
  readonly housekeep: (now: Millis) => void;
  readonly collect: () => void;
  /** When it is hung up (docs/tokens.md, What is enforced where), and how. */
  end?: { readonly at: Millis; readonly hangUp: () => void };
}

export interface CallHostOptions {
  readonly worker: number;
  readonly boxes: Mailboxes;
  readonly clock: WorkerServices['clock'];
  readonly machineMs: () => number;
  /** Another call may yet be taken up from what stands in this slot. */
  readonly isAwaited: (slot: number) => boolean;
  /** The last call ended. */
  readonly onEmpty: () => void;
  /** Asked several times a second, with and without calls. */
  readonly onBeat: () => void;
}

export class CallHost {
  readonly #options: CallHostOptions;
  readonly #pacer: Pacer;
  readonly #firstSlot: number;
  /** By slot, relative to the worker's first. */
  readonly #calls: (HostedCall | undefined)[] = [];
  #count = 0;
  #worstLatenessMs = 0;
  #beatAt: Millis = 0;
  #beatTimer: Timer | undefined;

  constructor(options: CallHostOptions) {
    this.#options = options;
    this.#firstSlot = options.worker * options.boxes.layout.slotsPerWorker;
    this.#pacer = new Pacer(options.clock, (now, lateMs) => this.#tick(now, lateMs));
    this.#publish();
  }

  get count(): number {
    return this.#count;
  }

  readonly gridBefore = (time: Millis): Millis => this.#pacer.gridBefore(time);

  readonly wakeBy = (at: Millis): void => this.#pacer.wakeBy(at);

  /**
   * Lowest free mailbox slot, or undefined when all are in use. A slot whose record is still to be read, because the worker that
   * had this row before died, is not free but for the call that it holds (`resumeFrom`), which takes it when there is no other.
   */
  freeSlot(resumeFrom?: number): number | undefined {
    const { slotsPerWorker } = this.#options.boxes.layout;
    let own: number | undefined;
    for (let i = 0; i < slotsPerWorker; i += 1) {
      const slot = this.#firstSlot + i;
      if (this.#calls[i] !== undefined) continue;
      if (!this.#options.isAwaited(slot)) return slot;
      if (slot === resumeFrom) own = slot;
    }
    return own;
  }

  add(runner: CallRunner, slot: number): void {
    const { scope } = runner;
    assert(this.#calls[slot - this.#firstSlot] === undefined, 'the slot is free');
    this.#pacer.start();
    const now = this.#options.clock.now();
    const housekeepAt = this.#sharedAfter(now, slot);
    this.#calls[slot - this.#firstSlot] = {
      runner,
      slot,
      housekeepAt,
      housekeptAt: now,
      tick: scope.bind((now: Millis) => runner.tick(now)),
      housekeep: scope.bind((now: Millis) => runner.housekeep(now)),
      collect: scope.bind(() => runner.collectSpeech()),
    };
    this.#count += 1;
    this.#publish();
    this.#pacer.wakeBy(housekeepAt);
  }

  /** Hangs a call up at a time of the machine's clock, whatever it is about; never where that is undefined. */
  endAt(slot: number, atMachineMs: number | undefined, hangUp: () => void): void {
    const call = this.#calls[slot - this.#firstSlot];
    if (call === undefined || atMachineMs === undefined) return;
    const at = atMachineMs - this.#options.machineMs() + this.#options.clock.now();
    call.end = { at, hangUp: call.runner.scope.bind(hangUp) };
  }

  remove(slot: number): void {
    if (this.#calls[slot - this.#firstSlot] === undefined) return;
    this.#calls[slot - this.#firstSlot] = undefined;
    while (this.#calls.length > 0 && this.#calls.at(-1) === undefined) this.#calls.pop();
    this.#count -= 1;
    this.#publish();
    if (this.#count > 0) return;
    this.#pacer.stop();
    this.#options.onEmpty();
  }

  /** Tells every call that the service stops, within this time. */
  shutdownAll(withinMs: Millis = 0): void {
    for (const call of this.#calls) call?.runner.scope.run(() => call.runner.shutdown(withinMs));
  }

  /** Listens for results of inference. The bell carries no data: one byte means "look". */
  listenTo(bell: Duplex): void {
    bell.on('data', () => this.#collect());
    this.#options.boxes.setSleeping(this.#options.worker);
  }

  #collect(): void {
    // Asking for the next bell before looking leaves no gap in which a result could stay unseen.
    this.#options.boxes.setSleeping(this.#options.worker);
    for (const call of this.#calls) call?.collect();
  }

  /** Does what is due, and says when something is due next. */
  #tick(now: Millis, lateMs: Millis): Millis {
    this.#worstLatenessMs = Math.max(this.#worstLatenessMs, lateMs);
    if (this.#beatTimer !== undefined && now >= this.#beatAt) this.keepBeating();
    const by = now + earlyMs;
    for (const call of this.#calls) {
      if (call === undefined || by < Math.min(call.housekeepAt, call.runner.dueAt)) continue;
      // From now on it is done in the tick of its frames.
      call.housekeepAt = Math.min(call.housekeepAt, Math.max(by, call.housekeptAt + tickMs));
      call.tick(now);
    }
    let next = Infinity;
    for (const call of this.#calls) {
      if (call === undefined) continue;
      if (by >= call.housekeepAt) this.#housekeep(call, now);
      next = Math.min(next, call.housekeepAt, call.runner.dueAt);
    }
    return next;
  }

  #housekeep(call: HostedCall, now: Millis): void {
    const by = now + earlyMs;
    const isSending = call.runner.dueAt <= by + housekeepingMs;
    call.housekeptAt = now;
    // Housekeeping that a stall swallowed is left out.
    call.housekeepAt = isSending ? this.gridBefore(by) + housekeepingMs : this.#sharedAfter(by, call.slot);
    if (call.end !== undefined && now >= call.end.at) call.end.hangUp();
    call.housekeep(now);
  }

  /** When calls that send nothing wake the worker next, some of them together. */
  #sharedAfter(time: Millis, slot: number): Millis {
    const shiftMs = tickMs * Math.floor((slot - this.#firstSlot) / callsTogether);
    return this.#pacer.gridBefore(time + housekeepingMs - shiftMs, housekeepingMs) + shiftMs;
  }

  /** Shows from now on that this event loop turns: with each tenth of a second of ticks, and more seldom by a timer without calls. */
  keepBeating(): void {
    const { clock, onBeat } = this.#options;
    this.#beat();
    onBeat();
    this.#beatAt = clock.now() + heartbeatMs;
    this.#beatTimer?.cancel();
    const withinMs = this.#count > 0 ? heartbeatMs + housekeepingMs : idleHeartbeatMs;
    this.#beatTimer = clock.after(withinMs, () => this.keepBeating());
  }

  #publish(): void {
    this.#options.boxes.setSlotsInUse(this.#options.worker, this.#calls.length);
    this.#beat();
  }

  #beat(): void {
    this.#options.boxes.beatWorker(this.#options.worker, {
      nowMs: heartbeatOf(this.#options.machineMs()),
      calls: this.#count,
      worstLatenessUs: Math.round(this.#worstLatenessMs * 1000),
    });
    this.#worstLatenessMs = 0;
  }
}
