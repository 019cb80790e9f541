/**
 * `[before_call]` of the agent file: a server of the operator that is asked what a call is to be, before its first word (docs/before-call.md).
 * Nothing is resolved or opened here, and no message repeats an address.
 */
import * as z from 'zod';
import { readSigningKeys } from '../auth/webhook-signature.ts';
import { readSecretHeaders, variableName, type VariableSite } from '../config/agent/secrets.ts';
import { headerName, isPrivateLiteral } from '../config/agent/tools.ts';
import { Sensitive } from '../config/sensitive.ts';
import { readTable } from '../config/table.ts';
import { isLoopbackHost } from '../net/loopback.ts';

/** Below the time that a call waits for everybody who is asked about it. */
const longestMs = 4_000;

export const beforeCallKeys = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2048)
    .meta({
      examples: ['https://crm.example.com/before-call'],
      description: 'Server that is asked by POST before each call. https, unless allow_http.',
    }),
  headers_env: z
    .record(headerName, variableName)
    .default({})
    .meta({
      sample: { Authorization: 'CRM_AUTHORIZATION' },
      description: 'Headers whose whole value comes from an environment variable.',
    }),
  secret_env: variableName.exactOptional().meta({
    sample: 'BEFORE_CALL_SECRET',
    description:
      'Environment variable of the secret that signs the request by Standard Webhooks, whsec_ and base64; absent: it is not signed.',
  }),
  timeout_ms: z.int().min(100).max(longestMs).default(1500).meta({
    description: 'Wait for the answer, with the second attempt after a connection that failed.',
  }),
  on_failure: z.enum(['default', 'refuse']).default('default').meta({
    description:
      'What becomes of a call without a good answer: it begins as the file says, or it is refused as by a service that is full.',
  }),
  allow_http: z.boolean().default(false).meta({ description: 'Permits http:// to a host off this machine.' }),
  allow_private: z.boolean().default(false).meta({
    description: 'Permits loopback, private and link-local addresses.',
  }),
});

export interface BeforeCallDefinition {
  readonly url: URL;
  readonly secretHeaders: ReadonlyMap<string, Sensitive<string>>;
  /** None: requests are not signed. */
  readonly signingKeys: Sensitive<readonly Buffer[]>;
  readonly timeoutMs: number;
  readonly onFailure: 'default' | 'refuse';
  readonly allowPrivate: boolean;
}

const at = ['before_call'];

/** Reads `[before_call]`; undefined without the section, and where it is wrong, which `problems` says. */
export function readBeforeCall(raw: unknown, site: VariableSite): BeforeCallDefinition | undefined {
  if (raw === undefined) return undefined;
  const { problems } = site;
  const { value, known } = readTable(beforeCallKeys, raw, { at, problems });
  const url = known.url === undefined ? undefined : readUrl(known.url, known, site);
  const secretHeaders = readSecretHeaders(known.headers_env ?? {}, [...at, 'headers_env'], site);
  const signingKeys = readKeys(known.secret_env, site);
  if (value === undefined || url === undefined) return undefined;
  const { timeout_ms: timeoutMs, on_failure: onFailure, allow_private: allowPrivate } = value;
  return { url, secretHeaders, signingKeys, timeoutMs, onFailure, allowPrivate };
}

function readUrl(
  text: string,
  known: Partial<z.output<typeof beforeCallKeys>>,
  { problems }: VariableSite,
): URL | undefined {
  const say = (rule: string): undefined => {
    problems.error([...at, 'url'], rule);
  };
  const isHttp = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text);
  if (!isHttp) return say('must be an https:// address');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return say('must not hold credentials; use headers_env');
  if (url.hash !== '') return say('must have no fragment');
  const isPlain = url.protocol === 'http:' && !isLoopbackHost(url.hostname);
  if (isPlain && known.allow_http !== true)
    return say('must be an https:// address; http:// only to a loopback host, or with allow_http');
  if (isPrivateLiteral(url.hostname) && known.allow_private !== true)
    return say('leads to a private address, which needs allow_private = true');
  if (isPlain && Object.keys(known.headers_env ?? {}).length > 0)
    problems.error([...at, 'headers_env'], 'is only sent over https:// or to a loopback host');
  return url;
}

function readKeys(name: string | undefined, site: VariableSite): Sensitive<readonly Buffer[]> {
  const place = [...at, 'secret_env'];
  const names = name === undefined ? {} : { secret_env: name };
  const secret = readSecretHeaders(names, at, site).get('secret_env');
  const keys = secret === undefined ? undefined : readSigningKeys(secret.reveal());
  if (keys?.ok === false)
    site.problems.error(place, `names the environment variable ${name ?? ''}, which ${keys.error}`);
  return new Sensitive(keys?.ok === true ? keys.value : []);
}
