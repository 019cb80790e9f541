/**
 * Reads the three stage tables of an agent file (spec 03, Stage tables): which provider, its key and its options table.
 * Everything wrong is reported; a definition comes back only for a table without fault.
 */
import type { z } from 'zod';
import { llmKeys, sttKeys, ttsKeys } from './agent-file.ts';
import type { LlmDefinition, SttDefinition, TtsDefinition } from './agent-file.ts';
import type { KeyPath, ProblemList } from './problem.ts';
import { Sensitive } from './sensitive.ts';
import {
  chatCompatibleKeys,
  chatCompatibleOptions,
  resolveChatCompatible,
} from './stages/chat-compatible.ts';
import { findProvider, providerNames, providersOfStage } from './stages/providers.ts';
import type { ProviderRow, StageName } from './stages/providers.ts';
import {
  resolveSpeechCompatible,
  speechCompatibleKeys,
  speechCompatibleOptions,
  speechCompatibleRate,
} from './stages/speech-compatible.ts';
import { resolveSttLocalWs, sttLocalWsKeys, sttLocalWsOptions } from './stages/stt-local-ws.ts';
import { isTable, readTable } from './table.ts';
import type { TableReading } from './table.ts';

export interface StageReader {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly requireSecrets: boolean;
  readonly problems: ProblemList;
  /** Values of the sections of the file. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** What `language` of a stage falls back to. */
  readonly language: string | undefined;
}

const keyHints: Readonly<Record<string, string>> = Object.fromEntries(
  ['api_key', 'key', 'token', 'secret', 'password'].map((name) => [
    name,
    'is not a key of this file: secrets come from the environment; name the variable with api_key_env',
  ]),
);

