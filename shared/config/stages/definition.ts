/**
 * What a stage of an agent is configured to be: a closed union by provider, for the stage itself and for the secondary
 * that calls fail over to (spec 03, Stage tables and Secondary providers).
 */
import type { Sensitive } from '../sensitive.ts';
import type { ChatCompatibleOptions } from './chat-compatible.ts';
import type { LlmGenerateOptions } from './llm-generate.ts';
import type { LlmMessagesOptions } from './llm-messages.ts';
import type { LlmResponsesOptions } from './llm-responses.ts';
import type { SpeechCompatibleOptions } from './speech-compatible.ts';
import type { SttCloudAOptions } from './stt-cloud-a.ts';
import type { SttCloudBOptions } from './stt-cloud-b.ts';
import type { SttCloudCOptions } from './stt-cloud-c.ts';
import type { SttLocalWsOptions } from './stt-local-ws.ts';
import type { SttRealtimeCompatOptions } from './stt-realtime-compat.ts';
import type { TtsCloudAOptions } from './tts-cloud-a.ts';
import type { TtsCloudBOptions } from './tts-cloud-b.ts';
import type { TtsCloudCOptions } from './tts-cloud-c.ts';

/** Options of every provider, by stage and canonical name. */
export interface ProviderOptions {
  readonly stt: {
    readonly stt_local_ws: SttLocalWsOptions;
    readonly stt_cloud_a: SttCloudAOptions;
    readonly stt_cloud_b: SttCloudBOptions;
    readonly stt_cloud_c: SttCloudCOptions;
    readonly stt_realtime_compat: SttRealtimeCompatOptions;
  };
  readonly llm: {
    readonly chat_compatible: ChatCompatibleOptions;
    readonly llm_responses: LlmResponsesOptions;
    readonly llm_messages: LlmMessagesOptions;
    readonly llm_generate: LlmGenerateOptions;
  };
  readonly tts: {
    readonly speech_compatible: SpeechCompatibleOptions;
    readonly tts_cloud_a: TtsCloudAOptions;
    readonly tts_cloud_b: TtsCloudBOptions;
    readonly tts_cloud_c: TtsCloudCOptions;
  };
}

export interface StageKey {
  readonly apiKeyEnv?: string;
  /** Absent while the variable is not set; the start of the service refuses that. */
  readonly apiKey?: Sensitive<string>;
}

/** One provider of a stage with its options; a closed union over the providers of the stage. */
export type Chosen<S extends keyof ProviderOptions> = {
  [P in keyof ProviderOptions[S]]: { readonly provider: P; readonly options: ProviderOptions[S][P] };
}[keyof ProviderOptions[S]];

export type SttChoice = StageKey & Chosen<'stt'>;
export type LlmChoice = StageKey & Chosen<'llm'>;
/** `voice` is absent where the provider has a voice of its own. */
export type TtsChoice = StageKey & Chosen<'tts'> & { readonly voice?: string };

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
