/** The server variables of telephone calls that belong to no single carrier. */
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { HostPort } from '../net/address.ts';
import { Sensitive } from '../config/sensitive.ts';
import { Reader, type Env, type Taken } from '../config/server/environment.ts';
import {
  countVariable,
  listenerVariable,
  optionalPathVariable,
  readVariable,
  signingSecretVariable,
  switchVariable,
} from '../config/server/variables.ts';

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
  /** Absent: no calls are made. */
  readonly outbound?: OutboundSettings;
}

/** Calls that the service makes. */
export interface OutboundSettings {
  /** What those who are called see. */
  readonly from: Sensitive<string>;
  /** Beginnings of the numbers that may be called. */
  readonly allowed: readonly string[];
  readonly perMinute: number;
}

const prefixesForm =
  'beginnings of numbers, separated by commas, each + and 1 to 15 digits, such as +1555,+90';

function readPrefixes(value: string): Result<readonly string[], string> {
  const prefixes = value.split(',').map((prefix) => prefix.trim());
  const isRight = prefixes.length <= 256 && prefixes.every((prefix) => /^\+[0-9]{1,15}$/.test(prefix));
  return isRight ? ok(prefixes) : fail(`must be ${prefixesForm}, at most 256`);
}

const numberForm = 'E.164 number: + and 8 to 15 digits';
const readNumber = (value: string): Result<Sensitive<string> | undefined, string> =>
  /^\+[0-9]{8,15}$/.test(value) ? ok(new Sensitive(value)) : fail(`must be an ${numberForm}`);

export const telephonyVariables = {
  redactPhoneNumbers: switchVariable(
    'SVC_REDACT_PHONE_NUMBERS',
    "Callers' numbers are passed to nobody. Off: agent processes that ask for caller identity get them, and {{call.from}} and {{call.to}} contain them.",
    true,
  ),
  callbackAddr: listenerVariable(
    'SVC_CALLBACK_ADDR',
    'Listener where warm transfers are completed and aborted; without it warm transfers are off.',
    { port: 8092, unset: 'no warm transfers' },
  ),
  callbackSecret: signingSecretVariable(
    'SVC_CALLBACK_SECRET',
    'Secret that every request to that listener must bring, as a bearer token or as the password of Basic authentication.',
  ),
  outboundFrom: readVariable<Sensitive<string> | undefined>(
    'SVC_OUTBOUND_FROM',
    'Number of the account from which POST /calls of the callback listener makes calls.',
    { form: numberForm, defaultText: 'unset: no calls are made', read: readNumber, fallback: undefined },
  ),
  outboundAllow: readVariable<readonly string[]>(
    'SVC_OUTBOUND_ALLOW',
    'Prefixes of the numbers that may be called; all others are refused.',
    { form: prefixesForm, defaultText: 'unset: none', read: readPrefixes, fallback: [] },
  ),
  outboundPerMinute: countVariable(
    'SVC_OUTBOUND_PER_MINUTE',
    'Calls that are made within a minute at most.',
    { least: 1, most: 6_000, fallback: 30 },
  ),
  stateDir: optionalPathVariable(
    'SVC_STATE_DIR',
    'Folder that stores warm transfers, so that the service finds a parked caller again after a crash, calls that wait for SVC_CALLS_DB, and minutes that agents have used of [limits].',
  ),
} as const;

/** Whether telephone numbers may be passed on, in a process that got the environment of its supervisor. */
export const showsNumbers = (env: Env): boolean =>
  !takeTelephony(new Reader(env, { cores: 1 })).telephony.redactsNumbers;

export function takeTelephony(reader: Reader): {
  readonly telephony: TelephonySettings;
  readonly callback?: CallbackSettings;
} {
  const variables = telephonyVariables;
  const taken = reader.takeAll(variables);
  const { redactPhoneNumbers: redactsNumbers, stateDir, callbackAddr: addr, callbackSecret: secret } = taken;
  if (addr !== undefined && !reader.isSet(variables.callbackSecret))
    reader.refuse(variables.callbackSecret, `must be set where ${variables.callbackAddr.name} is`);
  const outbound = outboundOf(reader, taken);
  return {
    telephony: present({ redactsNumbers, stateDir }),
    ...(addr !== undefined && secret !== undefined && { callback: present({ addr, secret, outbound }) }),
  };
}

function outboundOf(reader: Reader, taken: Taken<typeof telephonyVariables>): OutboundSettings | undefined {
  const variables = telephonyVariables;
  const { outboundFrom: from, outboundAllow: allowed, outboundPerMinute: perMinute } = taken;
  if (from === undefined) return undefined;
  if (taken.callbackAddr === undefined)
    reader.refuse(variables.outboundFrom, `needs ${variables.callbackAddr.name} beside it`);
  if (!reader.isSet(variables.outboundAllow))
    reader.refuse(variables.outboundAllow, `must be set where ${variables.outboundFrom.name} is`);
  return { from, allowed, perMinute };
}
