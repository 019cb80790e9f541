/**
 * `[flow]` of the agent file: nodes with a prompt and tools of their own, and what leads from one to the next. Every
 * node must be reachable and every name in it must exist; what breaks that is a problem that refuses the file.
 */
import * as z from 'zod';
import type { Overrides, Tables } from '../../agents/overrides.ts';
import { summaryOf, type TeamDefinition } from '../../agents/team.ts';
import { compileArguments } from '../json-schema.ts';
import { present } from '../../base/present.ts';
import type { KeyPath, ProblemList } from '../problem.ts';
import { languageTag } from '../stages/stage-keys.ts';
import { isTable, readTable } from '../table.ts';
import { checkVariables } from './call-variables.ts';
import { overridesOfNode } from './node-settings.ts';
import { checkToolNames, type ProvidedTools } from './tool-names.ts';
import { listedName, toolName } from './tools.ts';

const nodeName = z.string().regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, _ or -');

export const flowNextKeys = z.strictObject({
  to: nodeName.exactOptional().meta({ description: 'Node that follows. Exactly one of to and to_agent.' }),
  to_agent: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, _ or -')
    .exactOptional()
    .meta({
      sample: 'billing',
      description: 'Agent of agent.team that has the call from then on; with its context and farewell.',
    }),
  when: z.string().min(1).max(1000).meta({ description: 'When, in words for the LLM.' }),
  collect: z.record(toolName, z.record(z.string(), z.unknown())).default({}).meta({
    holds: 'table of JSON Schemas',
    description: 'Values that come along, each with its JSON Schema; all of them are required.',
  }),
});

export const flowNodeKeys = z.strictObject({
  prompt: z
    .string()
    .min(1)
    .max(65_536)
    .meta({ description: 'Instructions for the LLM in this node; variables as in agent.prompt.' }),
  say: z.string().max(1000).default('').meta({
    description:
      'Spoken on entry, before the LLM is asked, which knows of it; that of the first node behind the greeting. Variables as in agent.prompt.',
  }),
  tools: z.array(listedName).max(64).default([]).meta({
    description: 'Tools of this node beside its transitions.',
  }),
  voice: z.string().min(1).max(256).exactOptional().meta({
    sample: 'anna',
    description: 'Voice of [tts] in this node; absent: that of the agent.',
  }),
  llm: z.string().min(1).max(256).exactOptional().meta({
    sample: 'small-model',
    description: "Model of the agent's LLM provider in this node; absent: that of the agent.",
  }),
  language: languageTag.exactOptional().meta({
    sample: 'de',
    description:
      'Language that is spoken and heard in this node, with its lines where the agent has none of its own; absent: that of the agent.',
  }),
  max_turns: z.int().min(1).max(1000).exactOptional().meta({
    description: 'Turns of the caller before otherwise is taken.',
    unit: 'turns',
  }),
  max_s: z.int().min(1).max(86_400).exactOptional().meta({ description: 'Time before otherwise is taken.' }),
  otherwise: nodeName.exactOptional().meta({ description: 'Node taken when max_turns or max_s is reached.' }),
  next: z.array(flowNextKeys).max(32).default([]).meta({ description: 'Transitions.' }),
  record: z.boolean().default(true).meta({
    description: 'false: nothing that is said in this node is recorded, neither sound nor words.',
  }),
  end: z.boolean().default(false).meta({ description: 'The call is ended after the answer of this node.' }),
});

export const flowKeys = z.strictObject({
  start: nodeName.meta({ description: 'Node in which a call begins.' }),
  nodes: z.record(nodeName, z.unknown()).meta({ holds: 'tables', description: 'The nodes by name.' }),
});

type NodeKeys = z.output<typeof flowNodeKeys>;

export interface FlowDefinition {
  readonly start: string;
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly prompt: string;
        readonly say: string;
        readonly tools: readonly string[];
        readonly maxTurns?: number;
        readonly maxMs?: number;
        readonly otherwise?: string;
        readonly next: readonly FlowNext[];
        readonly end: boolean;
        readonly record: boolean;
        /** What holds in the node and not elsewhere: voice, LLM and language. */
        readonly own?: Overrides;
      }
    >
  >;
}

interface FlowNext {
  /** Name of a node, or of an agent. */
  readonly to: string;
  readonly isAgent?: true;
  readonly when: string;
  readonly collect: NodeKeys['next'][number]['collect'];
}

const mostNodes = 64;

interface Site {
  readonly names: ReadonlySet<string>;
  readonly provided: ProvidedTools;
  readonly problems: ProblemList;
  /** Other agents that a transition may lead to; absent: none. */
  readonly team: TeamDefinition | undefined;
  readonly tree: Tables;
}

/** The tool by which the LLM takes a transition. */
export const transitionTool = (to: string): string => `go_to_${to}`;