interface StageParts {
  readonly provider: ProviderRow | undefined;
  /** The stage's own keys, without the options table. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly options: unknown;
  readonly optionsAt: KeyPath;
}

function reportProvider(stage: StageName, name: unknown, problems: ProblemList): ProviderRow | undefined {
  if (typeof name !== 'string') return undefined;
  const row = findProvider(stage, name);
  const at = [stage, 'provider'];
  if (row === undefined) {
    const known = providersOfStage[stage].map((known) => known.name).join(', ');
    problems.error(at, `must be one of ${known}`);
  } else if (!row.isBuiltIn) {
    problems.error(
      at,
      `names ${row.name}, but the build feature "${row.name}" is off: this version does not hold it`,
    );
  }
  return row;
}

/** Splits the options tables off the stage's own keys and reports those of other providers. */
function splitStage(stage: StageName, reader: StageReader): StageParts | undefined {
  const { problems } = reader;
  const raw = reader.tree[stage];
  if (raw === undefined) {
    problems.missing([stage], 'is a required section');
    return undefined;
  }
  if (!isTable(raw)) {
    problems.error([stage], 'must be a table');
    return undefined;
  }
  const provider = reportProvider(stage, raw['provider'], problems);
  const own: Record<string, unknown> = {};
  let options: unknown;
  let optionsAt: KeyPath = [stage, provider?.name ?? 'provider'];
  for (const [key, value] of Object.entries(raw)) {
    const row = findProvider(stage, key);
    if (key === 'secondary') {
      problems.keyError([stage, key], 'is not supported by this version yet: a stage has one provider');
    } else if (row === undefined) {
      own[key] = value;
    } else if (provider !== undefined && row !== provider) {
      problems.keyError([stage, key], `belongs to another provider than the chosen ${provider.name}`);
    } else if (options !== undefined) {
      problems.keyError([stage, key], `repeats the options of ${row.name} under another name`);
    } else {
      options = value;
      optionsAt = [stage, key];
    }
  }
  return { provider, own, options, optionsAt };
}

interface KeyReading {
  readonly apiKeyEnv?: string;
  readonly apiKey?: Sensitive<string>;
}

/** Reads the provider key from its variable; the file must name one where the provider cannot do without. */
function readKey(
  stage: StageName,
  parts: StageParts,
  name: string | undefined,
  reader: StageReader,
): KeyReading {
  const at = [stage, 'api_key_env'];
  if (name === undefined) {
    const isRequired = parts.provider?.apiKey === 'required' && parts.own['api_key_env'] === undefined;
    if (isRequired) reader.problems.missing(at, 'is required for this provider');
    return {};
  }
  const value = reader.env[name];
  if (value === undefined || value === '') {
    const rule = `names the environment variable ${name}, which is not set`;
    if (reader.requireSecrets) reader.problems.error(at, rule);
    else reader.problems.warning(at, rule);
    return { apiKeyEnv: name };
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    reader.problems.error(
      at,
      `names the environment variable ${name}, whose value holds spaces or characters that no key has`,
    );
    return { apiKeyEnv: name };
  }
  return { apiKeyEnv: name, apiKey: new Sensitive(value) };
}

interface StageReading<S extends z.ZodObject> {
  readonly parts: StageParts;
  readonly keys: TableReading<z.output<S>>;
}

function readStageKeys<S extends z.ZodObject>(
  stage: StageName,
  schema: S,
  reader: StageReader,
): StageReading<S> | undefined {
  const parts = splitStage(stage, reader);
  if (parts === undefined) return undefined;
  const alsoKnown = parts.provider === undefined ? providerNames(stage) : [parts.provider.name];
  const rules = { alsoKnown, hints: keyHints };
  const keys = readTable(schema, parts.own, { at: [stage], problems: reader.problems, rules });
  return { parts, keys };
}

interface OptionsReading<S extends z.ZodObject> extends TableReading<z.output<S>> {
  readonly site: {
    readonly at: KeyPath;
    readonly problems: ProblemList;
    readonly hasKey: boolean;
    /** True for a key that is there but failed its own rule. */
    readonly isWrong: (key: string) => boolean;
  };
}

/** Reads the options table; `undefined` when there is none to read or the provider is not built in. */
function readOptions<S extends z.ZodObject>(
  parts: StageParts,
  schema: S,
  rules: { readonly problems: ProblemList; readonly isRequired: boolean; readonly hasKey: boolean },
): OptionsReading<S> | undefined {
  if (parts.provider?.isBuiltIn !== true) return undefined;
  const { problems, hasKey } = rules;
  if (parts.options === undefined && rules.isRequired) {
    problems.missing(parts.optionsAt, 'is a required table for this provider');
    return undefined;
  }
  const raw = parts.options ?? {};
  if (!isTable(raw)) {
    problems.error(parts.optionsAt, 'must be a table');
    return undefined;
  }
  const reading = readTable(schema, raw, { at: parts.optionsAt, problems, rules: { hints: keyHints } });
  const isWrong = (key: string): boolean => Object.hasOwn(raw, key) && !Object.hasOwn(reading.known, key);
  return { ...reading, site: { at: parts.optionsAt, problems, hasKey, isWrong } };
}

export function readStt(reader: StageReader): SttDefinition | undefined {
  const stage = readStageKeys('stt', sttKeys, reader);
  if (stage === undefined) return undefined;
  const { parts, keys } = stage;
  const apiKey = readKey('stt', parts, keys.known.api_key_env, reader);
  const hasKey = keys.known.api_key_env !== undefined;
  const options = readOptions(parts, sttLocalWsKeys, {
    problems: reader.problems,
    isRequired: false,
    hasKey,
  });
  if (options === undefined) return undefined;
  const { baseUrl } = resolveSttLocalWs(options.known, options.site);
  const language = keys.value?.language ?? reader.language;
  if (keys.value === undefined || options.value === undefined) return undefined;
  if (baseUrl === undefined || language === undefined) return undefined;
  return {
    provider: 'stt_local_ws',
    ...apiKey,
    language,
    options: sttLocalWsOptions(options.value, baseUrl),
  };
}

export function readLlm(reader: StageReader): LlmDefinition | undefined {
  const stage = readStageKeys('llm', llmKeys, reader);
  if (stage === undefined) return undefined;
  const { parts, keys } = stage;
  const apiKey = readKey('llm', parts, keys.known.api_key_env, reader);
  const hasKey = keys.known.api_key_env !== undefined;
  const options = readOptions(parts, chatCompatibleKeys, {
    problems: reader.problems,
    isRequired: true,
    hasKey,
  });
  if (options === undefined) return undefined;
  const { baseUrl, model } = resolveChatCompatible(options.known, options.site);
  if (keys.value === undefined || options.value === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) return undefined;
  return {
    provider: 'chat_compatible',
    ...apiKey,
    maxToolRounds: keys.value.max_tool_rounds,
    contextWindowTokens: keys.value.context_window_tokens,
    options: chatCompatibleOptions(options.value, { baseUrl, model }),
  };
}

export function readTts(reader: StageReader): TtsDefinition | undefined {
  const stage = readStageKeys('tts', ttsKeys, reader);
  if (stage === undefined) return undefined;
  const { parts, keys } = stage;
  const apiKey = readKey('tts', parts, keys.known.api_key_env, reader);
  const hasKey = keys.known.api_key_env !== undefined;
  const rate = keys.known.sample_rate;
  if (parts.provider?.isBuiltIn === true && rate !== undefined && rate !== speechCompatibleRate) {
    reader.problems.error(
      ['tts', 'sample_rate'],
      `must be absent or exactly ${speechCompatibleRate} for this provider`,
    );
  }
  const options = readOptions(parts, speechCompatibleKeys, {
    problems: reader.problems,
    isRequired: true,
    hasKey,
  });
  if (options === undefined) return undefined;
  const { baseUrl, model } = resolveSpeechCompatible(options.known, options.site);
  const language = keys.value?.language ?? reader.language;
  if (keys.value === undefined || options.value === undefined) return undefined;
  if (baseUrl === undefined || model === undefined || language === undefined) return undefined;
  const { voice, sample_rate: sampleRate } = keys.value;
  return {
    provider: 'speech_compatible',
    ...apiKey,
    ...(voice !== undefined && { voice }),
    sampleRate,
    language,
    options: speechCompatibleOptions(options.value, { baseUrl, model, voice }),
  };
}
