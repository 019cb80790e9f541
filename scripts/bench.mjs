// `npm run bench`: holds many calls on the service as it is built for production and says what they cost. See docs/bench.md.
import { runDriver } from './driver.mjs';

await runDriver('bench', { processes: ['load', 'providers'] });
