/** The command `config`: prints every setting as it is in force, of secrets only whether they are set, and addresses without passwords. */
import {
  describeServerSettings,
  parseServerSettings,
  unknownVariables,
} from '../../shared/config/server/server.ts';

export interface ConfigCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cores: number;
  /** Takes one line without its end. */
  readonly write: (line: string) => void;
}

/** User and password in an address, which a start may refuse: what is printed here is pasted elsewhere. */
const credentials = /(?<=\/\/)[^/\s]*@/g;

/** Returns the exit status: 0 when the service would accept these settings, else 1. */
export function runConfig({ env, cores, write }: ConfigCommandOptions): 0 | 1 {
  const rows = describeServerSettings();
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, defaultText, isSecret } of rows) {
    const given = env[name];
    const told = given?.replaceAll(credentials, '...@') ?? `${defaultText} (default)`;
    const secret = given === undefined ? 'unset' : 'set';
    write(`${name.padEnd(width)}  ${isSecret ? secret : told}`);
  }
  const parsed = parseServerSettings(env, { cores });
  const problems = parsed.ok ? [] : parsed.error;
  for (const problem of problems) write(`error: ${problem.message}`);
  for (const warning of parsed.ok ? parsed.value.warnings : unknownVariables(env))
    write(`warning: ${warning}`);
  return problems.length === 0 ? 0 : 1;
}
