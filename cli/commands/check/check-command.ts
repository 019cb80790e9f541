/**
 * The command `check FILE`: reads an agent file as the service would, opens nothing, and prints every problem with its
 * line and column (docs/reference/commands.md, `check`).
 */
import { dirname, resolve } from 'node:path';
import type { ReadBytes } from '../../../shared/config/agent/sound-file.ts';
import { loadAgentFile, type LoadedAgent, type LoadOptions } from '../../../shared/config/load.ts';
import { unknownVariables } from '../../../shared/config/server/server.ts';
import { whyUnreadable } from '../../../shared/installation/named-files.ts';
import { loadAgentPackages } from '../../../shared/installation/agent-packages.ts';
import type { Packages } from '../../../shared/config/stages/package.ts';
import { showProblem, type Problem } from '../../../shared/config/problem.ts';

export interface CheckOptions {
  /** An unset key variable is an error instead of a warning. */
  readonly requireSecrets: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file, or `undefined` when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly readBytes: ReadBytes;
  /** The packages that the file names; absent: none is there. */
  readonly packages?: Packages;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
}

/**
 * Loads the agent file at `path`; files that it names are relative to it. `undefined` when the file cannot be read.
 * The start of the service uses this too, with `requireSecrets`.
 */
export function loadAgentFileAt(path: string, options: LoadOptions): LoadedAgent | undefined {
  const text = options.readFile(path);
  if (text === undefined) return undefined;
  const folder = dirname(resolve(path));
  return loadAgentFile(text, {
    ...options,
    readFile: (name) => options.readFile(resolve(folder, name)),
    readBytes: (name, most) => options.readBytes(resolve(folder, name), most),
    whyUnreadable: (name) => whyUnreadable(resolve(folder, name)),
  });
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function summary(problems: readonly Problem[]): string {
  const count = (severity: Problem['severity']): number =>
    problems.filter((problem) => problem.severity === severity).length;
  const [errors, warnings, notes] = [count('error'), count('warning'), count('note')];
  const parts = [errors > 0 ? counted(errors, 'error') : 'valid'];
  if (warnings > 0) parts.push(counted(warnings, 'warning'));
  if (notes > 0) parts.push(counted(notes, 'note'));
  return parts.join(', ');
}

/** The packages that the agent file at `path` names. */
export async function packagesOf(
  path: string,
  { readFile }: Pick<CheckOptions, 'readFile'>,
): Promise<Packages> {
  return (await loadAgentPackages(readFile(path) ?? '', path)).packages;
}

/** Returns the exit status: 0 for a valid file, 1 for one with errors. */
export function runCheck(file: string, options: CheckOptions): 0 | 1 {
  for (const warning of unknownVariables(options.env)) options.write(`warning: ${warning}`);
  const loaded = loadAgentFileAt(file, options);
  if (loaded === undefined) {
    options.write(`${file}:1:1: error: the file cannot be read: ${whyUnreadable(file)}`);
    options.write(`${file}: 1 error`);
    return 1;
  }
  for (const problem of loaded.problems) options.write(showProblem(file, problem));
  options.write(`${file}: ${summary(loaded.problems)}`);
  return loaded.definition === undefined ? 1 : 0;
}
