/** The server variables of telephone calls that belong to no single carrier. */
import { parseHostPort } from '../../net/address.ts';
import type { HostPort } from '../../net/address.ts';
import type { Sensitive } from '../sensitive.ts';
import type { Reader } from './environment.ts';
import { optionalPathVariable, readVariable, signingSecretVariable, switchVariable } from './variables.ts';

export interface TelephonySettings {
  /** Telephone numbers leave the supervisor for no prompt, log, event or agent process. */
  readonly redactsNumbers: boolean;
  /** Where warm transfers are written down; absent: they are forgotten when the service dies. */
  readonly stateDir?: string;
}

/** The listener of operators. */
export interface CallbackSettings {
  readonly addr: HostPort;
  readonly secret: Sensitive<string>;
}

export const telephonyVariables = {
  redactPhoneNumbers: switchVariable(
    'SVC_REDACT_PHONE_NUMBERS',
    'Numbers of callers are passed to nobody. Off: agent processes that ask for caller identity get them.',
    true,
  ),
  callbackAddr: readVariable<HostPort | undefined>(
    'SVC_CALLBACK_ADDR',
    'Listener where warm transfers are completed and aborted; without it there are none.',
    {
      form: 'host:port, [::1]:8092 for IPv6; port 0 takes a free one',
      defaultText: 'unset: no warm transfers',
      read: parseHostPort,
      fallback: undefined,
    },
  ),
  callbackSecret: signingSecretVariable(
    'SVC_CALLBACK_SECRET',
    'What every request to that listener brings: as a bearer token, or as the password of Basic authentication.',
  ),
  stateDir: optionalPathVariable(
    'SVC_STATE_DIR',
    'Folder in which warm transfers are written down, so that a parked caller is found again after the service has died.',
  ),
} as const;

export function takeTelephony(reader: Reader): {
  readonly telephony: TelephonySettings;
  readonly callback?: CallbackSettings;
} {
  const variables = telephonyVariables;
  const redactsNumbers = reader.take(variables.redactPhoneNumbers);
  const stateDir = reader.take(variables.stateDir);
  const [addr, secret] = [reader.take(variables.callbackAddr), reader.take(variables.callbackSecret)];
  if (addr !== undefined && !reader.isSet(variables.callbackSecret))
    reader.refuse(variables.callbackSecret, `must be set where ${variables.callbackAddr.name} is`);
  return {
    telephony: { redactsNumbers, ...(stateDir !== undefined && { stateDir }) },
    ...(addr !== undefined && secret !== undefined && { callback: { addr, secret } }),
  };
}
