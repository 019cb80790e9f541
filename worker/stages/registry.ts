/**
 * The adapter of every provider, one row each, and how a call's stages come from a definition.
 *
 * Invariant: adding a provider is one options type, one adapter and one row here. Names and aliases that a file may use
 * are declared with the configuration; only canonical names arrive here. A provider that the build leaves out is
 * refused.
 */
import type { Chosen, ProviderOptions } from '../../shared/config/stages/definition.ts';
import { leftOut } from '../../shared/config/stages/features.ts';
import { newChatCompatible } from './llm/chat-compatible.ts';
import { newLlmGenerate } from './llm/generate.ts';
import { newLlmMessages } from './llm/messages.ts';
import { newLlmResponses } from './llm/responses.ts';
import type { LlmStage, ProviderAccess, SttAccess, SttStage, TtsAccess, TtsStage } from './stage.ts';
import { newSttCloudA } from './stt/cloud-a.ts';
import { newSttCloudB } from './stt/cloud-b.ts';
import { newSttCloudC } from './stt/cloud-c.ts';
import { newSttLocalWs } from './stt/local-ws.ts';
import { newSttRealtimeCompat } from './stt/realtime-compat.ts';
import { newTtsCloudA } from './tts/cloud-a.ts';
import { newTtsCloudB } from './tts/cloud-b.ts';
import { newTtsCloudC } from './tts/cloud-c.ts';
import { newSpeechCompatible } from './tts/speech-compatible.ts';

interface Stages {
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
}

interface Access {
  readonly stt: SttAccess;
  readonly llm: ProviderAccess;
  readonly tts: TtsAccess;
}

type Factories<S extends keyof ProviderOptions> = {
  readonly [P in keyof ProviderOptions[S]]: (options: ProviderOptions[S][P] & Access[S]) => Stages[S];
};

const STT: Factories<'stt'> = {
  stt_local_ws: newSttLocalWs,
  stt_cloud_a: newSttCloudA,
  stt_cloud_b: newSttCloudB,
  stt_cloud_c: newSttCloudC,
  stt_realtime_compat: newSttRealtimeCompat,
};

const LLM: Factories<'llm'> = {
  chat_compatible: newChatCompatible,
  llm_responses: newLlmResponses,
  llm_messages: newLlmMessages,
  llm_generate: newLlmGenerate,
};

const TTS: Factories<'tts'> = {
  speech_compatible: newSpeechCompatible,
  tts_cloud_a: newTtsCloudA,
  tts_cloud_b: newTtsCloudB,
  tts_cloud_c: newTtsCloudC,
};

/** One stage as configured, with what its adapter gets beside the options. */
export type StageDefinition<S extends keyof ProviderOptions> = Access[S] & { readonly chosen: Chosen<S> };

export interface StageDefinitions {
  readonly stt: StageDefinition<'stt'>;
  readonly llm: StageDefinition<'llm'>;
  readonly tts: StageDefinition<'tts'>;
}

function openOne<O extends object, A extends object, T>(
  provider: string,
  make: (options: O & A) => T,
  given: { readonly options: O; readonly access: A },
): T {
  if (leftOut.includes(provider)) {
    throw new Error(`the build feature "${provider}" is off: this build does not hold it`);
  }
  return make({ ...given.options, ...given.access });
}

function openStt({ chosen, ...access }: StageDefinition<'stt'>): SttStage {
  switch (chosen.provider) {
    case 'stt_local_ws':
      return openOne(chosen.provider, STT.stt_local_ws, { options: chosen.options, access });
    case 'stt_cloud_a':
      return openOne(chosen.provider, STT.stt_cloud_a, { options: chosen.options, access });
    case 'stt_cloud_b':
      return openOne(chosen.provider, STT.stt_cloud_b, { options: chosen.options, access });
    case 'stt_cloud_c':
      return openOne(chosen.provider, STT.stt_cloud_c, { options: chosen.options, access });
    case 'stt_realtime_compat':
      return openOne(chosen.provider, STT.stt_realtime_compat, { options: chosen.options, access });
  }
}

function openLlm({ chosen, ...access }: StageDefinition<'llm'>): LlmStage {
  switch (chosen.provider) {
    case 'chat_compatible':
      return openOne(chosen.provider, LLM.chat_compatible, { options: chosen.options, access });
    case 'llm_responses':
      return openOne(chosen.provider, LLM.llm_responses, { options: chosen.options, access });
    case 'llm_messages':
      return openOne(chosen.provider, LLM.llm_messages, { options: chosen.options, access });
    case 'llm_generate':
      return openOne(chosen.provider, LLM.llm_generate, { options: chosen.options, access });
  }
}

function openTts({ chosen, ...access }: StageDefinition<'tts'>): TtsStage {
  switch (chosen.provider) {
    case 'speech_compatible':
      return openOne(chosen.provider, TTS.speech_compatible, { options: chosen.options, access });
    case 'tts_cloud_a':
      return openOne(chosen.provider, TTS.tts_cloud_a, { options: chosen.options, access });
    case 'tts_cloud_b':
      return openOne(chosen.provider, TTS.tts_cloud_b, { options: chosen.options, access });
    case 'tts_cloud_c':
      return openOne(chosen.provider, TTS.tts_cloud_c, { options: chosen.options, access });
  }
}

/** @throws Error for a provider that the build leaves out, or when a key may not be sent to its address. */
export function openStages({ stt, llm, tts }: StageDefinitions): Stages {
  return { stt: openStt(stt), llm: openLlm(llm), tts: openTts(tts) };
}
