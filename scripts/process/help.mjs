// How a script begins. It imports packages later, because a checkout may have none yet.
import '../node-version.mjs';

/** Prints the usage and ends where the command line asks for it, before anything is installed, built or written. */
export function answerHelp(usage) {
  if (!process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) return;
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
