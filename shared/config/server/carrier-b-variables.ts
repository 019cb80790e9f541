/** The server variables of carrier B: where its webhooks and media streams arrive, what proves them, and how its calls are controlled. */
import { fail, ok, type Result } from '../../base/result.ts';
import { parseHostPort, type HostPort } from '../../net/address.ts';
import { apiUrlVariable } from './api-url-variable.ts';
import type { Reader } from './environment.ts';
import type { Sensitive } from '../sensitive.ts';
import { readVariable, secretVariable } from './variables.ts';

export interface CarrierBSettings {
  readonly addr: HostPort;
  /** `wss://` address of the media streams as the carrier reaches it; empty where the service opens none itself. */
  readonly publicUrl: string;
  /** What every stream has to bring; absent only on a loopback address. */
  readonly streamToken?: Sensitive<string>;
  /** How calls are answered and controlled; absent: the operator opens streams, and calls are not controlled. */
  readonly control?: CarrierBAccount;
}

export interface CarrierBAccount {
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
const holdForm = 'an https:// address';
const publicKeyForm = '32 bytes in base64, as the carrier shows them';

function readPublicUrl(value: string): Result<string, string> {
  if (!URL.canParse(value) || value.length > 1_024) return fail(`must be ${publicUrlForm}`);
  const { protocol, username, password, search, hash, pathname } = new URL(value);
  const isPlain = username === '' && password === '' && search === '' && hash === '';
  return protocol === 'wss:' && isPlain && pathname.endsWith('/carrier_b/stream')
    ? ok(value)
    : fail(`must be ${publicUrlForm}`);
}

const readPublicKey = (value: string): Result<string, string> =>
  /^[A-Za-z0-9+/]{43}=$/.test(value) ? ok(value) : fail(`must be ${publicKeyForm}`);

export const carrierBVariables = {
  carrierBAddr: readVariable<HostPort | undefined>(
    'SVC_CARRIER_B_ADDR',
    'Listener of carrier B: its webhooks at /carrier_b/webhook and its media streams at /carrier_b/stream.',
    {
      form: 'host:port, [::1]:8091 for IPv6; port 0 takes a free one',
      defaultText: 'unset: no telephone calls of carrier B',
      read: parseHostPort,
      fallback: undefined,
    },
  ),
  carrierBPublicUrl: readVariable<string>(
    'SVC_CARRIER_B_PUBLIC_URL',
    'Address at which carrier B reaches the media streams that the service asks for.',
    { form: publicUrlForm, defaultText: 'unset', read: readPublicUrl, fallback: '' },
  ),
  carrierBStreamToken: secretVariable(
    'SVC_CARRIER_B_STREAM_TOKEN',
    'Token that every media stream of carrier B brings in x-telnyx-streaming-auth-token.',
  ),
  carrierBApiKey: secretVariable(
    'SVC_CARRIER_B_API_KEY',
    'API key with which calls of carrier B are answered and controlled; without it streams only come in.',
  ),
  carrierBApiUrl: apiUrlVariable(
    'SVC_CARRIER_B_API_URL',
    'Address of the API of carrier B.',
    'https://api.telnyx.com/v2',
  ),
  carrierBPublicKey: readVariable<string>(
    'SVC_CARRIER_B_PUBLIC_KEY',
    'Public key of the account, with which its webhooks are verified.',
    { form: publicKeyForm, defaultText: 'unset', read: readPublicKey, fallback: '' },
  ),
  carrierBConnectionId: readVariable<string>(
    'SVC_CARRIER_B_CONNECTION_ID',
    'Connection (application) of carrier B that warm transfers ring destinations with.',
    {
      form: 'letters, digits, _ and -, at most 64',
      defaultText: 'unset: no warm transfers',
      read: (value) =>
        /^[\w-]{1,64}$/.test(value) ? ok(value) : fail('must be letters, digits, _ and -, at most 64'),
      fallback: '',
    },
  ),
  carrierBHoldAudioUrl: readVariable<string>(
    'SVC_CARRIER_B_HOLD_AUDIO_URL',
    'WAV or MP3 file that callers hear on hold in a warm transfer. Carrier B fetches it, and has no music of its own that it promises.',
    {
      form: holdForm,
      defaultText: 'unset: what carrier B plays by itself, which may be nothing',
      read: (value) =>
        URL.canParse(value) && new URL(value).protocol === 'https:' && value.length <= 1_024
          ? ok(value)
          : fail(`must be ${holdForm}`),
      fallback: '',
    },
  ),
} as const;

export function takeCarrierB(reader: Reader): { readonly carrierB?: CarrierBSettings } {
  const variables = carrierBVariables;
  const addr = reader.take(variables.carrierBAddr);
  const publicUrl = reader.take(variables.carrierBPublicUrl);
  const streamToken = reader.take(variables.carrierBStreamToken);
  const apiKey = reader.take(variables.carrierBApiKey);
  const apiUrl = reader.take(variables.carrierBApiUrl);
  const publicKey = reader.take(variables.carrierBPublicKey);
  const connectionId = reader.take(variables.carrierBConnectionId);
  const holdAudioUrl = reader.take(variables.carrierBHoldAudioUrl);
  if (addr === undefined) return {};
  const needed = [variables.carrierBPublicUrl, variables.carrierBPublicKey, variables.carrierBStreamToken];
  if (apiKey !== undefined)
    for (const variable of needed)
      if (!reader.isSet(variable))
        reader.refuse(variable, `must be set where ${variables.carrierBApiKey.name} is`);
  return {
    carrierB: {
      addr,
      publicUrl,
      ...(streamToken !== undefined && { streamToken }),
      ...(apiKey !== undefined && { control: { apiKey, apiUrl, publicKey, connectionId, holdAudioUrl } }),
    },
  };
}
