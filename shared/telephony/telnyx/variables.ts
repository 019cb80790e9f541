/** The server variables of Telnyx: where its webhooks and media streams arrive, what proves them, and how its calls are controlled. */
import { present } from '../../base/present.ts';
import type { HostPort } from '../../net/address.ts';
import { apiUrlVariable, plainUrl } from '../urls.ts';
import type { Reader } from '../../config/server/environment.ts';
import type { Sensitive } from '../../config/sensitive.ts';
import { listenerVariable, readVariable, secretVariable, textLike } from '../../config/server/variables.ts';

export interface TelnyxSettings {
  readonly addr: HostPort;
  /** `wss://` address of the media streams as the carrier reaches it; empty where the service opens none itself. */
  readonly publicUrl: string;
  /** What every stream has to bring; absent only on a loopback address. */
  readonly streamToken?: Sensitive<string>;
  /** How calls are answered and controlled; absent: the operator opens streams, and calls are not controlled. */
  readonly control?: TelnyxAccount;
}

export interface TelnyxAccount {
  readonly apiKey: Sensitive<string>;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** 32 bytes in base64, with which webhooks are verified. */
  readonly publicKey: string;
  /** Makes calls of our own; empty: none are made. */
  readonly connectionId: string;
  /** Sound for callers on hold; empty: what the carrier plays there by itself. */
  readonly holdAudioUrl?: string;
}

const publicUrlForm = 'a wss:// address that ends in /carrier_b/stream, without query';
const idForm = 'letters, digits, _ and -, at most 64';
const holdForm = 'an https:// address';
const publicKeyForm = '32 bytes in base64, as the carrier shows them';

const readPublicUrl = textLike(publicUrlForm, (value) => {
  const url = plainUrl(value);
  return url?.protocol === 'wss:' && url.pathname.endsWith('/carrier_b/stream');
});

const readPublicKey = textLike(publicKeyForm, (value) => /^[A-Za-z0-9+/]{43}=$/.test(value));

export const telnyxVariables = {
  telnyxAddr: listenerVariable(
    'SVC_CARRIER_B_ADDR',
    'Listener of carrier B: its webhooks at /carrier_b/webhook and its media streams at /carrier_b/stream.',
    { port: 8091, unset: 'no telephone calls of carrier B' },
  ),
  telnyxPublicUrl: readVariable<string>(
    'SVC_CARRIER_B_PUBLIC_URL',
    'Address at which carrier B reaches the media streams that the service asks for.',
    { form: publicUrlForm, read: readPublicUrl, fallback: '' },
  ),
  telnyxStreamToken: secretVariable(
    'SVC_CARRIER_B_STREAM_TOKEN',
    'Token that every media stream of carrier B brings in x-telnyx-streaming-auth-token.',
  ),
  telnyxApiKey: secretVariable(
    'SVC_CARRIER_B_API_KEY',
    'API key with which calls of carrier B are answered and controlled; without it streams only come in.',
  ),
  telnyxApiUrl: apiUrlVariable(
    'SVC_CARRIER_B_API_URL',
    'Address of the API of carrier B.',
    'https://api.telnyx.com/v2',
  ),
  telnyxPublicKey: readVariable<string>(
    'SVC_CARRIER_B_PUBLIC_KEY',
    'Public key of the account, with which its webhooks are verified.',
    { form: publicKeyForm, read: readPublicKey, fallback: '' },
  ),
  telnyxConnectionId: readVariable<string>(
    'SVC_CARRIER_B_CONNECTION_ID',
    'Connection (application) of carrier B that warm transfers ring destinations with.',
    {
      form: idForm,
      defaultText: 'unset: no warm transfers',
      read: textLike(idForm, (value) => /^[\w-]{1,64}$/.test(value)),
      fallback: '',
    },
  ),
  telnyxHoldAudioUrl: readVariable<string>(
    'SVC_CARRIER_B_HOLD_AUDIO_URL',
    'WAV or MP3 file that callers hear on hold in a warm transfer. Carrier B fetches it; it has no guaranteed music of its own.',
    {
      form: holdForm,
      defaultText: 'unset: what carrier B plays by itself, which may be nothing',
      read: textLike(
        holdForm,
        (value) => value.length <= 1_024 && URL.canParse(value) && new URL(value).protocol === 'https:',
      ),
      fallback: '',
    },
  ),
} as const;

export function takeTelnyx(reader: Reader): { readonly telnyx?: TelnyxSettings } {
  const variables = telnyxVariables;
  const taken = reader.takeAll(variables);
  const { telnyxAddr: addr, telnyxApiKey: apiKey } = taken;
  if (addr === undefined) return {};
  const needed = [variables.telnyxPublicUrl, variables.telnyxPublicKey, variables.telnyxStreamToken];
  if (apiKey !== undefined)
    for (const variable of needed)
      if (!reader.isSet(variable))
        reader.refuse(variable, `must be set where ${variables.telnyxApiKey.name} is`);
  const control = apiKey && {
    apiKey,
    apiUrl: taken.telnyxApiUrl,
    publicKey: taken.telnyxPublicKey,
    connectionId: taken.telnyxConnectionId,
    holdAudioUrl: taken.telnyxHoldAudioUrl,
  };
  const { telnyxPublicUrl: publicUrl, telnyxStreamToken: streamToken } = taken;
  return { telnyx: present({ addr, publicUrl, streamToken, control }) };
}
