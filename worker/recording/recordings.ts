/**
 * The recordings of one worker: a recorder for each call, and the thread that brings to the disk what they put into the rings. A thread
 * that dies is replaced once a second; the rings keep what it has not written.
 */
import { Worker } from 'node:worker_threads';
import type { Millis } from '../../shared/base/units.ts';
import type { Redactor } from '../../shared/calls/privacy/redactor.ts';
import type { RecordingDefinition, RecordingPolicy } from '../../shared/recording/agent-file.ts';
import { recordingRingsFd } from '../../shared/protocol/ipc.ts';
import { recordingName, type RecordingSetup } from '../../shared/recording/layout.ts';
import { recordingBytes, RecordingRing } from '../../shared/recording/ring.ts';
import { systemWallClock, type Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { mapSharedMemory } from '../../shared/runtime/shm.ts';
import type { CallObserver, ObservedCall } from '../call/observer.ts';
import { CallRecorder } from './call-recorder.ts';
import type { RecordingTask } from './recording-thread.ts';
import type { FromRecordingThread } from './thread-messages.ts';

export interface RecordingsOptions {
  readonly setup: RecordingSetup;
  /** How long recordings are kept, and the format of their sound, where a recording does not say so itself. */
  readonly policy: RecordingPolicy;
  readonly worker: number;
  readonly slotsPerWorker: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<WorkerMetrics, 'recordings' | 'recordingLost'>;
}

const againAfterMs = 1_000;
/** A full disk refuses several times a second, and may be the one that has to hold the log. */
const unwrittenAgainAfterMs: Millis = 60_000;

/** What is recorded of an agent's calls. */
export interface RecordedAgent {
  readonly agent: string;
  readonly tenant?: string | undefined;
  readonly definition: RecordingDefinition;
  /** In a service of many agents: of this one, beside those of others. */
  readonly policy?: RecordingPolicy | undefined;
  /** What is taken out of transcripts, beside what the section itself names. */
  readonly privacy: Redactor | undefined;
}

export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #memory: ArrayBuffer;
  #thread: Worker | undefined;
  #flushed: (() => void) | undefined;
  #isClosed = false;
  /** When each code of the system was told last. */
  readonly #unwrittenAt = new Map<string, Millis>();

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#memory = mapSharedMemory(recordingRingsFd, recordingBytes(options.setup.layout));
    this.#start(true);
    // From the beginning, or the first of each would be no increase to Prometheus.
    const { recordings, recordingLost } = options.metrics;
    for (const what of ['failed', 'upload_failed', 'deleted_unsent']) recordings.inc({ what }, 0);
    for (const what of ['audio', 'lines', 'write']) recordingLost.inc({ what }, 0);
  }

  observe(call: ObservedCall, { agent, tenant, definition, privacy, policy }: RecordedAgent): CallObserver {
    const { setup, clock, metrics } = this.#options;
    return new CallRecorder({
      call,
      definition,
      privacy,
      agent,
      ring: new RecordingRing(this.#memory, call.slot, setup.layout),
      now: clock.now(),
      wallNow: () => systemWallClock.now(),
      name: recordingName(call.start.callId, tenant),
      policy,
      lost: (what) => metrics.recordingLost.inc({ what }),
    });
  }

  /** Resolves when everything of calls that are over is on the disk, or cannot be brought there. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    if (thread === undefined) return;
    await new Promise<void>((resolve) => {
      this.#flushed = resolve;
      thread.postMessage({ type: 'flush' });
    });
  }

  #start(isFirst: boolean): void {
    const { setup, policy, worker, slotsPerWorker, clock, log } = this.#options;
    const { keepDays, audioFormat: format } = policy;
    const task: RecordingTask = {
      setup,
      memoryFd: recordingRingsFd,
      firstSlot: worker * slotsPerWorker,
      slots: slotsPerWorker,
      isFirst,
      keeps: worker === 0,
      format,
      ...(keepDays !== undefined && { keepDays }),
    };
    const thread = new Worker(new URL('./recording/recording-thread.js', import.meta.url), {
      workerData: task,
      execArgv: [],
    });
    this.#thread = thread;
    thread.unref();
    thread.on('message', (message: FromRecordingThread) => this.#take(message));
    thread.on('error', (error) => log.error(errorFields(error), 'the thread of recordings failed'));
    thread.once('exit', () => {
      this.#thread = undefined;
      this.#flushed?.();
      if (!this.#isClosed) clock.after(againAfterMs, () => this.#start(false));
    });
  }

  #take(message: FromRecordingThread): void {
    const { log, metrics } = this.#options;
    switch (message.type) {
      case 'flushed':
        this.#flushed?.();
        return;
      case 'write.failed':
        metrics.recordingLost.inc({ what: 'write' });
        this.#tellUnwritten(message);
        return;
      case 'kept': {
        const { what, call, code, waiting } = message;
        metrics.recordings.inc({ what: what.replace('.', '_') });
        if (code !== undefined)
          log.warn(
            { what, code, call, waiting, folder: this.#folder },
            'recordings could not be looked after',
          );
        else if (what === 'deleted.unsent') log.warn({ call }, 'a recording was deleted before its upload');
        else log.debug({ call, what }, 'recording');
        return;
      }
    }
  }

  get #folder(): string {
    return this.#options.setup.dir;
  }

  #tellUnwritten({ code, call }: { readonly code: string; readonly call: string }): void {
    const { clock, log } = this.#options;
    const now = clock.now();
    if (now - (this.#unwrittenAt.get(code) ?? -Infinity) < unwrittenAgainAfterMs) return;
    this.#unwrittenAt.set(code, now);
    log.warn({ code, call, folder: this.#folder }, 'a recording could not be written');
  }
}
