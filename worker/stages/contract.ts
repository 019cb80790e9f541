/**
 * The contract of stages for packages, published as `@voice-agent-service/stage`. A package whose module exports `stt`, `llm` or `tts` in
 * the shape below can be named in an agent file: `provider = "npm:@acme/our-stt"` (docs/architecture/adding-a-provider.md).
 */
import type { OptionsOutcome } from '../../shared/config/stages/package.ts';
import type { LlmStage, ProviderAccess, SttAccess, SttStage, TtsAccess, TtsStage } from './stage.ts';

export type { OptionsIssue, OptionsOutcome } from '../../shared/config/stages/package.ts';
export type {
  ChatMessage,
  LlmCall,
  LlmEvent,
  LlmFinish,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  LlmUsage,
  OpaqueReasoning,
  ProviderAccess,
  StageContext,
  StageError,
  SttAccess,
  SttEvent,
  SttSession,
  SttStage,
  ToolCall,
  ToolDeclaration,
  Transcript,
  TtsAccess,
  TtsEvent,
  TtsSession,
  TtsStage,
} from './stage.ts';

/** Any validator with the interface of Standard Schema; it must answer at once and not by a promise. */
export interface StandardSchema<O> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (table: unknown) => OptionsOutcome | Promise<unknown>;
    readonly types?: { readonly input: unknown; readonly output: O } | undefined;
  };
}

interface PackageStage<O, A, T> {
  /** The version of this contract; the service refuses any other. */
  readonly contract: 1;
  /** Reads the options table of the agent file, `{}` where there is none; absent: the stage has no options. */
  readonly options?: StandardSchema<O> | ((table: unknown) => OptionsOutcome);
  /** Whether the agent file must name the variable of a key; default `optional`. */
  readonly apiKey?: 'required' | 'optional';
  /** Makes the stage, once per worker; calls open sessions of it. Options that cannot work throw an `Error`. */
  readonly open: (options: O, access: A) => T;
}

export type SttPackage<O = object> = PackageStage<O, SttAccess, SttStage>;
export type LlmPackage<O = object> = PackageStage<O, ProviderAccess, LlmStage>;
export type TtsPackage<O = object> = PackageStage<O, TtsAccess, TtsStage> & {
  /** Sample rates that can be asked for, in Hz, of 8,000 to 48,000. */
  readonly rates: readonly number[];
  /** True where `tts.voice` must name a voice. */
  readonly needsVoice?: boolean;
};
