/**
 * The commands that try an agent without a call of a client, in a file of their own: the supervisor of a service loads neither the core
 * nor an adapter. Runs the command of the process's arguments and ends the process with its status.
 */
import '../../shared/runtime/stack.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { readBytes, readText } from '../named-files.ts';
import { CONNECT_USAGE, runConnectCheck } from './connect-command.ts';
import { CONSOLE_USAGE, runConsole } from './console-command.ts';
import { REHEARSE_USAGE, runRehearse } from './rehearse-command.ts';

const out = (line: string): void => void process.stdout.write(`${line}\n`);
const writeError = (line: string): void => void process.stderr.write(`${line}\n`);

const sources = { env: process.env, readFile: readText, readBytes, clock: systemClock, writeError };

async function run([command, ...args]: readonly string[]): Promise<number> {
  const usages: Readonly<Record<string, string>> = { check: CONNECT_USAGE, console: CONSOLE_USAGE };
  if (args.includes('--help')) {
    out(usages[command ?? ''] ?? REHEARSE_USAGE);
    return 0;
  }
  const output = process.stdout;
  if (command === 'check') return await runConnectCheck(args, { ...sources, output });
  if (command === 'console') return await runConsole(args, { ...sources, input: process.stdin, output });
  return await runRehearse(args, { ...sources, output });
}

process.exit(await run(process.argv.slice(2)));
