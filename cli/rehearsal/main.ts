/**
 * The commands that try an agent without a call of a client, the one that runs a recorded call again and those that fetch models, in a file of
 * their own: the supervisor of a service loads neither the core nor an adapter nor what unpacks archives. Runs the command of the process's
 * arguments and ends the process with its status.
 */
import '../../shared/runtime/stack.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { runModels } from '../commands/models/models-command.ts';
import { readBytes, readingOnce, readText } from '../../shared/installation/named-files.ts';
import { runConnectCheck } from './connect/connect-command.ts';
import { runConsole } from './console/console-command.ts';
import { runReplay } from './replay/replay-command.ts';
import { runRehearse } from './scenarios/rehearse-command.ts';

const writeError = (line: string): void => void process.stderr.write(`${line}\n`);

const sources = {
  env: process.env,
  readFile: readingOnce(readText),
  readBytes,
  clock: systemClock,
  writeError,
};

async function run([command, ...args]: readonly string[]): Promise<number> {
  const output = process.stdout;
  if (command === 'check') return await runConnectCheck(args, { ...sources, output });
  if (command === 'console') return await runConsole(args, { ...sources, input: process.stdin, output });
  if (command === 'models')
    return await runModels(args, {
      env: process.env,
      clock: systemClock,
      write: (line) => void output.write(`${line}\n`),
      writeError,
      ...(process.stderr.isTTY && { redraw: (line: string) => process.stderr.write(`\r${line}`) }),
    });
  if (command === 'replay') return await runReplay(args, { ...sources, output });
  return await runRehearse(args, { ...sources, output });
}

process.exit(await run(process.argv.slice(2)));
