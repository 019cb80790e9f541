/**
 * The options table of every provider, in the order in which the reference lists them: its keys, its reader, and what
 * the stage around it must know. A provider is one file with its options and one row here.
 */
import type { z } from 'zod';
import { chatCompatibleKeys, readChatCompatible } from './chat-compatible.ts';
import { llmGenerateKeys, readLlmGenerate } from './llm-generate.ts';
import { llmMessagesKeys, readLlmMessages } from './llm-messages.ts';
import { llmResponsesKeys, readLlmResponses } from './llm-responses.ts';
import type { OptionsReader } from './options-site.ts';
import { readSpeechCompatible, speechCompatibleKeys, speechCompatibleRates } from './speech-compatible.ts';
import { readSttCloudA, sttCloudAKeys } from './stt-cloud-a.ts';
import { readSttCloudB, sttCloudBKeys } from './stt-cloud-b.ts';
import { readSttCloudC, sttCloudCKeys } from './stt-cloud-c.ts';
import { readSttLocalWs, sttLocalWsKeys } from './stt-local-ws.ts';
import { readSttRealtimeCompat, sttRealtimeCompatKeys } from './stt-realtime-compat.ts';
import { readTtsCloudA, ttsCloudAKeys, ttsCloudARates } from './tts-cloud-a.ts';
import { readTtsCloudB, ttsCloudBKeys, ttsCloudBRates } from './tts-cloud-b.ts';
import { readTtsCloudC, ttsCloudCKeys, ttsCloudCRates } from './tts-cloud-c.ts';
import { readTable } from '../table.ts';
import type { TableRules } from '../table.ts';
import type { OptionsSite } from './options-site.ts';

/** Where an options table stands; the reader itself finds out which of its keys are wrong. */
export type TableSite = Omit<OptionsSite, 'isWrong'> & { readonly rules: TableRules };

export interface OptionsRow<P extends string, O> {
  readonly provider: P;
  readonly keys: z.ZodObject;
  /** Whether the file must have the table. */
  readonly isRequired: boolean;
  /** Reads the table; reports what is wrong with it and then gives nothing. */
  readonly read: (
    raw: Readonly<Record<string, unknown>>,
    site: TableSite,
  ) => { readonly provider: P; readonly options: O } | undefined;
}

function row<const P extends string, S extends z.ZodObject, O>(
  provider: P,
  keys: S,
  table: { readonly read: OptionsReader<z.output<S>, O>; readonly isRequired?: boolean },
): OptionsRow<P, O> {
  return {
    provider,
    keys,
    isRequired: table.isRequired ?? false,
    read: (raw, site) => {
      const reading = readTable(keys, raw, site);
      const isWrong = (key: string): boolean => Object.hasOwn(raw, key) && !Object.hasOwn(reading.known, key);
      const options = table.read(reading, { ...site, isWrong });
      return options && { provider, options };
    },
  };
}

export const sttOptions = [
  row('stt_local_ws', sttLocalWsKeys, { read: readSttLocalWs }),
  row('stt_cloud_a', sttCloudAKeys, { read: readSttCloudA }),
  row('stt_cloud_b', sttCloudBKeys, { read: readSttCloudB }),
  row('stt_cloud_c', sttCloudCKeys, { read: readSttCloudC }),
  row('stt_realtime_compat', sttRealtimeCompatKeys, { read: readSttRealtimeCompat }),
] as const;

export const llmOptions = [
  row('chat_compatible', chatCompatibleKeys, { read: readChatCompatible, isRequired: true }),
  row('llm_responses', llmResponsesKeys, { read: readLlmResponses }),
  row('llm_messages', llmMessagesKeys, { read: readLlmMessages }),
  row('llm_generate', llmGenerateKeys, { read: readLlmGenerate }),
] as const;

export const ttsOptions = [
  row('speech_compatible', speechCompatibleKeys, { read: readSpeechCompatible, isRequired: true }),
  row('tts_cloud_a', ttsCloudAKeys, { read: readTtsCloudA }),
  row('tts_cloud_b', ttsCloudBKeys, { read: readTtsCloudB }),
  row('tts_cloud_c', ttsCloudCKeys, { read: readTtsCloudC }),
] as const;

interface VoiceRules {
  /** Rates in Hz that the provider delivers and that the service can convert. */
  readonly rates: readonly number[];
  /** True where the service has no voice of its own choice. */
  readonly needsVoice: boolean;
}

/** What a TTS provider asks of the keys of its stage (spec 03, Stage tables). */
export const voiceRules: Readonly<Record<(typeof ttsOptions)[number]['provider'], VoiceRules>> = {
  speech_compatible: { rates: speechCompatibleRates, needsVoice: false },
  tts_cloud_a: { rates: ttsCloudARates, needsVoice: true },
  tts_cloud_b: { rates: ttsCloudBRates, needsVoice: true },
  tts_cloud_c: { rates: ttsCloudCRates, needsVoice: false },
};
