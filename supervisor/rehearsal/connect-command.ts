/** The command `check FILE --connect`: the file first, and then everything that it reaches (see docs/providers.md). */
import type { WriteStream } from 'node:tty';
import { loadAgentFileAt, runCheck, type CheckOptions } from '../check-command.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { coloursFor } from './colours.ts';
import { checkConnections } from './connect-check.ts';

export const CONNECT_USAGE = `svc-supervisor check FILE --connect

Checks the agent file, and then resolves, connects and asks every provider for one thing (a few tokens, one word of speech, half a
second of silence), lists the tools of tool servers, and connects to the hosts of HTTP tools without running one. Keys must be set.`;

export interface ConnectCommandOptions extends Omit<CheckOptions, 'requireSecrets' | 'write'> {
  readonly clock: Clock;
  readonly output: Pick<NodeJS.WritableStream, 'write'> & Partial<Pick<WriteStream, 'isTTY'>>;
  readonly writeError: (line: string) => void;
}

/** Returns the exit status: 0 when the file is valid and everything answers. */
export async function runConnectCheck(
  args: readonly string[],
  { clock, output, writeError, ...sources }: ConnectCommandOptions,
): Promise<0 | 1> {
  const files = args.filter((arg) => !arg.startsWith('--'));
  const options = args.filter((arg) => arg.startsWith('--'));
  const [file] = files;
  const known = ['--connect', '--require-secrets'];
  if (file === undefined || files.length > 1 || options.some((option) => !known.includes(option))) {
    writeError(`usage: ${CONNECT_USAGE}`);
    return 1;
  }
  const write = (line: string): void => void output.write(`${line}\n`);
  const checked = { ...sources, requireSecrets: true, write };
  if (runCheck(file, checked) !== 0) return 1;
  const definition = loadAgentFileAt(file, checked)?.definition;
  if (definition === undefined) return 1;
  return await checkConnections(definition, { clock, write, colours: coloursFor(output, sources.env) });
}
