/**
 * Every provider that this service has of itself, in the order in which the reference lists them: what it declares, and how its
 * adapter is loaded. Adding one is a folder beside the others and a row here.
 *
 * The declarations are all that is read with this list, so that a process which only reads agent files holds no adapter.
 */
import type {
  OptionsOf,
  ProviderDeclaration,
  VoiceDeclaration,
} from '../../shared/config/stages/declaration.ts';
import { chatCompatible } from './llm/chat-compatible/declaration.ts';
import { llmGenerate } from './llm/generate/declaration.ts';
import { llmMessages } from './llm/messages/declaration.ts';
import { llmResponses } from './llm/responses/declaration.ts';
import { geminiLive } from './realtime/gemini/declaration.ts';
import { realtimeOpenAi } from './realtime/openai/declaration.ts';
import type { RealtimeAccess, RealtimeModel } from './realtime/contract.ts';
import type { LlmStage, ProviderAccess, SttAccess, SttStage, TtsAccess, TtsStage } from './stage.ts';
import { sttDeepgram } from './stt/deepgram/declaration.ts';
import { sttAssemblyAi } from './stt/assemblyai/declaration.ts';
import { sttGladia } from './stt/gladia/declaration.ts';
import { sttLocalWs } from './stt/sherpa-onnx/declaration.ts';
import { sttRealtimeCompat } from './stt/realtime-compat/declaration.ts';
import { ttsCartesia } from './tts/cartesia/declaration.ts';
import { ttsElevenLabs } from './tts/elevenlabs/declaration.ts';
import { ttsDeepgramAura } from './tts/deepgram/declaration.ts';
import { speechCompatible } from './tts/speech-compatible/declaration.ts';

/** Makes a stage of options that the declaration beside it read, and of what every adapter of the stage gets beside them. */
export type Factory<A, T> = (options: object, access: A) => T;

interface Provider<D, A, T> {
  readonly declaration: D;
  readonly load: () => Promise<Factory<A, T>>;
}

type Declaration = ProviderDeclaration<string, object>;

/** Options are read by the declaration that the adapter stands beside, which is what the cast says. */
const row = <D extends Declaration, A, T>(
  declaration: D,
  load: () => Promise<(options: OptionsOf<D> & A) => T>,
): Provider<D, A, T> => ({
  declaration,
  load: async () => {
    const make = await load();
    return (options, access) => make({ ...(options as OptionsOf<D>), ...access });
  },
});

const stt = <D extends Declaration>(
  declaration: D,
  load: () => Promise<(options: OptionsOf<D> & SttAccess) => SttStage>,
): Provider<D, SttAccess, SttStage> => row<D, SttAccess, SttStage>(declaration, load);

const llm = <D extends Declaration>(
  declaration: D,
  load: () => Promise<(options: OptionsOf<D> & ProviderAccess) => LlmStage>,
): Provider<D, ProviderAccess, LlmStage> => row<D, ProviderAccess, LlmStage>(declaration, load);

const tts = <D extends VoiceDeclaration<string, object>>(
  declaration: D,
  load: () => Promise<(options: OptionsOf<D> & TtsAccess) => TtsStage>,
): Provider<D, TtsAccess, TtsStage> => row<D, TtsAccess, TtsStage>(declaration, load);

const realtime = <D extends Declaration>(
  declaration: D,
  load: () => Promise<(options: OptionsOf<D> & RealtimeAccess) => RealtimeModel>,
): Provider<D, RealtimeAccess, RealtimeModel> => row<D, RealtimeAccess, RealtimeModel>(declaration, load);

export const providers = {
  stt: [
    stt(sttLocalWs, async () => (await import('./stt/sherpa-onnx/adapter.ts')).newSttLocalWs),
    stt(sttDeepgram, async () => (await import('./stt/deepgram/adapter.ts')).newSttDeepgram),
    stt(sttAssemblyAi, async () => (await import('./stt/assemblyai/adapter.ts')).newSttAssemblyAi),
    stt(sttGladia, async () => (await import('./stt/gladia/adapter.ts')).newSttGladia),
    stt(
      sttRealtimeCompat,
      async () => (await import('./stt/realtime-compat/adapter.ts')).newSttRealtimeCompat,
    ),
  ],
  llm: [
    llm(chatCompatible, async () => (await import('./llm/chat-compatible/adapter.ts')).newChatCompatible),
    llm(llmResponses, async () => (await import('./llm/responses/adapter.ts')).newLlmResponses),
    llm(llmMessages, async () => (await import('./llm/messages/adapter.ts')).newLlmMessages),
    llm(llmGenerate, async () => (await import('./llm/generate/adapter.ts')).newLlmGenerate),
  ],
  tts: [
    tts(
      speechCompatible,
      async () => (await import('./tts/speech-compatible/adapter.ts')).newSpeechCompatible,
    ),
    tts(ttsCartesia, async () => (await import('./tts/cartesia/adapter.ts')).newTtsCartesia),
    tts(ttsElevenLabs, async () => (await import('./tts/elevenlabs/adapter.ts')).newTtsElevenLabs),
    tts(ttsDeepgramAura, async () => (await import('./tts/deepgram/adapter.ts')).newTtsDeepgramAura),
  ],
  realtime: [
    realtime(realtimeOpenAi, async () => (await import('./realtime/openai/adapter.ts')).newRealtimeOpenAi),
    realtime(geminiLive, async () => (await import('./realtime/gemini/adapter.ts')).newGeminiLive),
  ],
} as const;
