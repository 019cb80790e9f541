/**
 * Waiting for a word of shared memory to change, across processes: the kernel's futex, because `Atomics.wait` knows the threads of one process only.
 * A wait holds its thread up as a whole, so only threads without an event loop may wait.
 */
import { createRequire } from 'node:module';
import type koffiModule from 'koffi';

type Futex = (
  call: number,
  word: Int32Array,
  operation: number,
  value: number,
  timeout: BigInt64Array | null,
  unused: null,
  alsoUnused: number,
) => number;

/** Number of the system call by architecture. */
const callNumber = process.arch === 'arm64' ? 98 : 202;
const waitOperation = 0;
const wakeOperation = 1;
const allWaiters = 2 ** 31 - 1;

let loaded: Futex | undefined;

function native(): Futex {
  if (loaded !== undefined) return loaded;
  const koffi = createRequire(import.meta.url)('koffi') as typeof koffiModule;
  loaded = koffi
    .load(null)
    .func(
      'long syscall(long number, void *word, int operation, int value, void *timeout, void *unused, int unused3)',
    ) as Futex;
  return loaded;
}

/** Waits while the word has this value, until somebody wakes its waiters or the time is over. */
export function waitWhile(word: Int32Array, value: number, timeoutMs: number): void {
  const seconds = Math.floor(timeoutMs / 1000);
  const timeout = BigInt64Array.of(BigInt(seconds), BigInt(Math.floor((timeoutMs - seconds * 1000) * 1e6)));
  native()(callNumber, word, waitOperation, value, timeout, null, 0);
}

/** Wakes those who wait for the word. Costs half a microsecond where nobody does. */
export function wakeWaiters(word: Int32Array): void {
  native()(callNumber, word, wakeOperation, allWaiters, null, null, 0);
}
