/**
 * What a stage of an agent is configured to be: a closed union by provider, for the stage itself and for the secondary
 * that calls fail over to (docs/providers.md, When a provider fails).
 */
import type { providers } from '../../../worker/stages/providers.ts';
import type { Sensitive } from '../sensitive.ts';
import type { OptionsOf } from './declaration.ts';
import type { PackageProvider } from './package.ts';
type Declarations = {
  readonly [S in keyof typeof providers]: (typeof providers)[S][number]['declaration'];
};

/** Options of every provider, by stage and canonical name, as the folders of the providers declare them. */
export type ProviderOptions = {
  readonly [S in keyof Declarations]: {
    readonly [D in Declarations[S] as D['name']]: OptionsOf<D>;
  };
};

export interface StageKey {
  readonly apiKeyEnv?: string;
  /** Absent while the variable is not set; the start of the service refuses that. */
  readonly apiKey?: Sensitive<string>;
}

/** A provider from a package, with the options that the package made of its table. */
export interface ChosenPackage {
  readonly provider: PackageProvider;
  readonly options: object;
}

/** One provider of a stage with its options; a closed union over the providers of the stage and those of packages. */
export type Chosen<S extends keyof ProviderOptions> =
  | {
      [P in keyof ProviderOptions[S]]: { readonly provider: P; readonly options: ProviderOptions[S][P] };
    }[keyof ProviderOptions[S]]
  | ChosenPackage;

export type SttChoice = StageKey & Chosen<'stt'>;
export type LlmChoice = StageKey & Chosen<'llm'>;
/** `voice` is absent where the provider has a voice of its own. */
export type TtsChoice = StageKey & Chosen<'tts'> & { readonly voice?: string };

/** A model that hears and speaks by itself. */
export type RealtimeDefinition = StageKey &
  Chosen<'realtime'> & {
    readonly voice?: string;
    readonly output: 'audio' | 'text';
    /** Whose words of the caller count. */
    readonly words: 'own' | 'vendor';
    /** There is no `[stt]`, and the model writes down what is said over the agent in a session of its own. */
    readonly writesOver?: true;
    /** BCP 47 tag of the agent. */
    readonly language: string;
  };

export interface Hedge {
  /** After so long without an answer of the stage's own provider the secondary is asked as well. */
  readonly hedgeAfterMs: number;
}

export type SttDefinition = SttChoice & {
  /** Tag as the file writes it; adapters take from it what their provider wants. */
  readonly language: string;
  readonly secondary?: SttChoice;
};

export type LlmDefinition = LlmChoice & {
  readonly maxToolRounds: number;
  readonly contextWindowTokens: number;
  readonly secondary?: LlmChoice & Hedge;
};

export type TtsDefinition = TtsChoice & {
  /** Hz, for the secondary too. */
  readonly sampleRate: number;
  readonly language: string;
  readonly secondary?: TtsChoice & Hedge;
};
