/**
 * All calls of one worker: their mailbox slots, the ticker that drives them, and the bell that inference rings. A call is
 * reached only through its scope, so that a call that throws takes no other with it.
 */
import type { Duplex } from 'node:stream';
import { assert } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import { heartbeatOf } from '../../shared/protocol/heartbeat.ts';
import { type Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { CallRunner } from '../call/runner.ts';
import type { WorkerServices } from '../call/services.ts';
import { Pacer, tickMs } from '../media/out/pacer.ts';

/** Calls take turns by slot, so that their housekeeping does not fall on one tick. */
const housekeepingMs = 20;
const heartbeatMs = 100;

interface HostedCall {
  readonly runner: CallRunner;
  readonly slot: number;
  housekeepAt: Millis;
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
  #lastTick: Millis | undefined;

  constructor(options: CallHostOptions) {
    this.#options = options;
    this.#firstSlot = options.worker * options.boxes.layout.slotsPerWorker;
    this.#pacer = new Pacer(options.clock, (now) => this.#tick(now));
    this.#publish();
  }

  get count(): number {
    return this.#count;
  }

  readonly gridBefore = (time: Millis): Millis => this.#pacer.gridBefore(time);

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
    this.#calls[slot - this.#firstSlot] = {
      runner,
      slot,
      housekeepAt: this.#options.clock.now() + ((slot * tickMs) % housekeepingMs),
      tick: scope.bind((now: Millis) => runner.tick(now)),
      housekeep: scope.bind((now: Millis) => runner.housekeep(now)),
      collect: scope.bind(() => runner.collectSpeech()),
    };
    this.#count += 1;
    this.#publish();
    this.#pacer.start();
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
    this.#lastTick = undefined;
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

  #tick(now: Millis): void {
    if (this.#lastTick !== undefined)
      this.#worstLatenessMs = Math.max(this.#worstLatenessMs, now - this.#lastTick - tickMs);
    this.#lastTick = now;
    for (const call of this.#calls) call?.tick(now);
    for (const call of this.#calls) {
      if (call === undefined || now < call.housekeepAt) continue;
      // From the planned time, so that turns stay apart; from now on after a stall.
      call.housekeepAt = Math.max(call.housekeepAt + housekeepingMs, now + housekeepingMs - tickMs);
      if (call.end !== undefined && now >= call.end.at) call.end.hangUp();
      call.housekeep(now);
    }
  }

  /** Shows from now on that this event loop turns, with and without calls. */
  keepBeating(): void {
    this.#beat();
    this.#options.onBeat();
    this.#options.clock.after(heartbeatMs, () => this.keepBeating());
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
