/** The real inference process, as the supervisor starts it, with slots that the evaluation fills. */
import { fork, type ChildProcess } from 'node:child_process';
import { mailboxBytes, Mailboxes, turnRingFrames } from '../../../shared/protocol/mailbox.ts';
import type { InferenceSetup } from '../../../shared/protocol/ipc.ts';
import { createSharedMemory, createSocketPair, mapSharedMemory } from '../../../shared/runtime/shm.ts';

export interface RunningInference {
  readonly boxes: Mailboxes;
  /** Resolves with the exit status once the process has left in good order. */
  stop(): Promise<number | null>;
}

/** Rejects when the process ends before it is ready. */
export async function startInference(
  root: URL,
  options: { readonly slots: number; readonly turnModel: string | undefined },
): Promise<RunningInference> {
  const { slots, turnModel } = options;
  const layout = {
    workers: 1,
    slotsPerWorker: slots,
    ringFrames: turnRingFrames,
    threads: 1,
    ...(turnModel !== undefined && { turnThreads: 1 }),
  };
  const bytes = mailboxBytes(layout);
  const memoryFd = createSharedMemory('svc-eval', bytes);
  const boxes = new Mailboxes(mapSharedMemory(memoryFd, bytes), layout);
  const [, bell] = createSocketPair();
  const child = fork(new URL('dist/inference/main.js', root), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', memoryFd, bell],
  });
  const setup: InferenceSetup = {
    type: 'setup',
    layout,
    logLevel: 'warn',
    vadModel: undefined,
    ...(turnModel !== undefined && { turnModel }),
  };
  child.send(setup);
  await ready(child);
  boxes.setSlotsInUse(0, slots);
  return {
    boxes,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', (code) => resolve(code));
        child.disconnect();
      }),
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', () => reject(new Error('the inference process ended before it was ready')));
  });
}