function checkNode(node: NodeKeys, at: KeyPath, { names, provided, problems, team }: Site): void {
  for (const key of ['prompt', 'say'] as const) checkVariables(node[key], [...at, key], problems);
  checkToolNames(node.tools, [...at, 'tools'], { provided, problems });
  const seen = new Set<string>();
  node.next.forEach(({ to, to_agent: agent, collect }, index) => {
    const place = [...at, 'next', index, 'to'];
    if ((to === undefined) === (agent === undefined))
      problems.error([...at, 'next', index], 'must have exactly one of to and to_agent');
    if (agent !== undefined && team?.agents[agent] === undefined)
      problems.error([...at, 'next', index, 'to_agent'], 'must be the name of an agent in agent.team.agents');
    for (const [name, schema] of Object.entries(collect))
      checkCollected(name, schema, { at: [...at, 'next', index, 'collect'], problems });
    if (to === undefined) return;
    if (provided.names.has(transitionTool(to)))
      problems.error(place, `makes a tool ${transitionTool(to)}, which is the name of another tool`);
    if (!names.has(to)) problems.error(place, 'must be the name of a node');
    else if (seen.has(to)) problems.error(place, 'repeats a node that this node leads to already');
    seen.add(to);
  });
  const isLimited = node.max_turns !== undefined || node.max_s !== undefined;
  if (node.otherwise !== undefined && !names.has(node.otherwise))
    problems.error([...at, 'otherwise'], 'must be the name of a node');
  if (isLimited && node.otherwise === undefined)
    problems.missing([...at, 'otherwise'], 'is required with max_turns or max_s');
  if (!isLimited && node.otherwise !== undefined)
    problems.error([...at, 'otherwise'], 'needs max_turns or max_s');
  if (node.end && node.next.length > 0)
    problems.error([...at, 'next'], 'has no meaning in a node with end = true');
}

/** Schemas of single values: seen as the only property of arguments. */
function checkCollected(
  name: string,
  schema: Readonly<Record<string, unknown>>,
  { at, problems }: { readonly at: KeyPath; readonly problems: ProblemList },
): void {
  const compiled = compileArguments(
    { type: 'object', properties: { [name]: schema } },
    { patterns: 'obeyed' },
  );
  if (!compiled.ok) problems.error([...at, name], compiled.error.rule);
}

function reachable(start: string, nodes: ReadonlyMap<string, NodeKeys>): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const node = nodes.get(name);
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(node?.next ?? []).flatMap(({ to }) => to ?? []));
    if (node?.otherwise !== undefined) open.push(node.otherwise);
  }
  return found;
}

/** The summary for the other agent, which the transition collects as it does any other value. */
const summary = { type: 'string', maxLength: 2_000, description: summaryOf };

const nextOf = (
  { to, to_agent: agent, when, collect }: NodeKeys['next'][number],
  team: TeamDefinition | undefined,
): FlowNext => {
  if (agent === undefined) return { to: to ?? '', when, collect };
  return {
    to: agent,
    isAgent: true,
    when,
    collect: team?.context === 'summary' ? { ...collect, summary } : collect,
  };
};

const definitionOf = (
  node: NodeKeys,
  { team, tree }: Pick<Site, 'team' | 'tree'>,
): FlowDefinition['nodes'][string] => ({
  prompt: node.prompt,
  say: node.say,
  tools: node.tools,
  ...(node.max_turns !== undefined && { maxTurns: node.max_turns }),
  ...(node.max_s !== undefined && { maxMs: node.max_s * 1000 }),
  ...(node.otherwise !== undefined && { otherwise: node.otherwise }),
  next: node.next.map((next) => nextOf(next, team)),
  end: node.end,
  record: node.record,
  ...present({ own: overridesOfNode(node, tree) }),
});

/** Reads `[flow]`. */
export function readFlow(raw: unknown, site: Omit<Site, 'names'>): FlowDefinition | undefined {
  if (raw === undefined) return undefined;
  const { problems } = site;
  const { value, known } = readTable(flowKeys, raw, { at: ['flow'], problems });
  const rawNodes = known.nodes;
  if (!isTable(rawNodes)) return undefined;
  const names = new Set(Object.keys(rawNodes));
  if (names.size > mostNodes) problems.error(['flow', 'nodes'], `must have at most ${mostNodes} entries`);
  const nodes = new Map<string, NodeKeys>();
  for (const [name, node] of Object.entries(rawNodes)) {
    const at = ['flow', 'nodes', name];
    const reading = readTable(flowNodeKeys, node, { at, problems });
    if (reading.value === undefined) continue;
    nodes.set(name, reading.value);
    checkNode(reading.value, at, { names, ...site });
  }
  if (known.start !== undefined && !names.has(known.start))
    problems.error(['flow', 'start'], 'must be the name of a node');
  // A node that could not be read may lead anywhere, so nothing is said about the others.
  if (value === undefined || nodes.size < names.size || !names.has(value.start)) return undefined;
  const found = reachable(value.start, nodes);
  for (const name of names)
    if (!found.has(name)) problems.keyError(['flow', 'nodes', name], 'is a node that nothing leads to');
  return {
    start: value.start,
    nodes: Object.fromEntries([...nodes].map(([name, node]) => [name, definitionOf(node, site)])),
  };
}
