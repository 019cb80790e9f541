// `npm run chaos`: holds calls on the service as it is built for production while parts of it die, hang or get nonsense, and says what
// the callers noticed. See docs/chaos.md.
import { runDriver } from './driver.mjs';

const usage = `usage: npm run chaos -- [options]

  --calls N      calls that are held (20)
  --seconds S    time for faults (60)
  --seed X       the same seed gives the same schedule (1)
  --workers N    call workers (2)
  --faults LIST  names with commas between them (all but log-full and memory-limit); --list names them
  --provider-seconds N   how long one stage of providers is at fault (2)
  --realtime     calls of a model that hears and speaks by itself; also model-stall and model-reset
  --log FILE     the service's log is written there
  --lenient      promises about time do not count: for machines that do other work as well`;

await runDriver('chaos', { usage });
