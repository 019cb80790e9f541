// `npm run build`: builds the service, the demo and the call page anew, whether or not the sources have changed.
import { answerHelp } from './process/help.mjs';
import { buildAnew, ensureInstalled } from './install.mjs';

answerHelp(`usage: npm run build
  Builds dist/ anew. SVC_BUILD_WITH=sip builds SIP in, SVC_BUILD_WITHOUT=NAME,... leaves providers out.`);
await ensureInstalled({ dev: false });
await buildAnew();
