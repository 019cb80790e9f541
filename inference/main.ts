/**
 * The inference process: a pool of threads that serve VAD over shared memory. It holds no call state that anybody misses:
 * when it dies, calls go on with an energy gate until the supervisor has started it again.
 */
import { cpus } from 'node:os';
import { Piscina } from 'piscina';
import {
  firstBellFd,
  sharedMemoryFd,
  type FromInference,
  type InferenceSetup,
} from '../shared/protocol/ipc.ts';
import { mailboxBytes, Mailboxes } from '../shared/protocol/mailbox.ts';
import { exitWithParent, firstMessage } from '../shared/runtime/child.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { errorFields, newLog } from '../shared/runtime/log.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { sileroPath } from './models.ts';
import type { VadTask } from './vad-thread.ts';

/** A thread finishes its run and sees the stop flag well within this time. */
const stopWithinMs = 2_000;
const idleCheckMs = 50;

async function main(): Promise<void> {
  const setup = await firstMessage<InferenceSetup>();
  const log = newLog({ role: 'inference', level: setup.logLevel });
  const { layout } = setup;
  const boxes = new Mailboxes(mapSharedMemory(sharedMemoryFd, mailboxBytes(layout)), layout);
  boxes.setStopping(false);

  const pool = new Piscina({
    filename: new URL('./vad-thread.js', import.meta.url).href,
    minThreads: layout.threads,
    maxThreads: layout.threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'disabled',
  });

  const modelPath = sileroPath(setup.vadModel);
  const bellFds = Array.from({ length: layout.workers }, (_, worker) => firstBellFd + worker);
  let busy = layout.threads;
  for (let thread = 0; thread < layout.threads; thread += 1) {
    const task: VadTask = { thread, layout, memoryFd: sharedMemoryFd, bellFds, modelPath };
    pool.run(task, { name: 'serve' }).then(
      () => {
        busy -= 1;
      },
      (error: unknown) => {
        log.fatal(errorFields(error), 'a VAD thread failed; the process exits to be replaced');
        process.exit(1);
      },
    );
  }

  const stop = (): void => {
    boxes.setStopping(true);
    const giveUpAt = systemClock.now() + stopWithinMs;
    const exitWhenIdle = (): void => {
      // Leaving with a thread inside a run aborts the process; it has nothing to lose by then, but it is noise.
      if (busy === 0 || systemClock.now() >= giveUpAt) process.exit(0);
      systemClock.after(idleCheckMs, exitWhenIdle);
    };
    exitWhenIdle();
  };
  exitWithParent(stop);
  waitForThreads(boxes, () => {
    log.info({ threads: layout.threads, cores: cpus().length }, 'inference ready');
    process.send?.({ type: 'ready' } satisfies FromInference);
  });
}

/** Calls back once every thread has shown its first heartbeat of this process's life. */
function waitForThreads(boxes: Mailboxes, ready: () => void): void {
  const before = Array.from({ length: boxes.layout.threads }, (_, thread) => boxes.threadHeartbeat(thread));
  const look = (): void => {
    if (before.every((beat, thread) => boxes.threadHeartbeat(thread) !== beat)) ready();
    else systemClock.after(5, look);
  };
  look();
}

await main();
