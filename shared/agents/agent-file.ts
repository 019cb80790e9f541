/**
 * `[routing]` of the agent file: which calls come to this agent in a service of many (SVC_AGENTS_DIR). A service of one agent gives it
 * every call, and the section says nothing there.
 */
import * as z from 'zod';
import { parseCidr } from '../net/cidr.ts';
import { noRouting, type RoutingDefinition, type RoutingSplit } from './routing.ts';
import type { ProblemList } from '../config/problem.ts';
import { readTable } from '../config/table.ts';

const mostSplits = 8;

export const routingKeys = z.strictObject({
  numbers: z
    .array(
      z
        .string()
        .regex(
          /^\+?[A-Za-z0-9._-]{1,63}\*?$|^\*$/,
          'must be a dialled number such as +15550100001, or the beginning of some with * behind it',
        ),
    )
    .max(1000)
    .default([])
    .meta({
      sample: ['+15550100001', '+155501002*'],
      description:
        'Dialled numbers whose calls come here, as carrier or SIP peer write them; * at the end stands for whatever follows. The longest beginning wins.',
    }),
  hosts: z
    .array(z.string().regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be the name of a host'))
    .max(100)
    .default([])
    .meta({
      sample: ['clinic.example.com'],
      description: 'Host names in the SIP addresses that are called, for calls whose number no agent has.',
    }),
  trunks: z
    .array(z.string().max(64))
    .max(100)
    .default([])
    .meta({
      sample: ['192.0.2.0/24'],
      description: 'Networks of SIP trunks whose calls come here when neither number nor host says where.',
    }),
  open: z.boolean().default(false).meta({
    description:
      'Whether a client may ask for this agent by itself: start.metadata.agent, or ?agent= of WHIP, RTVI and the page.',
  }),
});

export const routingSplitKeys = z.strictObject({
  agent: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
    .meta({
      examples: ['front-desk-b'],
      description: 'Name of another agent of the same tenant that gets a share of the calls that come here.',
    }),
  weight: z
    .int()
    .min(1)
    .max(100)
    .meta({ examples: [10], description: 'Its share of them.', unit: 'percent' }),
});

/** Reads `[routing]`; undefined for one that is wrong. */
export function readRouting(raw: unknown, problems: ProblemList): RoutingDefinition | undefined {
  if (raw === undefined) return noRouting;
  const at = ['routing'];
  const { split: rawSplits, ...section } = isTableLike(raw) ? raw : {};
  const table = isTableLike(raw) ? section : raw;
  const { value, known } = readTable(routingKeys, table, { at, problems, rules: { alsoKnown: ['split'] } });
  known.trunks?.forEach((text, index) => {
    const range = parseCidr(text);
    if (!range.ok) problems.error([...at, 'trunks', index], range.error);
  });
  for (const key of ['numbers', 'hosts', 'trunks'] as const)
    if (new Set(known[key]).size < (known[key]?.length ?? 0)) problems.error([...at, key], 'names one twice');
  const splits = readSplits(rawSplits, problems);
  if (value === undefined || splits === undefined) return undefined;
  const { numbers, hosts, trunks, open } = value;
  return { numbers, hosts: hosts.map((host) => host.toLowerCase()), trunks, open, splits };
}

const isTableLike = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

function readSplits(raw: unknown, problems: ProblemList): readonly RoutingSplit[] | undefined {
  if (raw === undefined) return [];
  const at = ['routing', 'split'];
  if (!Array.isArray(raw) || raw.length > mostSplits) {
    problems.error(at, `must be at most ${mostSplits} tables written [[routing.split]]`);
    return undefined;
  }
  const read = raw.map((entry: unknown, index) =>
    readTable(routingSplitKeys, entry, { at: [...at, index], problems }),
  );
  const splits = read.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (splits.reduce((sum, { weight }) => sum + weight, 0) > 100)
    problems.error(at, 'gives away more than 100 percent');
  return splits.length === raw.length ? splits : undefined;
}
