// Loaded into the workers of a service under test: on SIGWINCH the event loop begins to stand still for 90 ms in every 95, on
// the next one it stops to do so. Must not be part of the service itself.
import { isMainThread } from 'node:worker_threads';

const busyMs = 90;
const everyMs = 95;

if (isMainThread && /worker[\\/]main\.js$/.test(process.argv[1] ?? '')) {
  let timer;
  process.on('SIGWINCH', () => {
    if (timer === undefined) timer = setInterval(standStill, everyMs);
    else {
      clearInterval(timer);
      timer = undefined;
    }
  });
}

function standStill() {
  const until = performance.now() + busyMs;
  while (performance.now() < until);
}
