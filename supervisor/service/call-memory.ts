/**
 * The memory that the supervisor shares with its children: how large it is, and what this process reads from it. The
 * supervisor writes nothing here but that a record is over; no audio is looked at.
 */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { callRecordBytes, callRecordMappings, CallRecords } from '../../shared/protocol/call-record.ts';
import { heartbeatAge } from '../../shared/protocol/heartbeat.ts';
import {
  mailboxBytes,
  Mailboxes,
  mostSlots,
  turnRingFrames,
  type MailboxLayout,
} from '../../shared/protocol/mailbox.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { createSharedMemory, mapInParts, mapSharedMemory } from '../../shared/runtime/shm.ts';
import { leftRecords, type LeftRecord } from '../handover/left-records.ts';
import { BacklogWatch, LatenessWatch } from '../admission/admission.ts';

/** History that inference keeps of a call when no turn model reads it. */
const shortRingFrames = 16;
/** Without a turn model, but calls may be taken up: the turn that was being heard (4 s of it) is given to STT once more. */
const resumeRingFrames = 128;
/** What a thread or a worker says of itself is only believed while it is alive; a dead one is not a backlog. */
const freshHeartbeatMs = 1_000;

/** How late a worker's tick was at worst within its last tenth of a second; of all workers that are there. */
export function worstLatenessMs(boxes: Mailboxes, nowMs: number): number {
  let worstUs = 0;
  for (let worker = 0; worker < boxes.layout.workers; worker += 1) {
    const { heartbeatMs, worstLatenessUs } = boxes.workerStatus(worker);
    if (heartbeatAge(nowMs, heartbeatMs) < freshHeartbeatMs) worstUs = Math.max(worstUs, worstLatenessUs);
  }
  return worstUs / 1000;
}

export interface CallMemoryOptions {
  readonly settings: ServerSettings;
  readonly workers: number;
  readonly inferenceThreads: number;
  readonly hasTurnModel: boolean;
}

export class CallMemory {
  readonly layout: MailboxLayout;
  readonly boxes: Mailboxes;
  /** Descriptors that children inherit. */
  readonly mailboxesFd: number;
  readonly recordsFd: number;
  readonly #records: CallRecords;
  readonly #keepsCalls: boolean;

  constructor(options: CallMemoryOptions) {
    this.#keepsCalls = options.settings.callResume;
    this.layout = layoutFor(options);
    const slots = this.layout.workers * this.layout.slotsPerWorker;
    this.recordsFd = createSharedMemory('svc-calls', callRecordBytes({ slots }));
    this.#records = new CallRecords(mapInParts(this.recordsFd, callRecordMappings({ slots })), { slots });
    this.mailboxesFd = createSharedMemory('svc-audio', mailboxBytes(this.layout));
    this.boxes = new Mailboxes(mapSharedMemory(this.mailboxesFd, mailboxBytes(this.layout)), this.layout);
  }

  /** Nobody will read this record. Where its slot belongs to another connection by now, nothing happens. */
  readonly forget = (slot: number, offer: number): void => {
    const record = this.#records.record(slot);
    if (record.offer === offer) record.end();
  };

  /** Records of a worker's calls. A slot that was begun anew since belongs to another connection. */
  readonly leftBy = (worker: number): ReadonlyMap<number, LeftRecord> => {
    const { slotsPerWorker } = this.layout;
    if (!this.#keepsCalls) return new Map();
    const slots = Array.from({ length: slotsPerWorker }, (_, at) => worker * slotsPerWorker + at);
    return leftRecords(this.#records, slots);
  };

  /** For which call a worker that is gone worked at its end; undefined where it was for none, or nobody writes calls down. */
  workedFor(worker: number): { readonly offer: number; readonly call: string } | undefined {
    const slot = this.boxes.workedFor(worker);
    if (slot === undefined || !this.#keepsCalls) return undefined;
    const { offer, name } = this.#records.record(slot);
    return offer === 0 ? undefined : { offer, call: name };
  }

  /** Frames that wait in the fullest mailbox of a living thread. */
  inferenceUnread(): number {
    let unread = 0;
    const now = machineMs();
    for (let thread = 0; thread < this.layout.threads; thread += 1) {
      const { heartbeatMs, oldestUnread } = this.boxes.threadStatus(thread);
      if (heartbeatAge(now, heartbeatMs) < freshHeartbeatMs) unread = Math.max(unread, oldestUnread);
    }
    return unread;
  }
}

/**
 * Twice a worker's share of the sessions, because the calls of a dead one land on the others, and its share of the connections
 * that may wait for their `start`; less where so many mailboxes with the history for a turn model would not fit into one mapping,
 * which is the case from about 20 cores on.
 */
function layoutFor(options: CallMemoryOptions): MailboxLayout {
  const { workers, inferenceThreads, settings, hasTurnModel } = options;
  const ofCall = settings.callResume ? resumeRingFrames : shortRingFrames;
  const ringFrames = hasTurnModel ? turnRingFrames : ofCall;
  const rows = settings.spareWorker ? workers + 1 : workers;
  const share = Math.ceil(settings.maxSessions / workers);
  const waiting = Math.ceil(Math.max(0, settings.ws.maxCalls - settings.maxSessions) / workers);
  const slotsPerWorker = Math.min(
    settings.ws.maxCalls,
    share * 2 + waiting,
    Math.floor(mostSlots(ringFrames) / rows),
  );
  const layout = { workers: rows, slotsPerWorker, ringFrames, threads: inferenceThreads };
  return hasTurnModel ? { ...layout, turnThreads: Math.max(1, inferenceThreads >> 1) } : layout;
}

/**
 * How many calls have begun (docs/reference/server-settings.md, `SVC_MAX_SESSIONS`), and how many more the workers may let begin. Workers count their
 * own in shared memory; a call whose worker is gone, and one of the supervisor before this one, are counted elsewhere.
 */
interface SessionCountOptions {
  /** SVC_MAX_SESSIONS. */
  readonly most: number;
  /** Calls that no worker of this supervisor counts. */
  readonly elsewhere: () => number;
}

export class SessionCount {
  readonly #boxes: Mailboxes;
  readonly #options: SessionCountOptions;

  constructor(boxes: Mailboxes, options: SessionCountOptions) {
    this.#boxes = boxes;
    this.#options = options;
  }

  get now(): number {
    return this.#boxes.sessions + this.#options.elsewhere();
  }

  /** Tells the workers how many there may be; to be called when calls elsewhere have become more or fewer. */
  share(): void {
    this.#boxes.setMostSessions(this.#options.most - this.#options.elsewhere());
  }

  workerGone(worker: number): void {
    this.#boxes.forgetSessions(worker);
    this.share();
  }
}

/** Looks at the load of workers and inference at regular times, and says whether calls would suffer from one call more. */
export class LoadWatch {
  readonly #memory: CallMemory;
  readonly #backlog = new BacklogWatch();
  readonly #lateness = new LatenessWatch();

  constructor(memory: CallMemory) {
    this.#memory = memory;
  }

  look(nowMs: number): void {
    const { boxes } = this.#memory;
    this.#backlog.look(this.#memory.inferenceUnread(), boxes.oldestTurnAskMs(nowMs));
    this.#lateness.look(worstLatenessMs(boxes, nowMs));
  }

  get inferenceBehind(): boolean {
    return this.#backlog.behind;
  }

  get workersLate(): boolean {
    return this.#lateness.late;
  }
}
