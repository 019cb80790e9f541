/**
 * The providers that an agent file may name (spec 03, Stage tables). One row each; a provider that a build leaves out
 * is known all the same, so that the message can say so.
 */

export type StageName = 'stt' | 'llm' | 'tts';

export interface ProviderRow {
  readonly name: string;
  /** Other names that mean this provider, in `provider` and for its options table. */
  readonly aliases: readonly string[];
  /** `required`: the file must name the variable of the key. `by-options`: the options table decides. */
  readonly apiKey: 'required' | 'optional' | 'by-options';
  /** What decides the language instead of the key `language`. */
  readonly languageBy?: 'model' | 'server' | 'voice';
}

export const providersOfStage: Readonly<Record<StageName, readonly ProviderRow[]>> = {
  stt: [
    { name: 'stt_local_ws', aliases: ['sherpa_onnx'], apiKey: 'optional', languageBy: 'model' },
    { name: 'stt_cloud_a', aliases: ['deepgram'], apiKey: 'required' },
    { name: 'stt_cloud_b', aliases: ['assemblyai'], apiKey: 'required' },
    { name: 'stt_cloud_c', aliases: ['gladia'], apiKey: 'required' },
    { name: 'stt_realtime_compat', aliases: ['openai_realtime'], apiKey: 'by-options' },
  ],
  llm: [
    { name: 'chat_compatible', aliases: ['openai_compatible'], apiKey: 'optional' },
    { name: 'llm_responses', aliases: ['openai_responses', 'openai'], apiKey: 'required' },
    { name: 'llm_messages', aliases: ['anthropic'], apiKey: 'required' },
    { name: 'llm_generate', aliases: ['gemini'], apiKey: 'required' },
  ],
  tts: [
    { name: 'speech_compatible', aliases: ['openai_speech'], apiKey: 'optional', languageBy: 'server' },
    { name: 'tts_cloud_a', aliases: ['cartesia'], apiKey: 'required' },
    { name: 'tts_cloud_b', aliases: ['elevenlabs'], apiKey: 'required' },
    { name: 'tts_cloud_c', aliases: ['deepgram_aura'], apiKey: 'required', languageBy: 'voice' },
  ],
};

/** The row for a provider name or an alias of it. */
export function findProvider(stage: StageName, name: string): ProviderRow | undefined {
  return providersOfStage[stage].find((row) => row.name === name || row.aliases.includes(name));
}

/** Every name that {@link findProvider} knows for a stage. */
export function providerNames(stage: StageName): string[] {
  return providersOfStage[stage].flatMap((row) => [...row.aliases, row.name]);
}

/** The names that a file may use, that of the vendor first: `deepgram (stt_cloud_a)`. */
export const shownProvider = ({ name, aliases }: ProviderRow): string => `${aliases.join(' or ')} (${name})`;
