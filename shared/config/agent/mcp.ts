/**
 * `[[mcp]]` of the agent file: servers of the Model Context Protocol whose tools the agent may use. A server runs as a
 * command or answers at an address, never both; it sees only the variables that are named.
 */
import * as z from 'zod';
import type { KeyPath } from '../problem.ts';
import { readEndpoint } from '../stages/endpoint.ts';
import type { Sensitive } from '../sensitive.ts';
import { readTable } from '../table.ts';
import { checkVariables } from './call-variables.ts';
import { readPassedOn, readSecretHeaders, variableName, type VariableSite } from './secrets.ts';
import { listedName } from './tools.ts';

export const mcpKeys = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .meta({ description: 'Name of the server in logs.', examples: ['crm'] }),
  command: z
    .array(z.string().min(1).max(1024))
    .min(1)
    .max(64)
    .exactOptional()
    .meta({
      examples: [['npx', '-y', 'crm-server']],
      description: 'Program and arguments. Exactly one of command and url.',
    }),
  url: z.string().max(2048).exactOptional().meta({
    sample: 'https://tools.example.com/mcp',
    description: 'Address of a server that speaks streamable HTTP.',
  }),
  headers_env: z
    .record(z.string().regex(/^[A-Za-z0-9-]{1,128}$/, 'must be the name of a header'), variableName)
    .default({})
    .meta({ description: 'Headers whose whole value comes from an environment variable; with url.' }),
  env: z.array(variableName).max(64).default([]).meta({
    description: 'Environment variables that are passed on beside PATH; with command.',
  }),
  tools: z
    .array(listedName)
    .max(64)
    .exactOptional()
    .meta({
      sample: ['lookup_customer'],
      description: 'Tools that are used, by the names that the server gives them; absent means all.',
    }),
  side_effects: z.array(listedName).max(64).default([]).meta({
    description: 'Tools that change the world; every other one only reads.',
  }),
  confirm: z.array(listedName).max(64).default([]).meta({
    description: 'Those of side_effects about which the caller is asked first.',
  }),
  arguments: z
    .record(z.string().min(1).max(64), z.string().max(1024))
    .default({})
    .meta({
      description:
        'Arguments that the call gives and the LLM neither sees nor chooses, for tools that declare them; variables of the call may stand in the values.',
      examples: [{ customer_id: '{{session.meta.customer}}' }],
    }),
  timeout_ms: z.int().min(1).max(30_000).default(5000).meta({ description: 'Wait for a result.' }),
  filler_after_ms: z.int().min(0).max(30_000).default(700).meta({
    description: 'A filler is spoken after this long without a result; 0: none.',
  }),
});

export interface McpDefinition {
  readonly name: string;
  readonly from:
    | { readonly command: readonly string[]; readonly env: ReadonlyMap<string, Sensitive<string>> }
    | { readonly url: string; readonly secretHeaders: ReadonlyMap<string, Sensitive<string>> };
  /** Absent: every tool that the server lists. */
  readonly tools?: readonly string[];
  readonly sideEffects: readonly string[];
  /** Some of `sideEffects`. */
  readonly confirm: readonly string[];
  /** What the call gives to tools that declare an argument of the name, with variables of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly fillerAfterMs: number;
}

const mostServers = 16;

type McpKeys = z.output<typeof mcpKeys>;

function readSource(keys: McpKeys, at: KeyPath, site: VariableSite): McpDefinition['from'] | undefined {
  const { command, url, env, headers_env: headersEnv } = keys;
  const { problems } = site;
  if (command !== undefined && url !== undefined) {
    problems.error([...at, 'url'], 'and command exclude each other; keep one of them');
    return undefined;
  }
  if (command !== undefined) {
    if (Object.keys(headersEnv).length > 0) problems.error([...at, 'headers_env'], 'needs url');
    return { command, env: readPassedOn(env, [...at, 'env'], site) };
  }
  if (url === undefined) {
    problems.missing([...at, 'command'], 'or url is required');
    return undefined;
  }
  if (env.length > 0) problems.error([...at, 'env'], 'needs command');
  const endpoint = readEndpoint(url, { family: 'http', path: 'allowed', plain: 'loopback' });
  if (!endpoint.ok) {
    problems.error([...at, 'url'], endpoint.error);
    return undefined;
  }
  return {
    url: endpoint.value.text,
    secretHeaders: readSecretHeaders(headersEnv, [...at, 'headers_env'], site),
  };
}

/** Reads every `[[mcp]]`. `taken` holds the names of other tools and gains those of the allow-lists. */
export function readMcp(raw: unknown, site: VariableSite & { readonly taken: Set<string> }): McpDefinition[] {
  if (raw === undefined) return [];
  const { taken, problems } = site;
  if (!Array.isArray(raw) || raw.length > mostServers) {
    problems.error(['mcp'], `must be at most ${mostServers} tables written [[mcp]]`);
    return [];
  }
  const servers = new Set<string>();
  return raw.flatMap((entry: unknown, index): McpDefinition[] => {
    const at = ['mcp', index];
    const { value } = readTable(mcpKeys, entry, { at, problems });
    if (value === undefined) return [];
    if (servers.has(value.name)) problems.error([...at, 'name'], 'is the name of another server');
    servers.add(value.name);
    value.tools?.forEach((name, place) => {
      if (taken.has(name)) problems.error([...at, 'tools', place], 'is the name of another tool');
      taken.add(name);
    });
    value.side_effects.forEach((name, place) => {
      if (value.tools?.includes(name) === false)
        problems.error([...at, 'side_effects', place], 'must be one of the tools of this server');
    });
    for (const [name, text] of Object.entries(value.arguments))
      checkVariables(text, [...at, 'arguments', name], problems);
    value.confirm.forEach((name, place) => {
      if (!value.side_effects.includes(name))
        problems.error([...at, 'confirm', place], 'must be one of side_effects');
    });
    const from = readSource(value, at, site);
    if (from === undefined) return [];
    return [
      {
        name: value.name,
        from,
        ...(value.tools !== undefined && { tools: value.tools }),
        sideEffects: value.side_effects,
        confirm: value.confirm,
        arguments: value.arguments,
        timeoutMs: value.timeout_ms,
        fillerAfterMs: value.filler_after_ms,
      },
    ];
  });
}
