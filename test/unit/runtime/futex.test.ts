/** Waiting for a word of shared memory, with another thread at the other end that knows the system call alone. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { waitWhile, wakeWaiters } from '../../../shared/runtime/futex.ts';
import { createSharedMemory, mapSharedMemory } from '../../../shared/runtime/shm.ts';

const bytes = 4096;
const longMs = 3_600_000;

function newSetup(work: string) {
  const fd = createSharedMemory('futex-test', bytes);
  const word = new Int32Array(mapSharedMemory(fd, bytes), 64, 1);
  const other = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const koffi = require('koffi');
     const libc = koffi.load(null);
     const mmap = libc.func('void *mmap(void *at, size_t length, int prot, int flags, int fd, int64_t offset)');
     const futex = libc.func('long syscall(long n, void *word, int op, int value, void *time, void *x, int y)');
     const call = process.arch === 'arm64' ? 98 : 202;
     const word = new Int32Array(koffi.view(mmap(null, ${bytes}, 3, 1, workerData, 0), ${bytes}), 64, 1);
     ${work}`,
    { eval: true, workerData: fd },
  );
  return { word, other };
}

describe('a word of shared memory', () => {
  it('holds nobody up that has another value by now', () => {
    const word = new Int32Array(mapSharedMemory(createSharedMemory('futex-test', bytes), bytes), 0, 1);
    waitWhile(word, 1, longMs);
    expect(word[0]).toBe(0);
  });

  it('lets a waiter go when its time is over', () => {
    const word = new Int32Array(mapSharedMemory(createSharedMemory('futex-test', bytes), bytes), 0, 1);
    waitWhile(word, 0, 1);
    expect(word[0]).toBe(0);
  });

  it('ends the wait of this thread when another one changes it and wakes', async () => {
    const { word, other } = newSetup(`
      Atomics.store(word, 0, 1);
      while (futex(call, word, 1, 1, null, null, 0) === 0);`);
    while (Atomics.load(word, 0) === 0) waitWhile(word, 0, longMs);
    expect(word[0]).toBe(1);
    await other.terminate();
  });

  it('wakes a thread that waits', async () => {
    const { word, other } = newSetup(`
      parentPort.postMessage('waits');
      while (Atomics.load(word, 0) === 0) futex(call, word, 0, 0, null, null, 0);
      parentPort.postMessage('goes on');`);
    expect(await once(other, 'message')).toEqual(['waits']);
    Atomics.store(word, 0, 1);
    wakeWaiters(word);
    expect(await once(other, 'message')).toEqual(['goes on']);
    await other.terminate();
  });
});
