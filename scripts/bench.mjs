// `npm run bench`: holds many calls on the service as it is built for production and says what they cost. See docs/bench.md.
import { runDriver } from './driver.mjs';

const { argv, env } = process;
// Calls over SIP need a build that has it.
if (argv[argv.indexOf('--transport') + 1] === 'sip') env.SVC_BUILD_WITH ??= 'sip';
await runDriver('bench', { processes: ['load', 'providers'] });
