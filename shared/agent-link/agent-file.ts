/**
 * `[agent_link]` of the agent file: the process that holds the application logic of calls, and routes to others (docs/reference/agent-file.md,
 * `[agent_link]`). Environment variables stand above the section; {@link linkTargets} brings both together.
 */
import * as z from 'zod';
import type { AgentLinkVariables } from './variables.ts';
import { judgePlaintext, readAgentUrl, type AgentUrl } from '../config/agent-url.ts';
import type { KeyPath, ProblemList } from '../config/problem.ts';
import type { Sensitive } from '../config/sensitive.ts';
import { readTable } from '../config/table.ts';
import { readSecretHeaders, variableName, type VariableSite } from '../config/agent/secrets.ts';

export const mostRoutes = 32;

const urlKey = z.string().min(1).max(2048);

export const agentLinkKeys = z.strictObject({
  url: urlKey.exactOptional().meta({
    sample: 'wss://agent.example.com/calls',
    description:
      'Agent process that each call is connected to, ws:// or wss://; absent: calls run on this file alone. SVC_AGENT_URL stands above it.',
  }),
  token_env: variableName.exactOptional().meta({
    sample: 'AGENT_TOKEN',
    description: 'Environment variable of the bearer token; SVC_AGENT_TOKEN stands above it.',
  }),
  allow_insecure: z.boolean().default(false).meta({
    description: 'Permits ws:// to a host off the private network, here and in routes, with a warning.',
  }),
  caller_identity: z.boolean().default(false).meta({
    description:
      "Sends the carrier's id of telephone calls in session.start; numbers are withheld. Not for routes.",
  }),
});

export const agentRouteKeys = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .meta({
      examples: ['billing'],
      description: 'What a call names with agent_route; a name that no route has leads to url.',
    }),
  url: urlKey.meta({
    examples: ['wss://billing.example.com/calls'],
    description: 'Agent process of the route, ws:// or wss://.',
  }),
  token_env: variableName.exactOptional().meta({
    sample: 'BILLING_TOKEN',
    description: 'Environment variable of its bearer token; absent: none is sent.',
  }),
  allow_insecure: z.boolean().default(false).meta({
    description: 'Permits ws:// to a host off the private network for this route.',
  }),
  caller_identity: z.boolean().default(false).meta({
    description: "Sends the carrier's id of telephone calls to this route; numbers are withheld.",
  }),
  signed: z.boolean().default(false).meta({
    description:
      'Only the session token of a call, or its carrier, leads here: a client that names the route by itself is refused.',
  }),
});

/** One agent process. */
export interface LinkTarget {
  readonly url: AgentUrl;
  readonly token?: Sensitive<string>;
  readonly callerIdentity: boolean;
}

/** An agent process that calls name. */
export interface RouteTarget extends LinkTarget {
  /** What a client says by itself does not lead here. */
  readonly signed: boolean;
}

export interface AgentLinkDefinition {
  readonly url?: AgentUrl;
  readonly token?: Sensitive<string>;
  readonly callerIdentity: boolean;
  readonly routes: ReadonlyMap<string, RouteTarget>;
}

interface Site extends VariableSite {
  /** The environment permits ws:// everywhere. */
  readonly allowInsecure: boolean;
  /** The environment gives the address. */
  readonly hasUrl: boolean;
  /** Callers bring session tokens. */
  readonly hasSessions: boolean;
}

/** Reads `[agent_link]`. */
export function readAgentLink(raw: unknown, site: Site): AgentLinkDefinition | undefined {
  if (raw === undefined) return undefined;
  const { problems } = site;
  const at = ['agent_link'];
  const { routes: rawRoutes, ...section } = isObject(raw) ? raw : {};
  const table = isObject(raw) ? section : raw;
  const { value } = readTable(agentLinkKeys, table, { at, problems, rules: { alsoKnown: ['routes'] } });
  const allowInsecure = site.allowInsecure || value?.allow_insecure === true;
  const routes = readRoutes(rawRoutes, { ...site, allowInsecure });
  if (value === undefined || routes === undefined) return undefined;
  if (value.url === undefined && !site.hasUrl) noteUseless(value, at, problems);
  const target = readTarget(value, at, { ...site, allowInsecure });
  return { ...target, callerIdentity: value.caller_identity, routes };
}

const isObject = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

function noteUseless(value: z.output<typeof agentLinkKeys>, at: KeyPath, problems: ProblemList): void {
  for (const key of ['token_env', 'caller_identity'] as const)
    if (value[key] !== undefined && value[key] !== false)
      problems.note([...at, key], 'acts only with agent_link.url or SVC_AGENT_URL');
}

function readRoutes(raw: unknown, site: Site): ReadonlyMap<string, RouteTarget> | undefined {
  if (raw === undefined) return new Map();
  const { problems } = site;
  const at = ['agent_link', 'routes'];
  if (!Array.isArray(raw) || raw.length > mostRoutes) {
    problems.error(at, `must be at most ${mostRoutes} tables written [[agent_link.routes]]`);
    return undefined;
  }
  const routes = new Map<string, RouteTarget>();
  raw.forEach((entry: unknown, index) => {
    const place = [...at, index];
    const { value } = readTable(agentRouteKeys, entry, { at: place, problems });
    if (value === undefined) return;
    if (routes.has(value.name)) problems.error([...place, 'name'], 'is the name of another route');
    const allowInsecure = site.allowInsecure || value.allow_insecure;
    const { url, token } = readTarget(value, place, { ...site, allowInsecure });
    const { signed, caller_identity: callerIdentity } = value;
    if (site.hasSessions && !signed) problems.warning([...place, 'name'], unsignedRule);
    if (url !== undefined) routes.set(value.name, { url, ...(token && { token }), callerIdentity, signed });
  });
  return routes;
}

const unsignedRule =
  'can be chosen by any client with a session token that names no route; signed = true lets the token alone choose it';

function readTarget(
  { url: text, token_env: tokenEnv }: { readonly url?: string; readonly token_env?: string },
  at: KeyPath,
  site: Site,
): { readonly url?: AgentUrl; readonly token?: Sensitive<string> } {
  const { problems } = site;
  const names = tokenEnv === undefined ? {} : { token_env: tokenEnv };
  const token = readSecretHeaders(names, at, site).get('token_env');
  const read = text === undefined ? undefined : readAgentUrl(text);
  if (read?.ok === false) problems.error([...at, 'url'], read.error);
  const url = read?.ok === true ? read.value : undefined;
  if (url !== undefined) {
    const verdict = judgePlaintext(url, site);
    if (verdict.kind === 'refused') problems.error([...at, 'url'], verdict.rule);
    if (verdict.kind === 'warned') problems.warning([...at, 'url'], verdict.rule);
  }
  return { ...(url !== undefined && { url }), ...(token !== undefined && { token }) };
}

/** Where calls may be connected to: to one process by default, to others by name. */
export interface LinkTargets {
  readonly fallback?: LinkTarget;
  readonly routes: ReadonlyMap<string, RouteTarget>;
}

/** The section with the environment above it; undefined where no call has an agent process. */
export function linkTargets(
  section: AgentLinkDefinition | undefined,
  variables: AgentLinkVariables,
): LinkTargets | undefined {
  const url = variables.url ?? section?.url;
  const token = variables.token ?? section?.token;
  const callerIdentity = variables.callerIdentity ?? section?.callerIdentity ?? false;
  const routes = section?.routes ?? new Map<string, RouteTarget>();
  if (url === undefined) return routes.size === 0 ? undefined : { routes };
  return { fallback: { url, ...(token && { token }), callerIdentity }, routes };
}
