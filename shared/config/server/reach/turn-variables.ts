/** The server variables of TURN relays: who gives them, and whether the service uses one itself (docs/webrtc.md, Reachability). */
import { fail, ok, type Result } from '../../../base/result.ts';
import type { Millis } from '../../../base/units.ts';
import { parseTurnUrl } from '../../../webrtc/turn-url.ts';
import type { Sensitive } from '../../sensitive.ts';
import { apiUrlVariable } from '../../../telephony/urls.ts';
import type { Reader, Taken } from '../environment.ts';
import {
  choiceVariable,
  countVariable,
  durationVariable,
  readVariable,
  secretVariable,
  switchVariable,
  textLike,
  type Name,
  type Variable,
} from '../variables.ts';

/** Where credentials for relays come from. */
export type TurnProvider =
  | {
      readonly name: 'self_hosted_turn';
      readonly urls: readonly string[];
      readonly secret: Sensitive<string>;
    }
  | {
      readonly name: 'cdn_turn';
      readonly apiUrl: string;
      readonly keyId: string;
      readonly apiToken: Sensitive<string>;
    }
  | {
      readonly name: 'carrier_a_turn';
      readonly apiUrl: string;
      readonly accountSid: string;
      /** Who signs in: the account, or one of its API keys. */
      readonly user: string;
      readonly password: Sensitive<string>;
    };

export interface TurnSettings {
  readonly provider: TurnProvider;
  /** Lifetime of credentials that clients get. */
  readonly ttlS: number;
  /** The service takes a relay of its own for each call; `only`: and tells no other UDP candidate. */
  readonly relay: 'off' | 'on' | 'only';
  readonly relayTimeoutMs: Millis;
  /** Each step of the service's relays is logged. */
  readonly isLogged: boolean;
}

const mostUrls = 16;
const urlsForm = `up to ${mostUrls} URLs such as turn:host:3478?transport=udp or turns:host:5349, separated by commas`;

function readUrls(value: string): Result<readonly string[], string> {
  const urls = value.split(',').map((url) => url.trim());
  const isRight = urls.length <= mostUrls && urls.every((url) => parseTurnUrl(url) !== undefined);
  return isRight ? ok(urls) : fail(`must be ${urlsForm}`);
}

const providers = ['self_hosted_turn', 'cdn_turn', 'carrier_a_turn'] as const;
const relays = ['on', 'only', 'off'] as const;

const idForm = 'up to 128 letters, digits, - and _';

const idVariable = (name: Name, text: string): Variable<string | undefined> =>
  readVariable<string | undefined>(name, text, {
    form: idForm,
    read: textLike(idForm, (value) => /^[\w-]{1,128}$/.test(value)),
    fallback: undefined,
  });

