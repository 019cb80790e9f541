/**
 * The providers that are built in, one row each, and how a call's stages come from a definition.
 *
 * Invariant: adding a provider is one options type, one adapter and one row here. Names and aliases that a file may use
 * are declared with the configuration; only canonical names arrive here.
 */
import type { ChatCompatibleOptions } from '../../shared/config/stages/chat-compatible.ts';
import type { SpeechCompatibleOptions } from '../../shared/config/stages/speech-compatible.ts';
import type { SttLocalWsOptions } from '../../shared/config/stages/stt-local-ws.ts';
import { newChatCompatible } from './llm/chat-compatible.ts';
import type { LlmStage, SttStage, TtsStage } from './stage.ts';
import { newSttLocalWs } from './stt/local-ws.ts';
import { newSpeechCompatible } from './tts/speech-compatible.ts';

/** Options of every built-in provider, by stage and canonical name. */
interface ProviderOptions {
  readonly stt: { readonly stt_local_ws: SttLocalWsOptions };
  readonly llm: { readonly chat_compatible: ChatCompatibleOptions };
  readonly tts: { readonly speech_compatible: SpeechCompatibleOptions };
}

interface Stages {
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
}

type Factories = {
  readonly [S in keyof ProviderOptions]: {
    readonly [P in keyof ProviderOptions[S]]: (
      options: ProviderOptions[S][P] & { apiKey?: string },
    ) => Stages[S];
  };
};

const PROVIDERS: Factories = {
  stt: { stt_local_ws: newSttLocalWs },
  llm: { chat_compatible: newChatCompatible },
  tts: { speech_compatible: newSpeechCompatible },
};

/** One stage as configured; a closed union over the providers of the stage. */
export type StageDefinition<S extends keyof ProviderOptions> = {
  [P in keyof ProviderOptions[S]]: {
    readonly provider: P;
    readonly options: ProviderOptions[S][P];
    readonly apiKey?: string;
  };
}[keyof ProviderOptions[S]];

export interface StageDefinitions {
  readonly stt: StageDefinition<'stt'>;
  readonly llm: StageDefinition<'llm'>;
  readonly tts: StageDefinition<'tts'>;
}

/** @throws Error when a key may not be sent to its address or cannot be a header value. */
export function openStages({ stt, llm, tts }: StageDefinitions): Stages {
  return {
    stt: PROVIDERS.stt[stt.provider]({ ...stt.options, ...keyOf(stt) }),
    llm: PROVIDERS.llm[llm.provider]({ ...llm.options, ...keyOf(llm) }),
    tts: PROVIDERS.tts[tts.provider]({ ...tts.options, ...keyOf(tts) }),
  };
}

function keyOf({ apiKey }: { readonly apiKey?: string }): { apiKey?: string } {
  return apiKey === undefined ? {} : { apiKey };
}
