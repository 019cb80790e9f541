/**
 * Reads the stage tables of an agent file and their secondaries (docs/reference/agent-file.md, `[stt]`, `[llm]`, `[tts]`, `[realtime]`):
 * which provider, its key and its options table. Everything wrong is reported; a definition comes back only for a table
 * without fault.
 */
import type { z } from 'zod';
import { fail } from '../../base/result.ts';
import type { KeyPath, ProblemList } from '../problem.ts';
import { Sensitive } from '../sensitive.ts';
import { setVariable } from '../agent/secrets.ts';
import type {
  Chosen,
  ChosenPackage,
  LlmChoice,
  LlmDefinition,
  RealtimeDefinition,
  StageKey,
  SttDefinition,
  TtsDefinition,
} from './definition.ts';
import type { ProviderRow, StageName, TableSite, VoiceRules } from './declaration.ts';
import { isPackage, packageTable, readPackageOptions, readPackageStage } from './package.ts';
import type { Packages, PackageStage } from './package.ts';
import { declarations, findProvider, providerNames, providersOf, shownProvider } from './providers.ts';
import {
  llmKeys,
  llmOfItsOwnKeys,
  llmSecondaryKeys,
  realtimeKeys,
  sttKeys,
  sttSecondaryKeys,
  ttsKeys,
  ttsSecondaryKeys,
} from './stage-keys.ts';
import { isTable, readTable, type TableReading } from '../table.ts';

export interface StageReader {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly requireSecrets: boolean;
  readonly problems: ProblemList;
  /** Values of the sections of the file. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** What `language` of a stage falls back to. */
  readonly language: string | undefined;
  /** Canonical names of providers that this build leaves out. */
  readonly leftOut: readonly string[];
  /** The packages that the file names; absent: none is there. */
  readonly packages?: Packages | undefined;
}

/** A stage table or its secondary. */
interface Site {
  readonly stage: StageName;
  readonly at: KeyPath;
  readonly reader: StageReader;
}

const keyHints: Readonly<Record<string, string>> = Object.fromEntries(
  ['api_key', 'key', 'token', 'secret', 'password'].map((name) => [
    name,
    'is not a key of this file: secrets come from the environment; name the variable with api_key_env',
  ]),
);

const secondaryHints: Readonly<Record<string, string>> = {
  ...keyHints,
  ...Object.fromEntries(
    ['language', 'sample_rate', 'max_tool_rounds', 'context_window_tokens'].map((name) => [
      name,
      'is not a key of a secondary: that of the stage holds for it too',
    ]),
  ),
  secondary: 'is not a key of a secondary: a stage has at most two providers',
};

const realtimeHints: Readonly<Record<string, string>> = {
  ...keyHints,
  secondary: 'is not a key of [realtime]: calls go on with [stt], [llm] and [tts]',
  language: 'is not a key of [realtime]: agent.language decides',
};

