/**
 * The thread that brings recordings to the disk and beyond. It looks into the rings of its worker, so that no call ever waits for a disk,
 * and it alone does file work: a disk that stands still stops this thread, and nothing else.
 */
import '../../shared/runtime/stack.ts';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../shared/base/assert.ts';
import { present } from '../../shared/base/present.ts';
import type { AudioFormat } from '../../shared/recording/agent-file.ts';
import type { RecordingSetup } from '../../shared/recording/layout.ts';
import { recordingBytes, RecordingRing } from '../../shared/recording/ring.ts';
import { systemClock, systemWallClock } from '../../shared/runtime/clock.ts';
import { mapSharedMemory } from '../../shared/runtime/shm.ts';
import { RecordingArchive, type ArchiveEvent } from './archive.ts';
import type { FromRecordingThread, ToRecordingThread } from './thread-messages.ts';
import { RecordingWriter } from './writer.ts';

export interface RecordingTask {
  readonly setup: RecordingSetup;
  readonly memoryFd: number;
  readonly firstSlot: number;
  readonly slots: number;
  /** The first thread of its worker: what it finds in the rings is of another worker, which died. */
  readonly isFirst: boolean;
  /** This thread also looks after recordings whose calls are over. */
  readonly keeps: boolean;
  readonly format: AudioFormat;
  readonly keepDays?: number;
}

const writeEveryMs = 200;
const keepEveryMs = 1_000;
const touchEveryMs = 60_000;

const codeOf = (error: unknown): string => {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : error instanceof Error ? error.message.slice(0, 200) : 'unknown';
};

function serve(task: RecordingTask, port: NonNullable<typeof parentPort>): void {
  const { setup, memoryFd, firstSlot, slots, isFirst, keeps, keepDays, format } = task;
  const { dir, layout, mostBytes, upload, keys } = setup;
  const say = (message: FromRecordingThread): void => port.postMessage(message);
  const memory = mapSharedMemory(memoryFd, recordingBytes(layout));
  const rings = Array.from(
    { length: slots },
    (_, slot) => new RecordingRing(memory, firstSlot + slot, layout),
  );
  const writer = new RecordingWriter({
    dir,
    rings,
    key: keys?.[0],
    isAfterDeath: isFirst,
    failed: (error, call) => say({ type: 'write.failed', code: codeOf(error), call }),
  });
  const archive = new RecordingArchive({
    dir,
    mostBytes,
    format,
    ...(keepDays !== undefined && { keepDays }),
    ...present({ upload, keys }),
    now: () => systemWallClock.now(),
    told: (news) => say(toldOf(news)),
  });
  const again = (everyMs: number, act: () => void): void => {
    systemClock.after(everyMs, () => {
      act();
      again(everyMs, act);
    });
  };
  again(writeEveryMs, () => writer.write());
  again(touchEveryMs, () => writer.touch(systemWallClock.now() / 1000));
  if (keeps) again(keepEveryMs, () => void archive.look());
  port.on('message', (message: ToRecordingThread) => {
    assert(message.type === 'flush', 'there is one question to this thread');
    writer.write();
    void archive.look().finally(() => say({ type: 'flushed' }));
  });
}

function toldOf(news: ArchiveEvent): FromRecordingThread {
  if (news.type === 'upload.failed') {
    const { call, waiting } = news;
    return { type: 'kept', what: news.type, code: codeOf(news.error), call, waiting };
  }
  if (news.type === 'failed') {
    const { type: what, call } = news;
    return { type: 'kept', what, code: codeOf(news.error), ...(call !== undefined && { call }) };
  }
  const isUnsent = news.type === 'deleted' && news.wasWaiting;
  return { type: 'kept', what: isUnsent ? 'deleted.unsent' : news.type, call: news.call };
}

assert(parentPort !== null, 'this file runs in a thread');
serve(workerData as RecordingTask, parentPort);
