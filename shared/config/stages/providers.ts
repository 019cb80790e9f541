/**
 * The providers that an agent file may name (spec 03, Stage tables). One row each; a provider that is not built into
 * this version is known all the same, so that the message can say so.
 */

export type StageName = 'stt' | 'llm' | 'tts';

export interface ProviderRow {
  readonly name: string;
  /** Other names that mean this provider, in `provider` and for its options table. */
  readonly aliases: readonly string[];
  readonly isBuiltIn: boolean;
  /** `required`: the file must name the variable of the key. */
  readonly apiKey: 'required' | 'optional';
}

const builtIn = { isBuiltIn: true, apiKey: 'optional' } as const;
const absent = { isBuiltIn: false, apiKey: 'required' } as const;

export const providersOfStage: Readonly<Record<StageName, readonly ProviderRow[]>> = {
  stt: [
    { name: 'stt_local_ws', aliases: ['sherpa_onnx'], ...builtIn },
    { name: 'stt_cloud_a', aliases: ['deepgram'], ...absent },
    { name: 'stt_cloud_b', aliases: ['assemblyai'], ...absent },
    { name: 'stt_cloud_c', aliases: ['gladia'], ...absent },
    { name: 'stt_realtime_compat', aliases: ['openai_realtime'], isBuiltIn: false, apiKey: 'optional' },
  ],
  llm: [
    { name: 'chat_compatible', aliases: ['openai_compatible'], ...builtIn },
    { name: 'llm_responses', aliases: ['openai_responses', 'openai'], ...absent },
    { name: 'llm_messages', aliases: ['anthropic'], ...absent },
    { name: 'llm_generate', aliases: ['gemini'], ...absent },
  ],
  tts: [
    { name: 'speech_compatible', aliases: ['openai_speech'], ...builtIn },
    { name: 'tts_cloud_a', aliases: ['cartesia'], ...absent },
    { name: 'tts_cloud_b', aliases: ['elevenlabs'], ...absent },
    { name: 'tts_cloud_c', aliases: ['deepgram_aura'], ...absent },
  ],
};

/** The row for a provider name or an alias of it. */
export function findProvider(stage: StageName, name: string): ProviderRow | undefined {
  return providersOfStage[stage].find((row) => row.name === name || row.aliases.includes(name));
}

/** Every name that {@link findProvider} knows for a stage. */
export function providerNames(stage: StageName): string[] {
  return providersOfStage[stage].flatMap((row) => [row.name, ...row.aliases]);
}