interface StageParts {
  readonly provider: NamedProvider | undefined;
  /** The stage's own keys, without the options table and the secondary. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly options: unknown;
  readonly optionsAt: KeyPath;
}

/** A provider by its declaration, or by what its package exports. */
interface NamedProvider extends ProviderRow {
  readonly voice?: VoiceRules;
  /** Set for a provider from a package. */
  readonly foreign?: PackageStage;
}

/** The stage of the package that a file names; its faults are reported. */
function readPackage(name: string, { stage, at, reader }: Site): NamedProvider | undefined {
  const loaded = reader.packages?.get(name) ?? fail('names a package that is not installed');
  const read = loaded.ok ? readPackageStage(loaded.value, stage) : loaded;
  if (!read.ok) {
    reader.problems.error([...at, 'provider'], read.error);
    return undefined;
  }
  const { apiKey, voice } = read.value;
  return {
    name,
    aliases: [packageTable],
    apiKey,
    foreign: read.value,
    ...(voice !== undefined && { voice }),
  };
}

function readProvider(name: unknown, site: Site): NamedProvider | undefined {
  if (typeof name !== 'string') return undefined;
  if (isPackage(name)) return readPackage(name, site);
  const { stage, at, reader } = site;
  const row = findProvider(stage, name);
  if (row === undefined) {
    const known = providersOf(stage).map(shownProvider).join(', ');
    reader.problems.error([...at, 'provider'], `must be one of ${known}`);
  } else if (reader.leftOut.includes(row.name)) {
    reader.problems.error(
      [...at, 'provider'],
      `names ${shownProvider(row)}, but the build feature "${row.name}" is off: this version does not hold it`,
    );
  }
  return row;
}

/** Splits the options tables off the stage's own keys and reports those of other providers. */
function split(raw: Readonly<Record<string, unknown>>, site: Site): StageParts {
  const { stage, at } = site;
  const { problems } = site.reader;
  const provider = readProvider(raw['provider'], site);
  const own: Record<string, unknown> = {};
  let options: unknown;
  let optionsAt: KeyPath = [...at, provider?.foreign ? packageTable : (provider?.name ?? 'provider')];
  for (const [key, value] of Object.entries(raw)) {
    const isOfPackage = key === packageTable;
    const row: ProviderRow | undefined =
      isOfPackage && provider?.foreign ? provider : findProvider(stage, key);
    if (key === 'secondary' && at.length === 1 && stage !== 'realtime') continue;
    if (isOfPackage && row === undefined) {
      if (provider !== undefined) problems.keyError([...at, key], 'is for a provider from a package');
    } else if (row === undefined) {
      own[key] = value;
    } else if (provider !== undefined && row !== provider) {
      problems.keyError([...at, key], `belongs to another provider than the chosen ${provider.name}`);
    } else if (options !== undefined) {
      problems.keyError([...at, key], `repeats the options of ${row.name} under another name`);
    } else {
      options = value;
      optionsAt = [...at, key];
    }
  }
  return { provider, own, options, optionsAt };
}

/** Reads the provider key from its variable; the file must name one where the provider cannot do without. */
function readKey(parts: StageParts, name: string | undefined, site: Site): StageKey {
  const at = [...site.at, 'api_key_env'];
  const { problems } = site.reader;
  if (name === undefined) {
    const isRequired = parts.provider?.apiKey === 'required' && parts.own['api_key_env'] === undefined;
    if (isRequired) problems.missing(at, 'is required for this provider');
    return {};
  }
  const value = setVariable(name, at, site.reader);
  if (value === undefined) return { apiKeyEnv: name };
  if (!/^[\x21-\x7e]+$/.test(value)) {
    problems.error(
      at,
      `names the environment variable ${name}, whose value holds spaces or characters that no key has`,
    );
    return { apiKeyEnv: name };
  }
  return { apiKeyEnv: name, apiKey: new Sensitive(value) };
}

interface Reading<S extends z.ZodObject, C> {
  readonly keys: TableReading<z.output<S>>;
  readonly provider: NamedProvider | undefined;
  /** The provider, its key and its options; absent when anything of them is wrong. */
  readonly choice: ((C | ChosenPackage) & StageKey) | undefined;
}

interface Row<C> {
  readonly name: string;
  readonly isTableRequired: boolean;
  readonly read: (raw: Readonly<Record<string, unknown>>, site: TableSite) => C | undefined;
}

/** How the options of a provider are read. */
function rowOf<C>(
  provider: NamedProvider | undefined,
  rows: readonly Row<C>[],
): Row<C | ChosenPackage> | undefined {
  if (provider?.foreign === undefined) return rows.find(({ name }) => name === provider?.name);
  const { name, foreign } = provider;
  return {
    name,
    isTableRequired: false,
    read: (raw, site) => {
      const options = readPackageOptions(foreign, raw, site);
      return options && isPackage(name) ? { provider: name, options } : undefined;
    },
  };
}

/** Reads one table of a stage, or its secondary: own keys, key variable and options. */
function readChoice<S extends z.ZodObject, C extends object>(
  raw: unknown,
  site: Site & {
    readonly schema: S;
    readonly rows: readonly Row<C>[];
    readonly language: string | undefined;
  },
): Reading<S, C> | undefined {
  const { stage, at, reader } = site;
  const { problems } = reader;
  if (!isTable(raw)) {
    problems.error(at, 'must be a table');
    return undefined;
  }
  const parts = split(raw, site);
  const alsoKnown =
    parts.provider === undefined
      ? providerNames(stage)
      : [parts.provider.foreign ? packageTable : parts.provider.name];
  const isSecondary = at.at(-1) === 'secondary';
  const hints = stage === 'realtime' ? realtimeHints : isSecondary ? secondaryHints : keyHints;
  const keys = readTable(site.schema, parts.own, { at, problems, rules: { alsoKnown, hints } });
  const variable: unknown = Reflect.get(keys.known, 'api_key_env');
  const apiKey = readKey(parts, typeof variable === 'string' ? variable : undefined, site);
  const row = rowOf<C>(parts.provider, site.rows);
  const common = { keys, provider: parts.provider, choice: undefined };
  if (row === undefined || reader.leftOut.includes(row.name)) return common;
  if (parts.options === undefined && row.isTableRequired) {
    problems.missing(parts.optionsAt, 'is a required table for this provider');
    return common;
  }
  const table = parts.options ?? {};
  if (!isTable(table)) {
    problems.error(parts.optionsAt, 'must be a table');
    return common;
  }
  const tableSite: TableSite = {
    at: parts.optionsAt,
    stageAt: at,
    problems,
    hasKey: parts.own['api_key_env'] !== undefined,
    ...(site.language !== undefined && { language: site.language }),
    rules: { hints: keyHints },
  };
  const chosen = row.read(table, tableSite);
  return { ...common, choice: chosen && { ...chosen, ...apiKey } };
}

/** The raw table of a stage; one that is not there is reported unless a model does without. */
function stageTable(stage: StageName, { tree, problems }: StageReader): unknown {
  const isRequired = tree['realtime'] === undefined;
  if (tree[stage] === undefined && isRequired) problems.missing([stage], 'is a required section');
  return tree[stage];
}

const secondaryOf = (raw: unknown): unknown => (isTable(raw) ? raw['secondary'] : undefined);

/** Says that something else than the key `language` decides what is spoken or heard. */
function noteLanguage(raw: unknown, provider: NamedProvider | undefined, site: Site): void {
  if (provider?.languageBy === undefined || !isTable(raw) || raw['language'] === undefined) return;
  site.reader.problems.note(
    [...site.at, 'language'],
    `is accepted, but the ${provider.languageBy} decides the language of ${provider.name}`,
  );
}

/** "multi" is no language, but what some providers call several of them; it holds for both providers of the stage. */
function checkSeveral(
  provider: NamedProvider | undefined,
  { reader, language }: Site & { readonly language: string | undefined },
): void {
  if (language !== 'multi' || provider?.hearsSeveral === true || provider?.foreign !== undefined) return;
  const hint = 'must be a language tag such as "en" or "en-US": not all providers here hear several';
  reader.problems.error(['stt', 'language'], hint);
}

const spokenLanguage = (raw: unknown, fallback: string | undefined): string | undefined =>
  isTable(raw) && typeof raw['language'] === 'string' ? raw['language'] : fallback;

export function readStt(reader: StageReader): SttDefinition | undefined {
  const raw = stageTable('stt', reader);
  if (raw === undefined) return undefined;
  const language = spokenLanguage(raw, reader.language);
  const common = { stage: 'stt', reader, rows: declarations.stt, language } as const;
  const site = { ...common, at: ['stt'], schema: sttKeys };
  const stage = readChoice<typeof sttKeys, Chosen<'stt'>>(raw, site);
  noteLanguage(raw, stage?.provider, site);
  const second = secondaryOf(raw);
  const secondary =
    second === undefined
      ? undefined
      : readChoice<typeof sttSecondaryKeys, Chosen<'stt'>>(second, {
          ...common,
          at: ['stt', 'secondary'],
          schema: sttSecondaryKeys,
        });
  for (const one of [stage, secondary]) if (one !== undefined) checkSeveral(one.provider, site);
  if (stage?.choice === undefined || stage.keys.value === undefined || language === undefined) {
    return undefined;
  }
  return { ...stage.choice, language, ...(secondary?.choice && { secondary: secondary.choice }) };
}

export function readLlm(reader: StageReader): LlmDefinition | undefined {
  const raw = stageTable('llm', reader);
  if (raw === undefined) return undefined;
  const common = { stage: 'llm', reader, rows: declarations.llm, language: reader.language } as const;
  const stage = readChoice<typeof llmKeys, Chosen<'llm'>>(raw, { ...common, at: ['llm'], schema: llmKeys });
  const second = secondaryOf(raw);
  const secondary =
    second === undefined
      ? undefined
      : readChoice<typeof llmSecondaryKeys, Chosen<'llm'>>(second, {
          ...common,
          at: ['llm', 'secondary'],
          schema: llmSecondaryKeys,
        });
  if (stage?.choice === undefined || stage.keys.value === undefined) return undefined;
  return {
    ...stage.choice,
    maxToolRounds: stage.keys.value.max_tool_rounds,
    contextWindowTokens: stage.keys.value.context_window_tokens,
    ...(secondary?.choice &&
      secondary.keys.value && {
        secondary: { ...secondary.choice, hedgeAfterMs: secondary.keys.value.hedge_after_ms },
      }),
  };
}

/** Reads an LLM that is not that of calls, at another place of the file. */
export function readLlmOfItsOwn(raw: unknown, at: KeyPath, reader: StageReader): LlmChoice | undefined {
  const site = { stage: 'llm', reader, rows: declarations.llm, language: reader.language, at } as const;
  return readChoice<typeof llmOfItsOwnKeys, Chosen<'llm'>>(raw, { ...site, schema: llmOfItsOwnKeys })?.choice;
}

const voiceOf = (provider: NamedProvider | undefined): VoiceRules | undefined =>
  provider?.voice ?? declarations.tts.find(({ name }) => name === provider?.name)?.voice;

/** Checks that a TTS provider delivers the rate of the stage. */
function checkRate(
  provider: NamedProvider | undefined,
  rate: number | undefined,
  { reader, isSecondary = false }: Pick<Site, 'reader'> & { readonly isSecondary?: boolean },
): void {
  const voice = voiceOf(provider);
  if (voice === undefined || rate === undefined) return;
  const { rates } = voice;
  if (rates.includes(rate)) return;
  const name = provider?.name ?? '';
  const ofSecondary = isSecondary ? `${name} in tts.secondary` : undefined;
  const rule =
    rates.length === 1
      ? `must be absent or exactly ${rates.join()} for ${ofSecondary ?? 'this provider'}`
      : `must be one of ${rates.join(', ')} for ${ofSecondary ?? name}`;
  reader.problems.error(['tts', 'sample_rate'], rule);
}

function checkVoice(raw: unknown, provider: NamedProvider | undefined, site: Site): void {
  const voice = voiceOf(provider);
  const isMissing = isTable(raw) && raw['voice'] === undefined;
  if (voice !== undefined && isMissing && voice.needsVoice) {
    site.reader.problems.missing(['tts', 'voice'], 'is required for this provider');
  }
}

export function readTts(reader: StageReader): TtsDefinition | undefined {
  const raw = stageTable('tts', reader);
  if (raw === undefined) return undefined;
  const language = spokenLanguage(raw, reader.language);
  const common = { stage: 'tts', reader, rows: declarations.tts, language } as const;
  const site = { ...common, at: ['tts'], schema: ttsKeys };
  const stage = readChoice<typeof ttsKeys, Chosen<'tts'>>(raw, site);
  noteLanguage(raw, stage?.provider, site);
  checkVoice(raw, stage?.provider, site);
  checkRate(stage?.provider, stage?.keys.known.sample_rate, site);
  const secondary = readTtsSecondary(secondaryOf(raw), {
    ...common,
    at: ['tts', 'secondary'],
    schema: ttsSecondaryKeys,
  });
  if (secondary?.provider !== undefined && secondary.provider !== stage?.provider) {
    checkRate(secondary.provider, stage?.keys.known.sample_rate, { reader, isSecondary: true });
  }
  if (stage?.choice === undefined || stage.keys.value === undefined || language === undefined) {
    return undefined;
  }
  const { voice, sample_rate: sampleRate } = stage.keys.value;
  const second = secondary?.keys.value;
  return {
    ...stage.choice,
    ...(voice !== undefined && { voice }),
    sampleRate,
    language,
    ...(secondary?.choice &&
      second && {
        secondary: { ...secondary.choice, voice: second.voice, hedgeAfterMs: second.hedge_after_ms },
      }),
  };
}

function readTtsSecondary(
  raw: unknown,
  site: Parameters<typeof readChoice<typeof ttsSecondaryKeys, Chosen<'tts'>>>[1],
): Reading<typeof ttsSecondaryKeys, Chosen<'tts'>> | undefined {
  return raw === undefined ? undefined : readChoice<typeof ttsSecondaryKeys, Chosen<'tts'>>(raw, site);
}

/** Absent where the file has no such section: then [stt], [llm] and [tts] serve the calls by themselves. */
export function readRealtime(reader: StageReader): RealtimeDefinition | undefined {
  const { tree, language, problems } = reader;
  const raw = tree['realtime'];
  if (raw === undefined) return undefined;
  const site = { stage: 'realtime', at: ['realtime'], reader } as const;
  const stage = readChoice<typeof realtimeKeys, Chosen<'realtime'>>(raw, {
    ...site,
    schema: realtimeKeys,
    rows: declarations.realtime,
    language,
  });
  const hasStt = tree['stt'] !== undefined;
  if (stage?.keys.known.words === 'own' && !hasStt) {
    problems.error(['realtime', 'words'], 'needs the section [stt] when it is "own"');
  }
  if (stage?.choice === undefined || stage.keys.value === undefined || language === undefined) {
    return undefined;
  }
  const { voice, output, words = hasStt ? 'own' : 'vendor' } = stage.keys.value;
  const { provider } = stage.choice;
  const writes = declarations.realtime.some(({ name, writesUnasked }) => name === provider && writesUnasked);
  const writesOver = words === 'vendor' && !hasStt && writes ? { writesOver: true as const } : {};
  return {
    ...stage.choice,
    ...(voice !== undefined && { voice }),
    ...writesOver,
    output,
    words,
    language,
  };
}
