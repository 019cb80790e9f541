/**
 * What an operator says of a tenant, in a file beside the folder of its agents: how much of the service it may use, and what its files may do that
 * would reach beyond its own. It is not for the tenant to write, who may write the folder. Pure.
 */
import * as z from 'zod';
import { isPrivateLiteral } from '../config/agent/tools.ts';
import { variableName } from '../config/agent/secrets.ts';
import { ProblemList, type KeyPath, type Problem } from '../config/problem.ts';
import { isTable, readTable, reportUnknownKey } from '../config/table.ts';
import { readToml } from '../config/toml.ts';
import { limitKeys, readLimits, type Limits } from './limits.ts';
import { mayCall, type TenantReach } from './version.ts';

export const tenantFileEnd = '.tenant.toml';

const allowKeys = z.strictObject({
  env: z
    .array(variableName)
    .max(256)
    .default([])
    .meta({
      sample: ['LLM_API_KEY'],
      description:
        'Environment variables of the service that its files may name; without them they have the secrets of SVC_SECRETS_DIR/TENANT alone.',
    }),
  private_addresses: z.boolean().default(false).meta({
    description: 'Its files may lead to loopback, private and link-local addresses.',
  }),
  numbers: z
    .array(z.string().regex(/^\+[0-9]{1,15}$/, 'must be + and 1 to 15 digits'))
    .max(64)
    .default([])
    .meta({
      sample: ['+1555', '+49'],
      description:
        'How the numbers begin that its calls may be handed to, and that may be called for it; empty: every number.',
    }),
  routing: z
    .array(z.string().min(1).max(256))
    .max(256)
    .default([])
    .meta({
      sample: ['+15550100', 'clinic.example.com'],
      description:
        'What [routing] of its files may name: how numbers begin, and whole hosts and trunks; empty: whatever no other agent has.',
    }),
  programs: z.boolean().default(false).meta({
    description: 'Its files may start programs ([[mcp]] command) and load packages of providers (npm:NAME).',
  }),
});

const tenantFileTables = { limits: limitKeys, allow: allowKeys } as const;

export interface TenantSettings {
  readonly limits?: Limits;
  readonly env: readonly string[];
  readonly privateAddresses: boolean;
  readonly programs: boolean;
  /** Empty: every one. */
  readonly numbers: readonly string[];
  /** Empty: whatever no other agent has. */
  readonly routing: readonly string[];
}

/** Of a tenant of which the operator says nothing. */
export const strictTenant: TenantSettings = {
  env: [],
  privateAddresses: false,
  programs: false,
  numbers: [],
  routing: [],
};

export const reachOf = ({ privateAddresses, numbers }: TenantSettings): TenantReach => ({
  ...(!privateAddresses && { isPublicOnly: true }),
  ...(numbers.length > 0 && { numbers }),
});

export interface TenantReading {
  readonly settings?: TenantSettings;
  readonly problems: readonly Problem[];
}

export function readTenantFile(text: string): TenantReading {
  const { tree, places, syntaxProblems } = readToml(text);
  const problems = new ProblemList(places, syntaxProblems.length > 0);
  const sections = Object.keys(tenantFileTables);
  for (const name of Object.keys(tree ?? {}))
    if (!sections.includes(name)) reportUnknownKey([name], sections, problems);
  const limits = readLimits(tree?.['limits'], problems);
  const { value } = readTable(allowKeys, tree?.['allow'] ?? {}, { at: ['allow'], problems });
  value?.env.forEach((name, index) => {
    if (name.startsWith('SVC_') && !name.startsWith('SVC_AGENT_'))
      problems.error(['allow', 'env', index], 'is a variable of the service itself');
  });
  const all = [...syntaxProblems, ...problems.sorted()];
  if (value === undefined || all.some(({ severity }) => severity === 'error')) return { problems: all };
  const { env, private_addresses: privateAddresses, programs, numbers, routing } = value;
  return {
    settings: { env, privateAddresses, programs, numbers, routing, ...(limits !== undefined && { limits }) },
    problems: all,
  };
}

/** Reports what a file of the tenant must not say. */
export function checkTenantRules(
  tree: Readonly<Record<string, unknown>>,
  settings: TenantSettings,
  problems: ProblemList,
): void {
  const { privateAddresses, programs } = settings;
  if (!programs && Array.isArray(tree['mcp']))
    tree['mcp'].forEach((server: unknown, index) => {
      if (isTable(server) && 'command' in server)
        problems.error(['mcp', index, 'command'], `starts a program, ${byTenantFile('allow.programs')}`);
    });
  if (!privateAddresses) checkAddresses(tree, [], problems);
  const { telephony } = tree;
  const destinations = isTable(telephony) ? telephony['destinations'] : undefined;
  for (const [name, number] of Object.entries(isTable(destinations) ? destinations : {}))
    if (typeof number === 'string' && !mayCall(reachOf(settings), number))
      problems.error(
        ['telephony', 'destinations', name],
        'begins like no number in allow.numbers of its tenant file',
      );
  checkClaims(tree['routing'], settings, problems);
}

/** What is meant for another tenant may come to nobody, but not to this one. */
function checkClaims(raw: unknown, { routing }: TenantSettings, problems: ProblemList): void {
  if (routing.length === 0 || !isTable(raw)) return;
  const isListed = {
    numbers: (number: string) => routing.some((beginning) => number.replace(/\*$/, '').startsWith(beginning)),
    hosts: (host: string) => routing.some((one) => one.toLowerCase() === host.toLowerCase()),
    trunks: (trunk: string) => routing.includes(trunk),
  };
  for (const [key, isAllowed] of Object.entries(isListed)) {
    const claims: unknown = raw[key];
    if (!Array.isArray(claims)) continue;
    claims.forEach((claim: unknown, index) => {
      if (typeof claim === 'string' && !isAllowed(claim))
        problems.error(['routing', key, index], 'is nothing of allow.routing of its tenant file');
    });
  }
}

const byTenantFile = (key: string): string => `which a tenant may where ${key} of its tenant file says so`;

/** Wherever an address stands. */
function checkAddresses(value: unknown, at: KeyPath, problems: ProblemList): void {
  const rule = byTenantFile('allow.private_addresses');
  if (typeof value === 'string') {
    if (isPrivateAddress(value)) problems.error(at, `leads to a private address, ${rule}`);
  } else if (Array.isArray(value))
    value.forEach((one: unknown, index) => checkAddresses(one, [...at, index], problems));
  else if (isTable(value))
    for (const [key, one] of Object.entries(value)) {
      if (key === 'allow_private' && one === true)
        problems.error([...at, key], `permits private addresses, ${rule}`);
      checkAddresses(one, [...at, key], problems);
    }
}

function isPrivateAddress(text: string): boolean {
  const plain = text.replaceAll(/\{[^{}]*\}/g, 'x');
  if (!/^\s*(?:https?|wss?):/i.test(plain) || !URL.canParse(plain)) return false;
  const host = new URL(plain).hostname.replace(/\.$/, '');
  return isPrivateLiteral(host) || host.endsWith('.localhost');
}
