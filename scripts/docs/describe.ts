/**
 * Describes the keys of the agent file for people and editors, from the declarations alone: rows, and a JSON Schema.
 */
import * as z from 'zod';
import { agentLinkKeys, agentRouteKeys, mostRoutes } from '../../shared/agent-link/agent-file.ts';
import { audioKeys } from '../../shared/config/agent/background.ts';
import { flowKeys, flowNextKeys, flowNodeKeys } from '../../shared/config/agent/flow.ts';
import { mcpKeys } from '../../shared/config/agent/mcp.ts';
import { beforeCallKeys } from '../../shared/agents/before-call.ts';
import { overridesKeys } from '../../shared/agents/overrides.ts';
import { routingKeys, routingSplitKeys } from '../../shared/agents/agent-file.ts';
import { limitKeys } from '../../shared/agents/limits.ts';
import { analysisKeys, analysisLlmKeys } from '../../shared/calls/analysis/agent-file.ts';
import { privacyKeys } from '../../shared/calls/privacy/agent-file.ts';
import {
  afterCallEndpointKeys,
  afterCallKeys,
  mostEndpoints,
} from '../../shared/calls/webhooks/agent-file.ts';
import { monitorKeys } from '../../shared/monitor/agent-file.ts';
import { recordingKeys } from '../../shared/recording/agent-file.ts';
import { telephonyKeys } from '../../shared/telephony/agent-file.ts';
import { toolKeys } from '../../shared/config/agent/tools.ts';
import { agentFileTables, agentKeys, turnKeys } from '../../shared/config/agent-file.ts';
import { declarations } from '../../shared/config/stages/providers.ts';
import {
  llmKeys,
  llmSecondaryKeys,
  realtimeKeys,
  sttKeys,
  sttSecondaryKeys,
  ttsKeys,
  ttsSecondaryKeys,
} from '../../shared/config/stages/stage-keys.ts';

/** What the declaration of one key says. */
export interface KeyDescription {
  readonly name: string;
  /** `integer`, `text`, `"pcm" or "wav"`. */
  readonly type: string;
  /** TOML text of the default; absent when there is none. */
  readonly defaultText?: string;
  /** TOML text of a value that the example file sets. */
  readonly exampleText?: string;
  /** TOML text of a good value, shown as a comment. */
  readonly sampleText?: string;
  readonly isRequired: boolean;
  readonly unit?: string;
  /** `1 to 32`, `at most 64 entries`. */
  readonly bounds?: string;
  readonly text: string;
}

export interface TableDescription {
  /** Dotted name, `turn.idle`. */
  readonly name: string;
  readonly keys: readonly KeyDescription[];
  /** Whether the example file shows the table: those of the providers that it chooses, and no secondary. */
  readonly isOfExample: boolean;
}

/** The parts of JSON Schema that the declarations use. */
const keySchema = z.looseObject({
  type: z.string().optional(),
  description: z.string(),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  /** A good value for a key that is absent by default. */
  sample: z.unknown().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  unit: z.string().optional(),
  /** What stands in a table that is not one of texts. */
  holds: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
});

type KeySchema = z.output<typeof keySchema>;

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'true or false',
  array: 'list of texts',
  object: 'table of texts',
};

const unitBySuffix: readonly (readonly [string, string])[] = [
  ['_ms', 'ms'],
  ['_s', 's'],
  ['_tokens', 'tokens'],
];

/** A value as TOML; the declarations hold texts, numbers, switches, and lists and tables of them. */
function tomlText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)} = ${tomlText(inner)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return JSON.stringify(value);
}

function boundsOf(schema: KeySchema): string | undefined {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (schema.maxItems !== undefined) return `at most ${schema.maxItems} entries`;
  if (schema.maxLength !== undefined) return `at most ${schema.maxLength} characters`;
  return undefined;
}

function describeKey(
  table: string,
  name: string,
  site: { schema: unknown; isRequired: boolean },
): KeyDescription {
  const schema = keySchema.parse(site.schema);
  const unit = schema.unit ?? unitBySuffix.find(([suffix]) => name.endsWith(suffix))?.[1];
  const bounds = boundsOf(schema);
  const example = schema.examples?.[0];
  return {
    name,
    type:
      schema.holds ??
      schema.enum?.map((value) => JSON.stringify(value)).join(', ') ??
      typeNames[schema.type ?? ''] ??
      'value',
    ...(schema.default !== undefined && { defaultText: tomlText(schema.default) }),
    ...(example !== undefined && { exampleText: tomlText(example) }),
    ...(schema.sample !== undefined && { sampleText: tomlText(schema.sample) }),
    isRequired: site.isRequired,
    ...(unit !== undefined && { unit }),
    ...(bounds !== undefined && { bounds }),
    text: schema.description,
  };
}

