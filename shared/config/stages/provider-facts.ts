/**
 * Who stands behind the names of the configuration, and what choosing between them takes: vendors of providers, servers of
 * presets and dialects. The table in docs/providers.md is written from here.
 */
import type { StageName } from './providers.ts';

export interface ProviderFacts {
  /** The vendor, or the interface where many servers speak it. */
  readonly vendor: string;
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

type FactsOfStage = Readonly<Record<string, ProviderFacts>>;

export const providerFacts: Readonly<Record<StageName, FactsOfStage>> = {
  stt: {
    stt_local_ws: {
      vendor: 'sherpa-onnx',
      runs: 'own machine',
      price: 'free',
      latency: 'low',
      languages: 'that of the model',
      wordTimes: 'no',
    },
    stt_cloud_a: {
      vendor: 'Deepgram',
      runs: 'hosted',
      price: 'low (not verified)',
      latency: 'low (not verified)',
      languages: 'many, by model; `multi` for several at once',
      wordTimes: 'yes',
      keyVariable: 'DEEPGRAM_API_KEY',
    },
    stt_cloud_b: {
      vendor: 'AssemblyAI',
      runs: 'hosted',
      price: 'low (not verified)',
      latency: 'low (not verified)',
      languages: 'by model: English; en es de fr pt it; 99 and more with `whisper-rt`',
      wordTimes: 'yes',
      keyVariable: 'ASSEMBLYAI_API_KEY',
    },
    stt_cloud_c: {
      vendor: 'Gladia',
      runs: 'hosted',
      price: 'middle (not verified)',
      latency: 'middle (ends an utterance by silence)',
      languages: 'about 100, with code switching',
      wordTimes: 'yes',
      keyVariable: 'GLADIA_API_KEY',
    },
    stt_realtime_compat: {
      vendor: 'OpenAI Realtime transcription',
      runs: 'either',
      price: 'middle hosted (not verified), free on your machine',
      latency: 'by server',
      languages: 'by model',
      wordTimes: 'no',
      keyVariable: 'OPENAI_API_KEY',
    },
  },
  llm: {
    chat_compatible: {
      vendor: 'OpenAI-compatible chat completions',
      runs: 'either',
      price: 'by service, free on your machine',
      latency: 'by service and model',
      languages: 'by model',
      wordTimes: 'no',
      keyVariable: 'GROQ_API_KEY, CEREBRAS_API_KEY, TOGETHER_API_KEY, OPENROUTER_API_KEY',
    },
    llm_responses: {
      vendor: 'OpenAI Responses',
      runs: 'hosted',
      price: 'by model (not verified)',
      latency: 'by model and reasoning_effort',
      languages: 'by model',
      wordTimes: 'no',
      keyVariable: 'OPENAI_API_KEY',
    },
    llm_messages: {
      vendor: 'Anthropic Messages',
      runs: 'hosted',
      price: 'by model (not verified)',
      latency: 'by model and thinking',
      languages: 'by model',
      wordTimes: 'no',
      keyVariable: 'ANTHROPIC_API_KEY',
    },
    llm_generate: {
      vendor: 'Google Gemini',
      runs: 'hosted',
      price: 'by model (not verified)',
      latency: 'by model and thinking_level',
      languages: 'by model',
      wordTimes: 'no',
      keyVariable: 'GEMINI_API_KEY',
    },
  },
  tts: {
    speech_compatible: {
      vendor: 'OpenAI-compatible speech',
      runs: 'either',
      price: 'free on your machine',
      latency: 'by server and machine',
      languages: 'by model and voice',
      wordTimes: 'no',
    },
    tts_cloud_a: {
      vendor: 'Cartesia',
      runs: 'hosted',
      price: 'middle (not verified)',
      latency: 'low (not verified)',
      languages: 'by model',
      wordTimes: 'yes',
      keyVariable: 'CARTESIA_API_KEY',
    },
    tts_cloud_b: {
      vendor: 'ElevenLabs',
      runs: 'hosted',
      price: 'high (not verified)',
      latency: 'low with flash models (not verified)',
      languages: 'by model',
      wordTimes: 'yes',
      keyVariable: 'ELEVENLABS_API_KEY',
    },
    tts_cloud_c: {
      vendor: 'Deepgram Aura',
      runs: 'hosted',
      price: 'low (not verified)',
      latency: 'low (not verified)',
      languages: 'that of the voice; `speed` for English and Spanish',
      wordTimes: 'no',
      keyVariable: 'DEEPGRAM_API_KEY',
    },
  },
};

/** Services that speak a common interface, by their hosts. */
const vendorsByHost: Readonly<Record<string, string>> = {
  'api.groq.com': 'Groq',
  'api.cerebras.ai': 'Cerebras',
  'api.together.xyz': 'Together',
  'openrouter.ai': 'OpenRouter',
};

/** `Deepgram`; the name itself for a provider that is not known. */
export const vendorOf = (stage: StageName, provider: string, host = ''): string =>
  vendorsByHost[host] ?? providerFacts[stage][provider]?.vendor ?? provider;
