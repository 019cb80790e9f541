// Preloaded into the service's processes: shifts their wall clock by the milliseconds that stand in a file. The monotonic clock
// stays, as it does when a machine's clock is set.
import { readFileSync } from 'node:fs';

const file = process.env.CHAOS_CLOCK_FILE;

if (file !== undefined) {
  const now = Date.now.bind(Date);
  let shiftMs = 0;
  Date.now = () => now() + shiftMs;
  setInterval(() => {
    try {
      shiftMs = Number(readFileSync(file, 'utf8'));
    } catch {
      // The driver is gone, and the service will be soon.
      shiftMs = 0;
    }
  }, 100).unref();
}