const jsonSchemaOf = (schema: z.ZodType): z.core.JSONSchema.BaseSchema =>
  z.toJSONSchema(schema, { io: 'input' });

const exampleProviders: readonly string[] = ['stt_local_ws', 'chat_compatible', 'speech_compatible'];
/** A flow takes the place of the prompt that the example has. */
const otherTables: readonly string[] = [
  ...['flow', 'flow.nodes.NAME', 'flow.nodes.NAME.next', 'audio', 'audio.background', 'audio.thinking'],
  'routing.split',
  ...['after_call.endpoints', 'after_call.analysis.llm'],
  ...['stt', 'llm', 'tts'].map((stage) => `${stage}.secondary`),
  'realtime',
  ...Object.entries(declarations).flatMap(([stage, rows]) =>
    rows.filter(({ name }) => !exampleProviders.includes(name)).map(({ name }) => `${stage}.${name}`),
  ),
];

/** Every table of the agent file that has keys of its own, in the order of the file. */
export function describeAgentFile(): TableDescription[] {
  const tableNames = Object.keys(agentFileTables);
  const all = Object.entries(agentFileTables).map(([table, schema]) => {
    const { properties = {}, required = [] } = jsonSchemaOf(schema);
    const names = Object.keys(properties).filter((name) => !tableNames.includes(`${table}.${name}`));
    const keys = names.map((name) =>
      describeKey(table, name, { schema: properties[name], isRequired: required.includes(name) }),
    );
    const isOfOther = otherTables.some((prefix) => table === prefix);
    return { name: table, keys, isOfExample: !isOfOther };
  });
  return all.filter(({ keys }) => keys.length > 0);
}

/** The options table of every provider of a stage under each of its names. */
function optionsTables(
  rows: readonly { readonly name: string; readonly aliases: readonly string[]; readonly keys: z.ZodObject }[],
): Record<string, z.ZodOptional<z.ZodObject>> {
  return Object.fromEntries(
    rows.flatMap(({ name, aliases, keys }) => [name, ...aliases].map((key) => [key, keys.optional()])),
  );
}

/** A stage with its options tables and its secondary. */
function stageSchema(
  rows: Parameters<typeof optionsTables>[0],
  { own, secondary }: { readonly own: z.ZodObject; readonly secondary?: z.ZodObject },
): z.ZodObject {
  const tables = optionsTables(rows);
  return own.extend({
    ...tables,
    ...(secondary !== undefined && { secondary: secondary.extend(tables).optional() }),
  });
}

/** A JSON Schema of the agent file for editors. Rules between keys are not in it; `check` proves those. */
export function agentFileJsonSchema(): z.core.JSONSchema.BaseSchema {
  const flowNode = flowNodeKeys.extend({ next: z.array(flowNextKeys).optional() });
  const file = z.strictObject({
    agent: agentKeys,
    turn: turnKeys.optional(),
    audio: audioKeys.optional(),
    stt: stageSchema(declarations.stt, { own: sttKeys, secondary: sttSecondaryKeys }).optional(),
    llm: stageSchema(declarations.llm, { own: llmKeys, secondary: llmSecondaryKeys }).optional(),
    tts: stageSchema(declarations.tts, { own: ttsKeys, secondary: ttsSecondaryKeys }).optional(),
    realtime: stageSchema(declarations.realtime, { own: realtimeKeys }).optional(),
    tools: z.array(toolKeys).optional(),
    mcp: z.array(mcpKeys).optional(),
    telephony: telephonyKeys.optional(),
    recording: recordingKeys.optional(),
    before_call: beforeCallKeys.optional(),
    overrides: overridesKeys.optional(),
    routing: routingKeys.extend({ split: z.array(routingSplitKeys).max(8).optional() }).optional(),
    limits: limitKeys.optional(),
    privacy: privacyKeys.optional(),
    after_call: afterCallKeys
      .extend({
        endpoints: z.array(afterCallEndpointKeys).max(mostEndpoints).optional(),
        analysis: analysisKeys
          .extend({ llm: analysisLlmKeys.extend(optionsTables(declarations.llm)).optional() })
          .optional(),
      })
      .optional(),
    monitor: monitorKeys.optional(),
    agent_link: agentLinkKeys
      .extend({ routes: z.array(agentRouteKeys).max(mostRoutes).optional() })
      .optional(),
    flow: flowKeys.extend({ nodes: z.record(flowKeys.shape.nodes.keyType, flowNode) }).optional(),
  });
  const anyOf = [{ required: ['stt', 'llm', 'tts'] }, { required: ['realtime'] }];
  return { ...jsonSchemaOf(file), anyOf, title: 'Agent file of the voice agent service' };
}
