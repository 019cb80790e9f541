/**
 * How a call gets its place in this worker: a slot, a record of its own, a runner, and its transport; new, or as another worker left
 * it. What its transport is, whoever opens it knows.
 */
import { assert } from '../../shared/base/assert.ts';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import type { CallRecords } from '../../shared/protocol/call-record.ts';
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { CallJournal, readJournal } from '../call/journal.ts';
import { CallRunner, type CallRunnerOptions } from '../call/runner.ts';
import type { CallServices } from '../call/services.ts';
import type { CallTransport, SavedTransport } from '../transports/transport.ts';
import type { CallHost } from './call-host.ts';

/** From this process's clock to the machine's. */
const toMachineMs = (): number => machineMs() - systemClock.now();

/** A call in the making: its runner, where it is written down, and what another worker left of its transport. */
export interface Seat {
  readonly runner: CallRunner;
  readonly journal: CallJournal | undefined;
  readonly saved?: SavedTransport;
}

/** A slot and what belongs to a call in it. */
export interface SeatTaken {
  readonly refine?: CallRunnerOptions['refine'] | undefined;
  readonly slot: number;
  readonly journal: CallJournal | undefined;
}

export interface SeatingOptions {
  readonly setup: WorkerSetup;
  readonly services: CallServices;
  readonly host: CallHost;
  readonly boxes: Mailboxes;
  readonly records: CallRecords | undefined;
}

export class Seating {
  readonly #options: SeatingOptions;

  constructor(options: SeatingOptions) {
    this.#options = options;
  }

  /** Takes the slot for a connection. Undefined where calls end with their worker. */
  newJournal(offer: number, slot: number): CallJournal | undefined {
    const record = this.#options.records?.record(slot);
    return record && new CallJournal(record, { offer, toMachineMs: toMachineMs() });
  }

  /** @throws what building the call throws; nothing of the call is left then. */
  serve({ slot, journal, refine }: SeatTaken, open: (runner: CallRunner) => CallTransport): CallRunner {
    const { services, host } = this.#options;
    const runner = new CallRunner({
      ...{ services, slot, journal },
      ...(refine !== undefined && { refine }),
      over: () => host.remove(slot),
    });
    try {
      journal?.opened();
      host.add(runner, slot);
      runner.attach(open(runner));
    } catch (error) {
      runner.scope.fault(error);
      throw error;
    }
    services.metrics.callsActive.set(host.count);
    return runner;
  }

  /**
   * Goes on with a call whose worker is gone. Returns how long nobody has read from the client.
   * @throws what building the call throws; nothing of it is left here then.
   */
  takeUp(
    offer: number,
    { slot, from, refine }: Omit<SeatTaken, 'journal'> & { readonly from: number },
    open: (seat: Seat, tail: Buffer) => CallTransport,
  ): number {
    const { records, boxes, setup } = this.#options;
    const record = records?.record(from);
    assert(record?.left(offer) === 'open', 'the record is the one of this connection');
    const left = record.read();
    const { transport: saved, call } = readJournal(left, { toMachineMs: toMachineMs() });
    const turnAudio = boxes.mailbox(from).copyFrom(left.listenFrom, left.generation);
    const journal = this.newJournal(offer, slot);
    const runner = this.serve({ slot, journal, refine }, (one) =>
      open({ runner: one, journal, saved }, left.tail),
    );
    const { heartbeatMs } = boxes.workerStatus(Math.floor(from / setup.layout.slotsPerWorker));
    const silentMs = heartbeatAge(machineMs(), heartbeatMs);
    runner.scope.run(() => {
      if (call === undefined) runner.resumeOpening();
      else runner.resume({ call, playout: left.playout, turnAudio, silentMs });
    });
    // Only now is there nothing left that the old record could be needed for.
    if (from !== slot) record.end();
    return silentMs;
  }

  /** A call that needs no connection of its own, in a free slot; undefined where there is none. */
  seat(
    { offer, resumeFrom }: { readonly offer: number; readonly resumeFrom?: number },
    open: (seat: Seat) => CallTransport,
  ): 'new' | 'resumed' | undefined {
    const slot = this.#options.host.freeSlot(resumeFrom);
    if (slot === undefined) return undefined;
    if (resumeFrom !== undefined) {
      this.takeUp(offer, { slot, from: resumeFrom }, open);
      return 'resumed';
    }
    const journal = this.newJournal(offer, slot);
    this.serve({ slot, journal }, (runner) => open({ runner, journal }));
    return 'new';
  }
}