export const turnVariables = {
  turnProvider: choiceVariable(
    'SVC_TURN_PROVIDER',
    'Source of the relays (TURN) that clients of WebRTC calls get, by GET /whip/ice and in answers to offers.',
    { of: providers, fallback: undefined, defaultText: 'unset: no relays' },
  ),
  turnTtl: countVariable(
    'SVC_TURN_TTL',
    'Lifetime of the credentials for relays that clients get, in seconds.',
    { least: 30, most: 86_400, fallback: 600 },
  ),
  turnUrls: readVariable<readonly string[] | undefined>(
    'SVC_TURN_URLS',
    'TURN servers of self_hosted_turn; the service itself takes the first that answers.',
    { form: urlsForm, read: readUrls, fallback: undefined },
  ),
  turnSecret: secretVariable(
    'SVC_TURN_SECRET',
    'Static authentication secret of the servers of self_hosted_turn; no client gets it.',
  ),
  turnCdnKeyId: idVariable('SVC_TURN_CDN_KEY_ID', 'Id of the TURN key of cdn_turn.'),
  turnCdnApiToken: secretVariable('SVC_TURN_CDN_API_TOKEN', 'API token of the TURN key of cdn_turn.'),
  turnCdnApiUrl: apiUrlVariable(
    'SVC_TURN_CDN_API_URL',
    'Address where cdn_turn issues credentials.',
    'https://rtc.live.cloudflare.com',
  ),
  turnTwilioAccountSid: idVariable('SVC_TURN_CARRIER_A_ACCOUNT_SID', 'Account id of carrier_a_turn.'),
  turnTwilioAuthToken: secretVariable(
    'SVC_TURN_CARRIER_A_AUTH_TOKEN',
    'Auth token of carrier_a_turn, or the secret of its API key where SVC_TURN_CARRIER_A_API_KEY_SID is set.',
  ),
  turnTwilioApiKeySid: idVariable(
    'SVC_TURN_CARRIER_A_API_KEY_SID',
    'Id of an API key of carrier_a_turn, by which the service signs in instead of the account.',
  ),
  turnTwilioApiUrl: apiUrlVariable(
    'SVC_TURN_CARRIER_A_API_URL',
    'Address where carrier_a_turn issues credentials.',
    'https://api.twilio.com',
  ),
  webrtcTurnRelay: choiceVariable(
    'SVC_WEBRTC_TURN_RELAY',
    'The service takes a relay for each WebRTC call and tells its address beside its own (on), or instead of its own for UDP (only). Needs SVC_TURN_PROVIDER.',
    { of: relays, fallback: undefined, defaultText: 'unset: off' },
  ),
  webrtcTurnRelayTimeout: durationVariable(
    'SVC_WEBRTC_TURN_RELAY_TIMEOUT',
    'Longest wait of an offer for the relay of its call.',
    { defaultMs: 3_000, leastMs: 100 },
  ),
  logTurnClient: switchVariable(
    'SVC_LOG_TURN_CLIENT',
    'Logs each step with the relays, not only failures; for debugging.',
    false,
  ),
} as const;

/** Undefined where there are no relays. */
export function takeTurn(reader: Reader): TurnSettings | undefined {
  const variables = turnVariables;
  const taken = reader.takeAll(variables);
  const name = taken.turnProvider;
  const relay = taken.webrtcTurnRelay ?? 'off';
  if (name === undefined) {
    if (relay !== 'off')
      reader.refuse(
        variables.webrtcTurnRelay,
        `needs ${variables.turnProvider.name}, which gives the relays`,
      );
    return undefined;
  }
  const provider = takeProvider(reader, name, taken);
  return (
    provider && {
      provider,
      relay,
      ttlS: taken.turnTtl,
      relayTimeoutMs: taken.webrtcTurnRelayTimeout,
      isLogged: taken.logTurnClient,
    }
  );
}

type TurnValues = Taken<typeof turnVariables>;

/** Undefined where something is missing, which is reported. */
function takeProvider(
  reader: Reader,
  name: TurnProvider['name'],
  taken: TurnValues,
): TurnProvider | undefined {
  const need = <K extends keyof TurnValues>(key: K): NonNullable<TurnValues[K]> | undefined => {
    const value = taken[key];
    const variable = turnVariables[key];
    if (value === undefined && !reader.isSet(variable))
      reader.refuse(variable, `must be set where ${turnVariables.turnProvider.name} is ${name}`);
    return value ?? undefined;
  };
  switch (name) {
    case 'self_hosted_turn': {
      const [urls, secret] = [need('turnUrls'), need('turnSecret')];
      return urls && secret && { name, urls, secret };
    }
    case 'cdn_turn': {
      const [keyId, apiToken] = [need('turnCdnKeyId'), need('turnCdnApiToken')];
      return keyId === undefined || apiToken === undefined
        ? undefined
        : { name, keyId, apiToken, apiUrl: taken.turnCdnApiUrl };
    }
    case 'carrier_a_turn': {
      const [accountSid, password] = [need('turnTwilioAccountSid'), need('turnTwilioAuthToken')];
      if (accountSid === undefined || password === undefined) return undefined;
      const user = taken.turnTwilioApiKeySid ?? accountSid;
      return { name, accountSid, user, password, apiUrl: taken.turnTwilioApiUrl };
    }
  }
}
