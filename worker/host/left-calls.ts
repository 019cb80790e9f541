/**
 * What workers that are gone left of their calls, as this one finds it, and what this one writes down for those who come after it.
 *
 * Invariant: a record that is still to be read is not written over.
 */
import type { AgentRef } from '../../shared/agents/version.ts';
import { assert } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import { callRecordMappings, CallRecords } from '../../shared/protocol/call-record.ts';
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import type { CallOffer, WorkerSetup } from '../../shared/protocol/ipc.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { CallJournal, readJournal, type ResumedCall, type TakenUp } from '../call/journal.ts';

/** From this process's clock to the machine's. */
const toMachineMs = (): number => machineMs() - systemClock.now();

/** A call that another worker had. */
export interface FoundCall extends TakenUp {
  /** The unfinished message of the client. */
  readonly tail: Buffer;
  /** What the engine goes on with; of a client that had not started its call there is nothing. */
  readonly resumed: (call: NonNullable<TakenUp['call']>) => ResumedCall;
  /** How long nobody has read from the client. */
  readonly silentMs: () => Millis;
  /** The record is not needed any more, unless it has become the one of this worker's own slot. */
  readonly forget: (slot: number) => void;
}

export class LeftCalls {
  readonly #setup: WorkerSetup;
  readonly #boxes: Mailboxes;
  readonly #records: CallRecords | undefined;
  /** What the process that had this row before left: connections by slot, until somebody has taken them up or given them up. */
  readonly #awaited: ReadonlyMap<number, number>;

  /** `map` is asked where calls are recorded. */
  constructor(
    setup: WorkerSetup,
    boxes: Mailboxes,
    map: (lengths: readonly number[]) => readonly ArrayBuffer[],
  ) {
    this.#setup = setup;
    this.#boxes = boxes;
    const { slots } = boxes;
    this.#records = setup.callResume
      ? new CallRecords(map(callRecordMappings({ slots })), { slots })
      : undefined;
    this.#awaited = this.#left();
  }

  #left(): ReadonlyMap<number, number> {
    const { worker, layout } = this.#setup;
    const left = new Map<number, number>();
    for (let slot = worker * layout.slotsPerWorker; slot < (worker + 1) * layout.slotsPerWorker; slot += 1) {
      const offer = this.#records?.offerOf(slot) ?? 0;
      if (offer > 0) left.set(slot, offer);
    }
    return left;
  }

  /** Another call may yet be taken up from what stands in this slot. */
  readonly isAwaited = (slot: number): boolean =>
    this.#awaited.has(slot) && this.#awaited.get(slot) === this.#records?.offerOf(slot);

  /** The record of a call of this worker; undefined where calls end with their worker. */
  journal(offer: number, slot: number): CallJournal | undefined {
    const record = this.#records?.record(slot);
    return record && new CallJournal(record, { offer, toMachineMs: toMachineMs() });
  }

  /** The version of its agent that a call was left with; undefined where nothing says so. */
  agentOf(offer: number, from: number): AgentRef | undefined {
    const record = this.#records?.record(from);
    if (record?.left(offer) !== 'open') return undefined;
    return readJournal(record.read(), { toMachineMs: toMachineMs() }).agent;
  }

  /** What was left of an offered call; undefined where it is new. @throws as `read`. */
  find({ offer, resumeFrom }: CallOffer): FoundCall | undefined {
    return resumeFrom === undefined ? undefined : this.read(offer, resumeFrom);
  }

  /** What was left of a connection in a slot. @throws where nothing was that this version can read. */
  read(offer: number, from: number): FoundCall {
    const record = this.#records?.record(from);
    assert(record?.left(offer) === 'open', 'the record is the one of this connection');
    const left = record.read();
    const silentMs = (): Millis => {
      const { heartbeatMs } = this.#boxes.workerStatus(Math.floor(from / this.#setup.layout.slotsPerWorker));
      return heartbeatAge(machineMs(), heartbeatMs);
    };
    const turnAudio = this.#boxes.mailbox(from).copyFrom(left.listenFrom, left.generation);
    return {
      ...readJournal(left, { toMachineMs: toMachineMs() }),
      tail: left.tail,
      resumed: (call) => ({ call, playout: left.playout, turnAudio, silentMs: silentMs() }),
      silentMs,
      forget: (slot) => {
        if (from !== slot) record.end();
      },
    };
  }
}
