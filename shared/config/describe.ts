/**
 * Describes the keys of the agent file for people and editors, from the declarations alone: rows, and a JSON Schema.
 */
import { z } from 'zod';
import { agentFileTables, agentKeys, inertKeys, llmKeys, sttKeys, ttsKeys, turnKeys } from './agent-file.ts';
import { chatCompatibleKeys } from './stages/chat-compatible.ts';
import { findProvider } from './stages/providers.ts';
import type { StageName } from './stages/providers.ts';
import { speechCompatibleKeys } from './stages/speech-compatible.ts';
import { sttLocalWsKeys } from './stages/stt-local-ws.ts';

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
  readonly isInert: boolean;
}

export interface TableDescription {
  /** Dotted name, `turn.idle`. */
  readonly name: string;
  readonly keys: readonly KeyDescription[];
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
    isInert: inertKeys.includes(`${table}.${name}`),
  };
}

const jsonSchemaOf = (schema: z.ZodType): z.core.JSONSchema.BaseSchema =>
  z.toJSONSchema(schema, { io: 'input' });

/** Every table of the agent file with its keys, in the order of the file. */
export function describeAgentFile(): TableDescription[] {
  const tableNames = Object.keys(agentFileTables);
  return Object.entries(agentFileTables).map(([table, schema]) => {
    const { properties = {}, required = [] } = jsonSchemaOf(schema);
    const names = Object.keys(properties).filter((name) => !tableNames.includes(`${table}.${name}`));
    const keys = names.map((name) =>
      describeKey(table, name, { schema: properties[name], isRequired: required.includes(name) }),
    );
    return { name: table, keys };
  });
}

/** The options table of a built-in provider under each of its names. */
function optionsTables<S extends z.ZodType>(
  stage: StageName,
  provider: string,
  schema: S,
): Record<string, z.ZodOptional<S>> {
  const row = findProvider(stage, provider);
  return Object.fromEntries([provider, ...(row?.aliases ?? [])].map((name) => [name, schema.optional()]));
}

/** A JSON Schema of the agent file for editors. Rules between keys are not in it; `check` proves those. */
export function agentFileJsonSchema(): z.core.JSONSchema.BaseSchema {
  const file = z.strictObject({
    agent: agentKeys,
    turn: turnKeys.optional(),
    stt: sttKeys.extend(optionsTables('stt', 'stt_local_ws', sttLocalWsKeys)),
    llm: llmKeys.extend(optionsTables('llm', 'chat_compatible', chatCompatibleKeys)),
    tts: ttsKeys.extend(optionsTables('tts', 'speech_compatible', speechCompatibleKeys)),
  });
  return { ...jsonSchemaOf(file), title: 'Agent file of the voice agent service' };
}
