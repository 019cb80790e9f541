/**
 * `calls token` and `live token`: tokens that open the calls of one tenant, those that are over and those that run. The secret comes from the
 * environment alone, and nothing here prints it.
 */
import { minSecretBytes } from '../../../shared/auth/session-token.ts';
import { isTenant, maySign, tenantToken, type TenantAccess } from '../../../shared/auth/tenant-token.ts';
import { callsVariables } from '../../../shared/calls/variables.ts';
import { liveToken, monitorVariables } from '../../../shared/monitor/variables.ts';
import { readArguments, usageError } from '../commands.ts';

const daySeconds = 86_400;
const mostDays = 3_650;

export interface TenantTokenOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly write: (line: string) => void;
  readonly writeError: (line: string) => void;
}

/** The static token that signs for each. */
const signers: Readonly<Record<TenantAccess, { readonly name: string }>> = {
  calls: callsVariables.callsToken,
  live: liveToken,
  listen: monitorVariables.monitorListenToken,
  whisper: monitorVariables.monitorWhisperToken,
  take_over: monitorVariables.monitorTakeOverToken,
};
const roles: readonly string[] = Object.keys(signers).filter((to) => to !== 'calls');

/** Returns the exit status. */
export function runTenantToken(
  command: 'calls token' | 'live token',
  args: readonly string[],
  { env, now, write, writeError }: TenantTokenOptions,
): 0 | 1 | 2 {
  const misuse = (error: string): 2 => {
    writeError(usageError(command, error));
    return 2;
  };
  const parsed = readArguments(command, args);
  if (!parsed.ok) return misuse(parsed.error);
  const { values } = parsed.value;
  const { tenant = '', days = '30' } = values;
  const may = ('may' in values ? values.may : undefined) ?? '';
  if (!isTenant(tenant)) return misuse('--tenant: must be the name of a tenant');
  if (!/^\d{1,4}$/.test(days) || Number(days) < 1 || Number(days) > mostDays)
    return misuse(`--days: must be a number from 1 to ${mostDays}`);
  if (command === 'live token' && !roles.includes(may))
    return misuse(`--may: must be one of ${roles.join(', ')}`);
  const to = command === 'calls token' ? 'calls' : (may as TenantAccess);
  const { name } = signers[to];
  const secret = env[name];
  if (secret === undefined || !maySign(secret)) {
    writeError(`${name} must be set, and have at least ${minSecretBytes} bytes: it signs the token`);
    return 1;
  }
  const expiresS = Math.floor(now() / 1000) + Number(days) * daySeconds;
  write(tenantToken({ to, tenant, expiresS }, secret));
  return 0;
}
