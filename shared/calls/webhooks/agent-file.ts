/**
 * `[after_call]` of the agent file: who is told of calls, by webhooks (docs/webhooks.md). Secrets come from the environment; no message repeats
 * an address, which may hold one as well.
 */
import * as z from 'zod';
import { present } from '../../base/present.ts';
import { setVariable, variableName, type VariableSite } from '../../config/agent/secrets.ts';
import type { KeyPath } from '../../config/problem.ts';
import { isTable, readTable } from '../../config/table.ts';
import { isLoopbackHost } from '../../net/loopback.ts';
import { callEvents, type CallEventName } from './events.ts';
import { secretRule, webhookKey } from './secret.ts';

export const mostEndpoints = 8;

const address = z.string().min(1).max(2048);
const secret = variableName.meta({
  sample: 'CALLS_WEBHOOK_SECRET',
  description:
    'Environment variable of the secret that events are signed with: whsec_ and base64, as `svc-supervisor webhooks secret` makes it.',
});
const olderSecret = variableName.exactOptional().meta({
  sample: 'CALLS_WEBHOOK_SECRET_PREV',
  description: 'Variable of the secret before it: while a receiver is given the new one, both sign.',
});
const events = z
  .array(z.enum(callEvents))
  .min(1)
  .default([...callEvents])
  .meta({ description: 'The events that are told.' });
const allowHttp = z
  .boolean()
  .default(false)
  .meta({ description: 'Permits http:// to a host off this machine.' });
const allowPrivate = z.boolean().default(false).meta({
  description: 'Permits loopback, private and link-local addresses.',
});

export const afterCallKeys = z.strictObject({
  url: address.exactOptional().meta({
    sample: 'https://example.com/hooks/calls',
    description: 'Endpoint that is told of calls, https unless allow_http; needs SVC_CALLS_DB.',
  }),
  secret_env: secret.exactOptional(),
  secret_prev_env: olderSecret,
  events,
  allow_http: allowHttp,
  allow_private: allowPrivate,
  record_url: address.exactOptional().meta({
    sample: 'https://example.com/calls/{id}',
    description:
      'Address of a record for receivers, with {id}; sent as record_url, beside which bodies above 20 kB leave out what is long.',
  }),
});

export const afterCallEndpointKeys = z.strictObject({
  url: address.meta({
    description: 'Another endpoint.',
    examples: ['https://alarm.example.com/hooks/calls'],
  }),
  secret_env: secret.meta({ examples: ['ALARM_WEBHOOK_SECRET'] }),
  secret_prev_env: olderSecret,
  events,
  allow_http: allowHttp,
  allow_private: allowPrivate,
});

export interface WebhookEndpoint {
  readonly url: string;
  /** Variables of the present secret, and of the one before it. */
  readonly secretEnv: readonly string[];
  readonly events: readonly CallEventName[];
  readonly allowPrivate: boolean;
}

export interface WebhooksDefinition {
  readonly endpoints: readonly WebhookEndpoint[];
  /** With `{id}`. */
  readonly recordUrl?: string;
}

type EndpointKeys = z.output<typeof afterCallEndpointKeys>;

/** Reads the keys of `[after_call]` but for its analysis; undefined for what has errors. */
export function readWebhooks(
  raw: Readonly<Record<string, unknown>>,
  site: VariableSite,
): WebhooksDefinition | undefined {
  const { problems } = site;
  const at = ['after_call'];
  const { endpoints: others, ...own } = raw;
  const rules = { alsoKnown: ['endpoints', 'analysis'] };
  const { value } = readTable(afterCallKeys, own, { at, problems, rules });
  const listed = readEndpoints(others, site);
  if (value === undefined || listed === undefined) return undefined;
  const { url, secret_env: secretEnv, record_url: recordUrl } = value;
  if (recordUrl !== undefined && !URL.canParse(recordUrl.replaceAll('{id}', 'x')))
    problems.error([...at, 'record_url'], 'must be an address');
  if (url === undefined) {
    if (secretEnv !== undefined) problems.note([...at, 'secret_env'], 'acts only with after_call.url');
    return { endpoints: listed, ...present({ recordUrl }) };
  }
  if (secretEnv === undefined) {
    problems.missing([...at, 'secret_env'], 'is required beside after_call.url');
    return undefined;
  }
  const first = endpointOf({ ...value, url, secret_env: secretEnv }, at, site);
  return { endpoints: [first, ...listed], ...present({ recordUrl }) };
}

function readEndpoints(raw: unknown, site: VariableSite): WebhookEndpoint[] | undefined {
  if (raw === undefined) return [];
  const { problems } = site;
  const at = ['after_call', 'endpoints'];
  if (!Array.isArray(raw) || raw.length > mostEndpoints || !raw.every(isTable)) {
    problems.error(at, `must be at most ${mostEndpoints} tables written [[after_call.endpoints]]`);
    return undefined;
  }
  return raw.flatMap((entry, index) => {
    const place = [...at, index];
    const { value } = readTable(afterCallEndpointKeys, entry, { at: place, problems });
    return value === undefined ? [] : [endpointOf(value, place, site)];
  });
}

function endpointOf(
  keys: Omit<EndpointKeys, 'secret_prev_env'> & { readonly secret_prev_env?: string },
  at: KeyPath,
  site: VariableSite,
): WebhookEndpoint {
  checkAddress(keys, [...at, 'url'], site);
  const names = { secret_env: keys.secret_env, secret_prev_env: keys.secret_prev_env };
  const secretEnv = Object.entries(names).flatMap(([key, name]) =>
    name === undefined ? [] : readSecret(name, [...at, key], site),
  );
  return { url: keys.url, secretEnv, events: keys.events, allowPrivate: keys.allow_private };
}

function checkAddress(
  keys: Pick<EndpointKeys, 'url' | 'allow_http' | 'allow_private'>,
  at: KeyPath,
  { problems }: VariableSite,
): void {
  if (!/^https?:\/\//i.test(keys.url) || !URL.canParse(keys.url)) {
    problems.error(at, 'must be an http:// or https:// address');
    return;
  }
  const url = new URL(keys.url);
  const isHere = isLoopbackHost(url.hostname);
  if (url.username !== '' || url.password !== '')
    problems.error(at, 'must not hold credentials: receivers check the signature');
  if (url.hash !== '') problems.error(at, 'must have no fragment');
  if (url.protocol === 'http:' && !isHere && !keys.allow_http)
    problems.error(at, 'must be an https:// address, unless the host is loopback or allow_http is true');
  if (isHere && !keys.allow_private)
    problems.error(at, 'leads to a private address, which needs allow_private = true');
}

/** The variable, where it has a secret. */
function readSecret(name: string, at: KeyPath, site: VariableSite): string[] {
  const value = setVariable(name, at, site);
  if (value === undefined) return [];
  if (webhookKey(value) === undefined) {
    site.problems.error(at, `names the environment variable ${name}, which ${secretRule}`);
    return [];
  }
  return [name];
}
