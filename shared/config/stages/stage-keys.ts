/**
 * The keys that the stage tables and their secondaries have whatever the provider is (docs/reference/agent-file.md, `[stt]`, `[llm]`, `[tts]`, `[realtime]`).
 * Options of a provider are declared in its own file.
 */
import * as z from 'zod';
import { providerNames } from './providers.ts';
import type { StageName } from './declaration.ts';

export const languageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as "en" or "en-US"');

/** Capital letters alone, so that a key pasted here by mistake is refused instead of shown as a name. */
const variableName = z
  .string()
  .max(128)
  .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable: capital letters, digits and _');

const apiKeyEnv = variableName.exactOptional().meta({
  sample: 'PROVIDER_API_KEY',
  description:
    'Name of the environment variable that holds the key. The key itself never stands in this file.',
});

const providerOf = (stage: StageName): z.ZodString =>
  z.string().meta({ description: 'Which provider serves this stage.', enum: providerNames(stage) });

const secondaryOf = (stage: StageName): z.ZodString =>
  z.string().meta({
    description: 'Provider that calls go on with when that of the stage fails; its options table as above.',
    enum: providerNames(stage),
  });

const stageLanguage = languageTag.exactOptional().meta({
  sample: 'en-US',
  description: 'Language for this provider; absent means agent.language.',
});

const sttLanguage = z
  .string()
  .max(35)
  .regex(/^(multi|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$/, 'must be a language tag such as "en" or "en-US"')
  .exactOptional()
  .meta({
    sample: 'en-US',
    description:
      'Language for this provider; absent means agent.language. "multi" for several at once, where the provider has it.',
  });

const voice = z.string().min(1).max(256);

export const sttKeys = z.strictObject({
  provider: providerOf('stt').meta({ examples: ['stt_local_ws'] }),
  api_key_env: apiKeyEnv,
  language: sttLanguage,
});

export const llmKeys = z.strictObject({
  provider: providerOf('llm').meta({ examples: ['chat_compatible'] }),
  api_key_env: apiKeyEnv,
  max_tool_rounds: z.int().min(1).max(32).default(6).meta({
    description: 'Rounds of tool calls within one answer.',
    unit: 'rounds',
  }),
  context_window_tokens: z.int().min(256).max(2_000_000).default(4000).meta({
    description:
      'How much of the conversation is sent to the model. At most 256 KiB of it are kept, about 70,000 tokens.',
  }),
});

/** What holds where an agent has no such stage. */
export const llmDefaults = {
  maxToolRounds: llmKeys.shape.max_tool_rounds.parse(undefined),
  contextWindowTokens: llmKeys.shape.context_window_tokens.parse(undefined),
};

/** An LLM that is not that of calls. */
export const llmOfItsOwnKeys = llmKeys.pick({ provider: true, api_key_env: true }).extend({
  provider: providerOf('llm').meta({
    examples: ['chat_compatible'],
    description: 'An LLM of its own; its options table as in [llm]. Absent: that of the agent.',
  }),
});

export const ttsKeys = z.strictObject({
  provider: providerOf('tts').meta({ examples: ['speech_compatible'] }),
  api_key_env: apiKeyEnv,
  voice: voice.exactOptional().meta({
    description:
      'Voice as the provider names it, for tts_cloud_c the model; required for tts_cloud_a and tts_cloud_b, else absent means the choice of the provider.',
    examples: ['af_heart'],
  }),
  sample_rate: z.int().min(8000).max(48_000).default(24_000).meta({
    description:
      'Rate the provider delivers, one that it knows; for speech_compatible exactly 24000. Resampled to the call.',
    unit: 'Hz',
  }),
  language: stageLanguage,
});

export const ttsDefaults = { sampleRate: ttsKeys.shape.sample_rate.parse(undefined) };

export const realtimeKeys = z.strictObject({
  provider: providerOf('realtime').meta({ examples: ['openai_realtime'] }),
  api_key_env: apiKeyEnv,
  voice: voice.exactOptional().meta({
    sample: 'marin',
    description: 'Voice as the provider names it; absent means the choice of the provider.',
  }),
  output: z.enum(['audio', 'text']).default('audio').meta({
    description: 'audio: the model speaks. text: it writes, and the voice of [tts] speaks.',
  }),
  words: z.enum(['own', 'vendor']).exactOptional().meta({
    sample: 'vendor',
    description:
      "Who writes down what the caller says: own is [stt], beside the model; vendor is the provider's transcription, and [stt] hears only what is said over the agent. Absent: own where [stt] is there.",
  }),
});

export const sttSecondaryKeys = z.strictObject({ provider: secondaryOf('stt'), api_key_env: apiKeyEnv });

const hedgeAfterMs = (what: string, defaultMs: number): z.ZodDefault<z.ZodInt> =>
  z
    .int()
    .min(50)
    .max(10_000)
    .default(defaultMs)
    .meta({
      description: `When the provider of the stage has not begun to ${what} after this long, this one is asked as well, and the first wins.`,
    });

export const llmSecondaryKeys = z.strictObject({
  provider: secondaryOf('llm'),
  api_key_env: apiKeyEnv,
  hedge_after_ms: hedgeAfterMs('answer', 3_000),
});

export const ttsSecondaryKeys = z.strictObject({
  provider: secondaryOf('tts'),
  api_key_env: apiKeyEnv,
  voice: voice.meta({ description: 'Voice as this provider names it.' }),
  hedge_after_ms: hedgeAfterMs('speak', 1_500),
});
