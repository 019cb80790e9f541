/** The server variables of telephone calls that belong to no single carrier. */
import type { Reader } from './environment.ts';
import { switchVariable } from './variables.ts';

export interface TelephonySettings {
  /** Telephone numbers leave the supervisor for no prompt, log, event or agent process. */
  readonly redactsNumbers: boolean;
}

export const telephonyVariables = {
  redactPhoneNumbers: switchVariable(
    'SVC_REDACT_PHONE_NUMBERS',
    'Numbers of callers are passed to nobody. Off: agent processes that ask for caller identity get them.',
    true,
  ),
} as const;

export const takeTelephony = (reader: Reader): TelephonySettings => ({
  redactsNumbers: reader.take(telephonyVariables.redactPhoneNumbers),
});
