// What npm runs before it packs and, with `--packed`, behind it. npm would pack half of what is being built, so that the lock of builds is
// npm's own in between. When npm dies, its lock is taken over like any other.
import { buildAnew, ensureInstalled, packed } from './install.mjs';
import { answerHelp } from './process/help.mjs';
import { npmAbove } from './process/stop-with-npm.mjs';

answerHelp(`usage: npm pack
  Builds the service and packs it. Waits for a build that is under way.
  --packed  what npm runs by itself when it has packed`);
const npm = npmAbove();
if (!process.argv.includes('--packed')) {
  await ensureInstalled({ dev: true });
  await buildAnew({ keptBy: npm });
} else if (npm !== undefined) packed(npm);
