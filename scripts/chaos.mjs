// `npm run chaos`: holds calls on the service as it is built for production while parts of it die, hang or get nonsense, and says what
// the callers noticed. See docs/chaos.md.
import { runDriver } from './driver.mjs';

await runDriver('chaos');
