/** `calls token`: a token of the history page for one tenant. The secret comes from the environment alone, and nothing here prints it. */
import { minSecretBytes } from '../../../shared/auth/session-token.ts';
import { isTenant, maySign, tenantToken } from '../../../shared/calls/tenant-token.ts';
import { callsVariables } from '../../../shared/calls/variables.ts';
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

/** Returns the exit status. */
export function runTenantToken(
  args: readonly string[],
  { env, now, write, writeError }: TenantTokenOptions,
): 0 | 1 | 2 {
  const misuse = (error: string): 2 => {
    writeError(usageError('calls token', error));
    return 2;
  };
  const parsed = readArguments('calls token', args);
  if (!parsed.ok) return misuse(parsed.error);
  const { tenant = '', days = '30' } = parsed.value.values;
  if (!isTenant(tenant)) return misuse('--tenant: must be the name of a tenant');
  if (!/^\d{1,4}$/.test(days) || Number(days) < 1 || Number(days) > mostDays)
    return misuse(`--days: must be a number from 1 to ${mostDays}`);
  const { name } = callsVariables.callsToken;
  const secret = env[name];
  if (secret === undefined || !maySign(secret)) {
    writeError(`${name} must be set, and have at least ${minSecretBytes} bytes: it signs the token`);
    return 1;
  }
  const expiresS = Math.floor(now() / 1000) + Number(days) * daySeconds;
  write(tenantToken({ tenant, expiresS }, secret));
  return 0;
}
