/** The server variables of carrier A: where its webhook and its media streams arrive, and what proves that they are its own. */
import { fail, ok, type Result } from '../../base/result.ts';
import { parseHostPort, type HostPort } from '../../net/address.ts';
import type { Reader } from './environment.ts';
import type { Sensitive } from '../sensitive.ts';
import { apiUrlVariable } from './api-url-variable.ts';
import { readVariable, secretVariable, signingSecretVariable, switchVariable } from './variables.ts';

export interface CarrierASettings {
  readonly addr: HostPort;
  /** `wss://` address of the media streams as the carrier reaches it, without the segment of a call. */
  readonly publicUrl: string;
  /** Signs the carrier's requests. */
  readonly authToken: Sensitive<string>;
  /** Makes the segments of calls; absent where the address of streams is fixed. */
  readonly streamSecret?: Sensitive<string>;
  /** The fixed address opens calls, too. */
  readonly allowsStaticUrl: boolean;
  /** How calls are controlled; absent: they are not. */
  readonly control?: CarrierAAccount;
  /** A stream may be ended and opened again: to press keys, and for a caller who comes back. */
  readonly resumesStream: boolean;
}

/** Who asks for changes of calls. */
export interface CarrierAAccount {
  readonly accountSid: string;
  /** The account itself, or one of its API keys. */
  readonly user: string;
  readonly password: Sensitive<string>;
  /** Without a slash at its end. */
  readonly apiUrl: string;
}

const publicUrlForm =
  'a wss:// address that ends in /carrier_a/stream, without query, such as wss://voice.example.com/carrier_a/stream';

function readPublicUrl(value: string): Result<string, string> {
  if (!URL.canParse(value) || value.length > 1_024) return fail(`must be ${publicUrlForm}`);
  const { protocol, username, password, search, hash, pathname } = new URL(value);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  // Signatures are made over the text of the address, so it has to be the one text that every program makes of it.
  const isRight = protocol === 'wss:' && isPlain && pathname.endsWith('/carrier_a/stream');
  return isRight && new URL(value).href === value ? ok(value) : fail(`must be ${publicUrlForm}`);
}

const sidForm = 'two capital letters and 32 hexadecimal digits, such as AC0123456789abcdef0123456789abcdef';
const readSid = (value: string): Result<string, string> =>
  /^[A-Z]{2}[0-9a-fA-F]{32}$/.test(value) ? ok(value) : fail(`must be ${sidForm}`);

export const carrierAVariables = {
  carrierAAddr: readVariable<HostPort | undefined>(
    'SVC_CARRIER_A_ADDR',
    'Listener of carrier A: its voice webhook at /carrier_a/voice and its media streams at /carrier_a/stream.',
    {
      form: 'host:port, [::1]:8090 for IPv6; port 0 takes a free one',
      defaultText: 'unset: no telephone calls of carrier A',
      read: parseHostPort,
      fallback: undefined,
    },
  ),
  carrierAPublicUrl: readVariable<string>(
    'SVC_CARRIER_A_PUBLIC_URL',
    'Address at which carrier A reaches the media streams. Its signatures are checked against it.',
    { form: publicUrlForm, defaultText: 'unset', read: readPublicUrl, fallback: '' },
  ),
  carrierAAuthToken: secretVariable(
    'SVC_CARRIER_A_AUTH_TOKEN',
    'Auth token of the account at carrier A, with which it signs its requests.',
  ),
  carrierAStreamSecret: signingSecretVariable(
    'SVC_CARRIER_A_STREAM_SECRET',
    'Makes an address of its own for the media stream of each call, which opens one call.',
  ),
  carrierAAllowStaticUrl: switchVariable(
    'SVC_CARRIER_A_ALLOW_STATIC_URL',
    'For a first try: takes media streams at the fixed address too, where a signature that was read once can be used again.',
    false,
  ),
  carrierAAccountSid: readVariable<string>(
    'SVC_CARRIER_A_ACCOUNT_SID',
    'Account at carrier A whose calls are transferred and made; without it calls only come in.',
    { form: sidForm, defaultText: 'unset: no call control', read: readSid, fallback: '' },
  ),
  carrierAApiKeySid: readVariable<string>(
    'SVC_CARRIER_A_API_KEY_SID',
    'API key that asks carrier A, instead of the account with its auth token.',
    { form: sidForm, defaultText: 'unset', read: readSid, fallback: '' },
  ),
  carrierAApiKeySecret: secretVariable('SVC_CARRIER_A_API_KEY_SECRET', 'Secret of that API key.'),
  carrierAApiUrl: apiUrlVariable(
    'SVC_CARRIER_A_API_URL',
    'Address of the API of carrier A, for another region.',
    'https://api.twilio.com',
  ),
  carrierAResumeStream: switchVariable(
    'SVC_CARRIER_A_RESUME_STREAM',
    'Streams may be ended and opened again within a call: send_dtmf works, and a caller whom nobody took over comes back to the bot.',
    false,
  ),
} as const;

function takeAccount(reader: Reader, authToken: Sensitive<string>): { readonly control?: CarrierAAccount } {
  const variables = carrierAVariables;
  const accountSid = reader.take(variables.carrierAAccountSid);
  const keySid = reader.take(variables.carrierAApiKeySid);
  const keySecret = reader.take(variables.carrierAApiKeySecret);
  const apiUrl = reader.take(variables.carrierAApiUrl);
  if (reader.isSet(variables.carrierAApiKeySid) !== reader.isSet(variables.carrierAApiKeySecret))
    reader.refuse(
      variables.carrierAApiKeySid,
      `needs ${variables.carrierAApiKeySecret.name} beside it, and the reverse`,
    );
  if (accountSid === '') return {};
  const password = keySecret ?? authToken;
  return { control: { accountSid, user: keySid === '' ? accountSid : keySid, password, apiUrl } };
}

export function takeCarrierA(reader: Reader): { readonly carrierA?: CarrierASettings } {
  const variables = carrierAVariables;
  const addr = reader.take(variables.carrierAAddr);
  const publicUrl = reader.take(variables.carrierAPublicUrl);
  const authToken = reader.take(variables.carrierAAuthToken);
  const streamSecret = reader.take(variables.carrierAStreamSecret);
  const allowsStaticUrl = reader.take(variables.carrierAAllowStaticUrl);
  const resumesStream = reader.take(variables.carrierAResumeStream);
  if (addr === undefined) return {};
  const missing = (variable: { readonly name: string }): void => {
    if (!reader.isSet(variable))
      reader.refuse(variable, `must be set where ${variables.carrierAAddr.name} is`);
  };
  missing(variables.carrierAPublicUrl);
  missing(variables.carrierAAuthToken);
  if (!allowsStaticUrl && !reader.isSet(variables.carrierAStreamSecret))
    reader.refuse(
      variables.carrierAStreamSecret,
      `must be set where ${variables.carrierAAddr.name} is, or ${variables.carrierAAllowStaticUrl.name}=1 for a first try`,
    );
  if (resumesStream && !reader.isSet(variables.carrierAStreamSecret))
    reader.refuse(variables.carrierAResumeStream, `needs ${variables.carrierAStreamSecret.name} beside it`);
  if (authToken === undefined) return {};
  const secret = streamSecret !== undefined && { streamSecret };
  const account = takeAccount(reader, authToken);
  return {
    carrierA: { addr, publicUrl, authToken, ...secret, allowsStaticUrl, ...account, resumesStream },
  };
}
