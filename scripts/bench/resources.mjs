// Loaded into the processes of a service under test: SIGWINCH collects garbage and writes one log line `resources` with the number of
// timers that are still armed in the main thread, and the memory that is still referred to. Must not be part of the service itself.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
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
    collect();
    looks += 1;
    const { heapUsed, external } = process.memoryUsage();
    const live = Math.round((heapUsed + external) / 1024);
    const line = { msg: 'resources', pid: process.pid, look: looks, timers: armed.size, liveKiB: live };
    writeSync(1, `${JSON.stringify(line)}\n`);
  });
}
