/**
 * Environment variables that tools name: their values travel in headers or into a child process, never into the file, a
 * message or a log.
 */
import * as z from 'zod';
import type { KeyPath, ProblemList } from '../problem.ts';
import { Sensitive } from '../sensitive.ts';

export const variableName = z
  .string()
  .max(128)
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable: capital letters, digits and _');

export interface VariableSite {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an unset variable is an error or a warning. */
  readonly requireSecrets: boolean;
  readonly problems: ProblemList;
}

/** Values that a header may carry; a child process takes any text. */
type Carrier = 'header' | 'process';

/** The value of a variable that a key names; where it is not set, the problem is told. */
export function setVariable(
  name: string,
  at: KeyPath,
  { env, requireSecrets, problems }: VariableSite,
): string | undefined {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const rule = `names the environment variable ${name}, which is not set`;
  if (requireSecrets) problems.error(at, rule);
  else problems.warning(at, rule);
  return undefined;
}

function readVariable(
  name: string,
  at: KeyPath,
  { carrier, ...site }: VariableSite & { carrier: Carrier },
): Sensitive<string> | undefined {
  const value = setVariable(name, at, site);
  if (value === undefined) return undefined;
  if (carrier === 'header' && !/^[\x20-\x7e]+$/.test(value)) {
    site.problems.error(
      at,
      `names the environment variable ${name}, whose value holds characters that no header has`,
    );
    return undefined;
  }
  return new Sensitive(value);
}

/** Headers by name with the values of their variables; one that is not set is left out. */
export function readSecretHeaders(
  names: Readonly<Record<string, string>>,
  at: KeyPath,
  site: VariableSite,
): ReadonlyMap<string, Sensitive<string>> {
  const found = new Map<string, Sensitive<string>>();
  for (const [header, name] of Object.entries(names)) {
    const value = readVariable(name, [...at, header], { ...site, carrier: 'header' });
    if (value !== undefined) found.set(header, value);
  }
  return found;
}

/** What a child process gets, by name; a variable that is not set is left out. */
export function readPassedOn(
  names: readonly string[],
  at: KeyPath,
  site: VariableSite,
): ReadonlyMap<string, Sensitive<string>> {
  const found = new Map<string, Sensitive<string>>();
  names.forEach((name, index) => {
    const value = readVariable(name, [...at, index], { ...site, carrier: 'process' });
    if (value !== undefined) found.set(name, value);
  });
  return found;
}
