/**
 * What an operator changes when a provider or a server fails: one sentence for each cause that a change of the file, of the
 * environment or of the network mends. Pure; it names keys and variables, never their values.
 */
import type { StageError } from './stage.ts';
import type { Cause } from './failure.ts';

/** Where in the agent file the other side is set up. */
export interface AdviceSite {
  /** Path of the key that names the variable with the key, or the headers; absent where there is none. */
  readonly keyAt?: string | undefined;
  /** The variable that it names. */
  readonly keyVariable?: string | undefined;
  /** There is a key, whose variable is not told. */
  readonly hasKey?: boolean;
  /** Paths of the keys that choose what is asked for: model, voice. */
  readonly chosenAt: readonly string[];
  /** Path of the key of the address. */
  readonly addressAt: string;
  readonly host: string;
  /** TLS was asked for. */
  readonly isEncrypted: boolean;
}

const keyCodes = /api_?key|auth|credential|unauthori[sz]ed|forbidden_key/i;
const spentCodes = /quota|billing|spend|credit|balance|payment|funds/i;
const modelCodes = /model|voice|not_found/i;
const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_|ERR_TLS_CERT_)/;
const plainAnswerCodes = /^(ERR_SSL_|EPROTO$)/;

/** The sentence, or undefined where nothing that the operator holds would help. */
export function adviceOn(error: StageError, cause: Cause, site: AdviceSite): string | undefined {
  const { code = '' } = cause;
  switch (error.kind) {
    case 'rejected':
      return onStatus(error, code, site);
    case 'timeout':
      return onTimeout(error.what, site);
    case 'disconnected':
      return onConnection(code, site);
    case 'protocol':
      return error.rule.includes('WebSocket') || error.rule.startsWith('content type')
        ? `something else than the expected service answers at ${site.host}: check ${site.addressAt}`
        : undefined;
    case 'cancelled':
      return undefined;
  }
}

function onStatus(
  { status }: Extract<StageError, { kind: 'rejected' }>,
  code: string,
  site: AdviceSite,
): string | undefined {
  if (status === 402 || spentCodes.test(code))
    return 'the account has nothing left to spend, or may not spend it: look at its billing';
  if (status === 401 || (status <= 403 && keyCodes.test(code))) return keyAdvice(site);
  if (status === 403)
    return `the key is known, but may not use this: check what the account of ${shownKey(site)} is allowed, or ${chosen(site)}`;
  if (status === 404) return `${site.host} does not know what was asked for: check ${chosen(site)}`;
  if ((status === 400 || status === 422) && modelCodes.test(code))
    return `check ${site.chosenAt.join(' and ')}`;
  if (status === 429)
    return 'more was asked for than the account allows: raise its limit, or set SVC_PROVIDER_LIMITS below it';
  if (status >= 300 && status < 400)
    return `${site.host} sends elsewhere, and a key does not follow: put the new address into ${site.addressAt}`;
  if (status === 400 || status === 405 || status === 410 || status === 422)
    return `the request was not understood: check ${chosen(site)}`;
  return undefined;
}

function keyAdvice({ keyAt, keyVariable, hasKey, host }: AdviceSite): string {
  if (keyVariable !== undefined)
    return `${host} does not accept the key: put a valid one into the environment variable ${keyVariable} (${keyAt ?? 'api_key_env'})`;
  if (hasKey === true && keyAt !== undefined)
    return `${host} does not accept the credentials: put valid ones into the variables of ${keyAt}`;
  if (keyAt === undefined) return `${host} asks for credentials, and none can be set here`;
  return `${host} asks for a key: let ${keyAt} name the environment variable that holds it`;
}

const shownKey = ({ keyVariable, keyAt }: AdviceSite): string => keyVariable ?? keyAt ?? 'this service';

const chosen = ({ chosenAt, addressAt }: AdviceSite): string => [...chosenAt, addressAt].join(' and ');

function onTimeout(what: string, { host, addressAt }: AdviceSite): string | undefined {
  if (what === 'name lookup')
    return `the name of ${host} is not resolved in time: look at this machine's DNS`;
  return what === 'connect'
    ? `${host} does not answer: check ${addressAt}, and whether a firewall lets this machine through`
    : undefined;
}

function onConnection(code: string, { host, addressAt, isEncrypted }: AdviceSite): string | undefined {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return `the name of ${host} cannot be resolved: check ${addressAt} and this machine's DNS`;
  if (code === 'ADDRESS_REFUSED')
    return `${host} leads to a private address: set allow_private = true beside ${addressAt} where that is meant`;
  if (code === 'ADDRESS_FENCED')
    return `${host} leads to a private address, which a tenant may reach where allow.private_addresses of its tenant file says so`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}: start the server, or check ${addressAt}`;
  if (['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'].includes(code))
    return `${host} cannot be reached from here: check ${addressAt} and this machine's network`;
  if (certificateCodes.test(code))
    return `the certificate of ${host} is not trusted: check ${addressAt}; NODE_EXTRA_CA_CERTS names further authorities`;
  if (plainAnswerCodes.test(code))
    return `${host} does not speak TLS there: check port and scheme in ${addressAt}`;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET')
    return `${host} closed the connection at once${isEncrypted ? '' : ', as servers do that expect TLS'}: check port and scheme in ${addressAt}`;
  return undefined;
}
