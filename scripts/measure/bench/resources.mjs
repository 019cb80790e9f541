// Loaded into the processes of a service under test: SIGWINCH writes one log line `resources` with the number of
// timers that are still armed in the main thread, the memory that is still referred to, and what the C library has given out and
// holds free. Must not be part of the service itself.
import koffi from 'koffi';
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Bytes in use and free in the C library's heap; zeros where it does not tell (other than glibc). */
function newHeapLook() {
  const size = 'size_t';
  const fields = [
    'arena',
    'ordblks',
    'smblks',
    'hblks',
    'hblkhd',
    'usmblks',
    'fsmblks',
    'uordblks',
    'fordblks',
    'keepcost',
  ];
  const shape = koffi.struct(Object.fromEntries(fields.map((name) => [name, size])));
  try {
    return koffi.load(null).func('mallinfo2', shape, []);
  } catch {
    return () => ({ uordblks: 0, hblkhd: 0, fordblks: 0 });
  }
}

if (isMainThread) {
  const nativeHeap = newHeapLook();
  const armed = new Set();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  globalThis.setTimeout = (callback, delayMs, ...args) => {
    const timer = set(() => {
      armed.delete(timer);
      callback(...args);
    }, delayMs);
    armed.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    armed.delete(timer);
    clear(timer);
  };
  let looks = 0;
  process.on('SIGWINCH', () => {
    looks += 1;
    const { heapUsed, external } = process.memoryUsage();
    const { uordblks, hblkhd, fordblks } = nativeHeap();
    const kib = (bytes) => Math.round(Number(bytes) / 1024);
    const line = {
      msg: 'resources',
      pid: process.pid,
      look: looks,
      timers: armed.size,
      liveKiB: kib(heapUsed + external),
      nativeUsedKiB: kib(Number(uordblks) + Number(hblkhd)),
      nativeFreeKiB: kib(fordblks),
    };
    writeSync(1, `${JSON.stringify(line)}\n`);
  });
}
