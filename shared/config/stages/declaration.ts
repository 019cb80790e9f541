/**
 * What a provider declares of itself, beside its adapter: its names, its options and how they are read, whether it takes a key,
 * and what choosing it takes to know (docs/architecture/adding-a-provider.md).
 */
import type { z } from 'zod';
import { readTable, type TableRules } from '../table.ts';
import type { OptionsReader, OptionsSite } from './options-site.ts';

/** The stages of a call that hears, thinks and speaks by three providers. */
export type CascadeStage = 'stt' | 'llm' | 'tts';
/** `realtime`: a model that hears and speaks by itself (docs/realtime.md). */
export type StageName = CascadeStage | 'realtime';

/** The names of a provider, and what its stage has to ask for. */
export interface ProviderRow {
  readonly name: string;
  /** Other names that mean this provider, in `provider` and for its options table. */
  readonly aliases: readonly string[];
  /** `required`: the file must name the variable of the key. `by-options`: the options table decides. */
  readonly apiKey: 'required' | 'optional' | 'by-options';
  /** What decides the language instead of the key `language`. */
  readonly languageBy?: 'model' | 'server' | 'voice';
  /** It takes "multi" for several languages at once. */
  readonly hearsSeveral?: true;
  /** A session of the model that is never asked for an answer writes down what it is given. */
  readonly writesUnasked?: true;
}

/** Servers of presets and dialects by their own names: the key that names them, and which of its values each name means. */
export interface NamedServers {
  readonly key: string;
  readonly names: Readonly<Record<string, string>>;
}

/** Who stands behind a provider, and what choosing it takes. The table in docs/providers.md is written from here. */
export interface ProviderFacts {
  /** The vendor, or the interface where many servers speak it. */
  readonly vendor: string;
  /** Services that speak the interface, by their hosts. */
  readonly vendorsByHost?: Readonly<Record<string, string>>;
  readonly servers?: NamedServers;
  readonly runs: 'hosted' | 'own machine' | 'either';
  /** Classes, not prices: `free` on a machine of one's own; `low`, `middle`, `high` among the hosted ones of the stage. */
  readonly price: string;
  /** Class of the time to a first result, network left out. */
  readonly latency: string;
  readonly languages: string;
  /** Whether results come with times of words: exact interruptions for TTS, exact replay for STT. */
  readonly wordTimes: 'yes' | 'no' | 'depends';
  /** The variable that people usually keep the key in; a name like any other. */
  readonly keyVariable?: string;
}

/** Where an options table stands; the reader itself finds out which of its keys are wrong. */
export type TableSite = Omit<OptionsSite, 'isWrong'> & { readonly rules: TableRules };

/** A provider with the name `N` whose adapter takes the options `O`. */
export interface ProviderDeclaration<N extends string, O> extends ProviderRow {
  readonly name: N;
  readonly facts: ProviderFacts;
  /** The keys of the options table. */
  readonly keys: z.ZodObject;
  /** Whether the file must have the options table. */
  readonly isTableRequired: boolean;
  /** Reads the options table; reports what is wrong with it and then gives nothing. */
  readonly read: (
    raw: Readonly<Record<string, unknown>>,
    site: TableSite,
  ) => { readonly provider: N; readonly options: O } | undefined;
}

/** What a TTS provider asks of the keys of its stage (docs/reference/agent-file.md, `[tts]`). */
export interface VoiceRules {
  /** Rates in Hz that the provider delivers and that the service can convert. */
  readonly rates: readonly number[];
  /** True where the service has no voice of its own choice. */
  readonly needsVoice: boolean;
}

/** The options that the adapter of a declared provider takes. */
export type OptionsOf<D> = D extends ProviderDeclaration<string, infer O> ? O : never;

export interface VoiceDeclaration<N extends string, O> extends ProviderDeclaration<N, O> {
  readonly voice: VoiceRules;
}

type Declared<N extends string, S extends z.ZodObject, O> = ProviderRow & {
  readonly name: N;
  readonly facts: ProviderFacts;
  readonly keys: S;
  readonly isTableRequired?: boolean;
  readonly read: OptionsReader<z.output<S>, O>;
};

export function declareProvider<const N extends string, S extends z.ZodObject, O>(
  declared: Declared<N, S, O>,
): ProviderDeclaration<N, O> {
  const { name, keys } = declared;
  return {
    ...declared,
    isTableRequired: declared.isTableRequired ?? false,
    read: (raw, site) => {
      const reading = readTable(keys, raw, site);
      const isWrong = (key: string): boolean => Object.hasOwn(raw, key) && !Object.hasOwn(reading.known, key);
      const options = declared.read(reading, { ...site, isWrong });
      return options && { provider: name, options };
    },
  };
}

export const declareVoice = <const N extends string, S extends z.ZodObject, O>(
  declared: Declared<N, S, O> & { readonly voice: VoiceRules },
): VoiceDeclaration<N, O> => ({ ...declareProvider(declared), voice: declared.voice });
