/**
 * The inference process: a pool of threads that serve VAD and the turn model over shared memory. It holds no call state that anybody misses:
 * when it dies, calls go on with an energy gate until the supervisor has started it again.
 */
import '../shared/runtime/stack.ts';
import { cpus } from 'node:os';
import { Piscina } from 'piscina';
import {
  firstBellFd,
  sharedMemoryFd,
  type FromInference,
  type InferenceSetup,
} from '../shared/protocol/ipc.ts';
import { mailboxBytes, Mailboxes } from '../shared/protocol/mailbox.ts';
import { exitWithParent, firstMessage, tellParent, wakeWhenOrphaned } from '../shared/runtime/child.ts';
import { systemClock } from '../shared/runtime/clock.ts';
import { errorFields, newLog } from '../shared/runtime/log.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { noiseModelPath, sileroPath } from './models.ts';
import type { TurnTask } from './smart-turn.ts';
import type { VadTask } from './vad-thread.ts';

/** A thread finishes its run and sees the stop flag well within this time. */
const stopWithinMs = 2_000;
const idleCheckMs = 50;

const vadThread = new URL('./vad-thread.js', import.meta.url).href;
const turnThread = new URL('./smart-turn.js', import.meta.url).href;

async function main(): Promise<void> {
  const setup = await firstMessage<InferenceSetup>();
  const log = newLog({ role: 'inference', level: setup.logLevel });
  const { layout, turnModel } = setup;
  const turnThreads = turnModel === undefined ? 0 : (layout.turnThreads ?? 0);
  const boxes = new Mailboxes(mapSharedMemory(sharedMemoryFd, mailboxBytes(layout)), layout);
  boxes.setStopping(false);

  const pool = new Piscina({
    minThreads: layout.threads + turnThreads,
    maxThreads: layout.threads + turnThreads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'disabled',
  });

  const modelPath = sileroPath(setup.vadModel);
  const bellFds = Array.from({ length: layout.workers }, (_, worker) => firstBellFd + worker);
  let busy = 0;
  let isReady = false;
  const serve = (filename: string, task: VadTask | TurnTask): void => {
    busy += 1;
    pool.run(task, { filename, name: 'serve' }).then(
      () => {
        busy -= 1;
      },
      (error: unknown) => {
        if (filename === turnThread && !isReady) {
          log.error(errorFields(error), 'the turn model does not load');
          process.send?.({ type: 'setup.failed', what: 'turn_model' } satisfies FromInference, () =>
            process.exit(1),
          );
          return;
        }
        log.fatal(errorFields(error), 'a thread of inference failed; the process exits to be replaced');
        process.exit(1);
      },
    );
  };
  for (let thread = 0; thread < layout.threads; thread += 1)
    serve(vadThread, {
      thread,
      layout,
      memoryFd: sharedMemoryFd,
      bellFds,
      modelPath,
      noiseModelPath: noiseModelPath(),
      logLevel: setup.logLevel,
    });
  for (let thread = 0; turnModel !== undefined && thread < turnThreads; thread += 1)
    serve(turnThread, { thread, layout, memoryFd: sharedMemoryFd, bellFds, modelPath: turnModel });

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
  waitForThreads(boxes, turnThreads, () => {
    isReady = true;
    log.info({ threads: layout.threads, turnThreads, cores: cpus().length }, 'inference ready');
    tellParent({ type: 'ready' } satisfies FromInference);
  });
}

/** Calls back once every thread has shown its first heartbeat of this process's life. */
function waitForThreads(boxes: Mailboxes, turnThreads: number, ready: () => void): void {
  const heartbeats = (): number[] => [
    ...Array.from({ length: boxes.layout.threads }, (_, thread) => boxes.threadHeartbeat(thread)),
    ...Array.from({ length: turnThreads }, (_, thread) => boxes.turnThreadStatus(thread).heartbeatMs),
  ];
  const before = heartbeats();
  const look = (): void => {
    if (heartbeats().every((beat, thread) => beat !== before[thread])) ready();
    else systemClock.after(5, look);
  };
  look();
}

// ONNX Runtime would write an identifier of the machine into the home folder and report to its maker; the service talks to its
// configured providers alone. Its threads load it, and a thread of Node cannot change the environment of the process: hence here.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
wakeWhenOrphaned();
await main();
