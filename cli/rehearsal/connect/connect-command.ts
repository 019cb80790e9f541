/** The command `check FILE --connect`: the file first, and then everything that it reaches (see docs/providers.md). */
import type { WriteStream } from 'node:tty';
import {
  loadAgentFileAt,
  packagesOf,
  runCheck,
  type CheckOptions,
} from '../../commands/check/check-command.ts';
import { readArguments, usageError } from '../../commands/commands.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { coloursFor } from '../colours.ts';
import { tryAgents } from './agent-probe.ts';
import { checkConnections } from './connect-check.ts';

export interface ConnectCommandOptions extends Omit<CheckOptions, 'requireSecrets' | 'write'> {
  readonly clock: Clock;
  readonly output: Pick<NodeJS.WritableStream, 'write'> & Partial<Pick<WriteStream, 'isTTY'>>;
  readonly writeError: (line: string) => void;
}

/** Returns the exit status: 0 when the file is valid and everything answers. */
export async function runConnectCheck(
  args: readonly string[],
  { clock, output, writeError, ...sources }: ConnectCommandOptions,
): Promise<0 | 1 | 2> {
  const parsed = readArguments('check', args);
  if (!parsed.ok) {
    writeError(usageError('check', parsed.error));
    return 2;
  }
  const [file = ''] = parsed.value.given;
  const write = (line: string): void => void output.write(`${line}\n`);
  const packages = await packagesOf(file, sources);
  const checked = { ...sources, packages, requireSecrets: true, write };
  if (runCheck(file, checked) !== 0) return 1;
  const definition = loadAgentFileAt(file, checked)?.definition;
  if (definition === undefined) return 1;
  const agents = tryAgents(definition, { clock, env: sources.env, readBytes: sources.readBytes });
  return await checkConnections(definition, {
    packages,
    clock,
    write,
    agents,
    colours: coloursFor(output, sources.env),
  });
}
