/** The server variables of Twilio: where its webhook and its media streams arrive, and what proves that they are its own. */
import { present } from '../../base/present.ts';
import type { HostPort } from '../../net/address.ts';
import type { Reader, Taken } from '../../config/server/environment.ts';
import type { Sensitive } from '../../config/sensitive.ts';
import { apiUrlVariable, plainUrl } from '../urls.ts';
import {
  listenerVariable,
  readVariable,
  secretVariable,
  signingSecretVariable,
  switchVariable,
  textLike,
} from '../../config/server/variables.ts';

export interface TwilioSettings {
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
  readonly control?: TwilioAccount;
  /** A stream may be ended and opened again: to press keys, and for a caller who comes back. */
  readonly resumesStream: boolean;
}

/** Who asks for changes of calls. */
export interface TwilioAccount {
  readonly accountSid: string;
  /** The account itself, or one of its API keys. */
  readonly user: string;
  readonly password: Sensitive<string>;
  /** Without a slash at its end. */
  readonly apiUrl: string;
}

const publicUrlForm =
  'a wss:// address that ends in /carrier_a/stream, without query, such as wss://voice.example.com/carrier_a/stream';

const readPublicUrl = textLike(publicUrlForm, (value) => {
  const url = plainUrl(value);
  // Signatures are made over the text of the address, so it has to be the one text that every program makes of it.
  return url?.protocol === 'wss:' && url.pathname.endsWith('/carrier_a/stream') && url.href === value;
});

const sidForm = 'two capital letters and 32 hexadecimal digits, such as AC0123456789abcdef0123456789abcdef';
const readSid = textLike(sidForm, (value) => /^[A-Z]{2}[0-9a-fA-F]{32}$/.test(value));

export const twilioVariables = {
  twilioAddr: listenerVariable(
    'SVC_CARRIER_A_ADDR',
    'Listener of carrier A: its voice webhook at /carrier_a/voice and its media streams at /carrier_a/stream.',
    { port: 8090, unset: 'no telephone calls of carrier A' },
  ),
  twilioPublicUrl: readVariable<string>(
    'SVC_CARRIER_A_PUBLIC_URL',
    'Address at which carrier A reaches the media streams. Its signatures are checked against it.',
    { form: publicUrlForm, read: readPublicUrl, fallback: '' },
  ),
  twilioAuthToken: secretVariable(
    'SVC_CARRIER_A_AUTH_TOKEN',
    'Auth token of the account at carrier A, with which it signs its requests.',
  ),
  twilioStreamSecret: signingSecretVariable(
    'SVC_CARRIER_A_STREAM_SECRET',
    'Makes an address of its own for the media stream of each call, which opens one call.',
  ),
  twilioAllowStaticUrl: switchVariable(
    'SVC_CARRIER_A_ALLOW_STATIC_URL',
    'For a first try: also accepts media streams at the fixed address, where a signature that somebody has seen can be used again.',
    false,
  ),
  twilioAccountSid: readVariable<string>(
    'SVC_CARRIER_A_ACCOUNT_SID',
    'Account at carrier A whose calls are transferred and made; without it calls only come in.',
    { form: sidForm, defaultText: 'unset: no call control', read: readSid, fallback: '' },
  ),
  twilioApiKeySid: readVariable<string>(
    'SVC_CARRIER_A_API_KEY_SID',
    'API key for requests to carrier A, instead of the account and its auth token.',
    { form: sidForm, read: readSid, fallback: '' },
  ),
  twilioApiKeySecret: secretVariable('SVC_CARRIER_A_API_KEY_SECRET', 'Secret of that API key.'),
  twilioApiUrl: apiUrlVariable(
    'SVC_CARRIER_A_API_URL',
    'Address of the API of carrier A, for another region.',
    'https://api.twilio.com',
  ),
  twilioResumeStream: switchVariable(
    'SVC_CARRIER_A_RESUME_STREAM',
    'Streams may be ended and opened again within a call: send_dtmf works, and a caller returns to the agent when nobody answers a transfer.',
    false,
  ),
} as const;

function accountOf(
  reader: Reader,
  taken: Taken<typeof twilioVariables>,
  authToken: Sensitive<string>,
): TwilioAccount | undefined {
  const variables = twilioVariables;
  const { twilioAccountSid: accountSid, twilioApiKeySid: keySid } = taken;
  if (reader.isSet(variables.twilioApiKeySid) !== reader.isSet(variables.twilioApiKeySecret))
    reader.refuse(
      variables.twilioApiKeySid,
      `needs ${variables.twilioApiKeySecret.name} beside it, and the reverse`,
    );
  if (accountSid === '') return undefined;
  return {
    accountSid,
    user: keySid === '' ? accountSid : keySid,
    password: taken.twilioApiKeySecret ?? authToken,
    apiUrl: taken.twilioApiUrl,
  };
}

export function takeTwilio(reader: Reader): { readonly twilio?: TwilioSettings } {
  const variables = twilioVariables;
  const taken = reader.takeAll(variables);
  const { twilioAddr: addr, twilioPublicUrl: publicUrl, twilioAuthToken: authToken } = taken;
  const { twilioAllowStaticUrl: allowsStaticUrl, twilioResumeStream: resumesStream } = taken;
  if (addr === undefined) return {};
  const missing = (variable: { readonly name: string }): void => {
    if (!reader.isSet(variable)) reader.refuse(variable, `must be set where ${variables.twilioAddr.name} is`);
  };
  missing(variables.twilioPublicUrl);
  missing(variables.twilioAuthToken);
  if (!allowsStaticUrl && !reader.isSet(variables.twilioStreamSecret))
    reader.refuse(
      variables.twilioStreamSecret,
      `must be set where ${variables.twilioAddr.name} is, or ${variables.twilioAllowStaticUrl.name}=1 for a first try`,
    );
  if (resumesStream && !reader.isSet(variables.twilioStreamSecret))
    reader.refuse(variables.twilioResumeStream, `needs ${variables.twilioStreamSecret.name} beside it`);
  if (authToken === undefined) return {};
  const control = accountOf(reader, taken, authToken);
  const streamSecret = taken.twilioStreamSecret;
  return {
    twilio: {
      addr,
      publicUrl,
      authToken,
      allowsStaticUrl,
      resumesStream,
      ...present({ streamSecret, control }),
    },
  };
}
