/**
 * Which keys of the agent file a call may have otherwise. Keys that decide where sound, words and keys of providers are sent are never among them, and
 * neither are those that many calls share: somebody who may change a call must not be able to reach anybody else by it.
 */
import type { z } from 'zod';
import { agentKeys, turnKeys } from '../config/agent-file.ts';
import type { ProvidedTools } from '../config/agent/tool-names.ts';
import type { ProblemList } from '../config/problem.ts';
import { declarations } from '../config/stages/providers.ts';
import { isTable, readTable } from '../config/table.ts';
import { fullPath, overridesKeys, type OverridesDefinition, type Tables } from './overrides.ts';

/** Options of providers that say how they hear, think and speak. */
const options: readonly string[] = [
  ...['model', 'speech_model', 'keyterms', 'vocabulary', 'prompt', 'code_switching', 'smart_format'],
  ...[
    'max_tokens',
    'max_output_tokens',
    'temperature',
    'reasoning_effort',
    'effort',
    'thinking',
    'thinking_level',
  ],
  ...['speed', 'stability', 'similarity_boost', 'style', 'use_speaker_boost'],
];

const under = (table: string, shape: object, without: readonly string[] = []): string[] =>
  Object.keys(shape)
    .filter((key) => !without.includes(key))
    .map((key) => `${table}.${key}`);

type Tabled = Readonly<Record<string, z.ZodType>>;

const shapeOf = (keys: Tabled, name: string): object => {
  const schema: unknown = keys[name];
  const inner: unknown = isTable(schema) ? Reflect.apply(schema['unwrap'] as () => unknown, schema, []) : {};
  const shape = isTable(inner) ? inner['shape'] : undefined;
  return isTable(shape) ? shape : {};
};

const optionsOf = (stage: keyof typeof declarations): string[] => {
  const declared = declarations[stage].flatMap(({ keys }) => Object.keys(keys.shape));
  return options.filter((name) => declared.includes(name));
};

/** Every key that `[overrides]` may name. */
export const overridable: ReadonlySet<string> = new Set([
  ...under('agent', agentKeys.shape, ['name', 'prompt_file', 'announcement', 'confirm', 'outage']),
  ...under('agent.confirm', shapeOf(agentKeys.shape, 'confirm')),
  ...under('agent.outage', shapeOf(agentKeys.shape, 'outage')),
  ...under('turn', turnKeys.shape, ['interrupt', 'idle']),
  ...under('turn.interrupt', shapeOf(turnKeys.shape, 'interrupt')),
  ...under('turn.idle', shapeOf(turnKeys.shape, 'idle')),
  ...['stt.language', 'llm.max_tool_rounds', 'llm.context_window_tokens'],
  ...['tts.language', 'tts.voice', 'tts.secondary.voice'],
  ...(['stt', 'llm', 'tts'] as const).flatMap((stage) => optionsOf(stage).map((name) => `${stage}.${name}`)),
]);

const isKnown = (full: string): boolean =>
  overridable.has(full) ||
  (full.endsWith('.*') && [...overridable].some((one) => one.startsWith(full.slice(0, -1))));

export interface OverridesSite {
  readonly tree: Tables;
  /** Undefined where the agent's table is not right. */
  readonly prompt: string | undefined;
  readonly provided: ProvidedTools;
  readonly problems: ProblemList;
  /** A node of its flow has something otherwise. */
  readonly hasOwnNodes: boolean;
}

/** Reads `[overrides]`; undefined where calls have nothing of their own, in none of their nodes. */
export function readOverrides(
  raw: unknown,
  { tree, prompt, provided, problems, hasOwnNodes }: OverridesSite,
): OverridesDefinition | undefined {
  if (raw === undefined && !hasOwnNodes) return undefined;
  const { value } = readTable(overridesKeys, raw ?? {}, { at: ['overrides'], problems });
  value?.allow.forEach((name, index) => {
    if (!isKnown(fullPath(name)))
      problems.error(
        ['overrides', 'allow', index],
        'is no key that a call may have otherwise (docs/overrides.md)',
      );
  });
  if (value === undefined || (value.allow.length === 0 && !hasOwnNodes)) return undefined;
  return { allow: value.allow.map(fullPath), tables: tablesOf(tree, prompt), provided };
}

/** The tables that hold what may change, without what would be read from files again. */
function tablesOf(tree: Tables, prompt: string | undefined): Tables {
  const { agent, turn, stt, llm, tts, realtime, telephony, flow } = tree;
  const { prompt_file: _file, announcement: _sound, ...own } = isTable(agent) ? agent : {};
  const isPrompted = flow === undefined && prompt !== undefined;
  const promptedAgent = { ...own, ...(isPrompted && { prompt }) };
  const tables = { agent: promptedAgent, turn, stt, llm, tts, realtime, telephony };
  const isThere = Object.entries(tables).filter(([, table]) => table !== undefined);
  return { ...Object.fromEntries(isThere), ...(flow !== undefined && { flow: true }) };
}
