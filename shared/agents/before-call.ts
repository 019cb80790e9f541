/**
 * `[before_call]` of the agent file: a server of the operator that is asked what a call is to be, before its first word (docs/before-call.md).
 * Nothing is resolved or opened here, and no message repeats an address.
 */
import * as z from 'zod';
import { fail, ok, type Result } from '../base/result.ts';
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
  const read = known.url === undefined ? undefined : readUrl(known.url, known);
  if (read?.ok === false) problems.error([...at, 'url'], read.error);
  const hasHeaders = Object.keys(known.headers_env ?? {}).length > 0;
  if (read?.ok === true && isOpen(read.value) && hasHeaders)
    problems.error([...at, 'headers_env'], 'is only sent over https:// or to a loopback host');
  const secretHeaders = readSecretHeaders(known.headers_env ?? {}, [...at, 'headers_env'], site);
  const signingKeys = readKeys(known.secret_env, site);
  if (value === undefined || read?.ok !== true) return undefined;
  const { timeout_ms: timeoutMs, on_failure: onFailure, allow_private: allowPrivate } = value;
  const url = read.value;
  return { url, secretHeaders, signingKeys, timeoutMs, onFailure, allowPrivate };
}

type Known = Partial<z.output<typeof beforeCallKeys>>;

/** The address; the error is the rule that it breaks. */
function readUrl(text: string, known: Known): Result<URL, string> {
  const isHttp = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text);
  if (!isHttp) return fail('must be an https:// address');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return fail('must not hold credentials; use headers_env');
  if (url.hash !== '') return fail('must have no fragment');
  if (isOpen(url) && known.allow_http !== true)
    return fail('must be an https:// address; http:// only to a loopback host, or with allow_http');
  if (isPrivateLiteral(url.hostname) && known.allow_private !== true)
    return fail('leads to a private address, which needs allow_private = true');
  return ok(url);
}

/** Everybody on the way can read what is sent there. */
const isOpen = (url: URL): boolean => url.protocol === 'http:' && !isLoopbackHost(url.hostname);

function readKeys(name: string | undefined, site: VariableSite): Sensitive<readonly Buffer[]> {
  const place = [...at, 'secret_env'];
  const names = name === undefined ? {} : { secret_env: name };
  const secret = readSecretHeaders(names, at, site).get('secret_env');
  const keys = secret === undefined ? undefined : readSigningKeys(secret.reveal());
  if (keys?.ok === false)
    site.problems.error(place, `names the environment variable ${name ?? ''}, which ${keys.error}`);
  return new Sensitive(keys?.ok === true ? keys.value : []);
}
