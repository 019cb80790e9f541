// How a script begins. It imports packages later, because a checkout may have none yet.
import '../node-version.mjs';

/**
 * Prints the usage and ends where the command line asks for it, or has an option that the usage does not name, before anything is installed,
 * built or written. `passesOn`: other options are those of another program.
 */
export function answerHelp(usage, { passesOn = false } = {}) {
  const args = process.argv.slice(2);
  const asks = args.some((arg) => arg === '--help' || arg === '-h');
  const named = usage.split(/[^\w-]+/);
  const unknown =
    asks || passesOn
      ? undefined
      : args.find((arg) => /^--\w/.test(arg) && !named.includes(arg.split('=')[0]));
  if (unknown !== undefined)
    process.stderr.write(`unknown option ${unknown.split('=')[0].slice(0, 32)}\n${usage}\n`);
  else if (asks) process.stdout.write(`${usage}\n`);
  else return;
  process.exit(asks ? 0 : 2);
}
