/** Options of `llm_generate`, a hosted model behind a content generation interface (docs/reference/agent-file.md, Google Gemini). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers and what it is asked for when the file does not say: the one place to correct. */
const serviceAddress = 'https://generativelanguage.googleapis.com';
const defaultModel = 'gemini-3-flash';
/** A pause to think is silence on the line; only of the default model is it known which levels it takes. */
const defaultModelLevel = 'minimal';

const keys = z.strictObject({
  model: z
    .string()
    .max(256)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be letters, digits, ., _ and -')
    .default(defaultModel)
    .meta({ description: 'Name of the model as the service knows it.' }),
  thinking_level: z.enum(['minimal', 'low', 'medium', 'high']).exactOptional().meta({
    sample: 'low',
    description:
      'How much the model thinks before it answers; absent means minimal for the default model and the choice of any other.',
  }),
  max_output_tokens: z.int().min(1).max(1_000_000).exactOptional().meta({
    sample: 512,
    description: 'Longest answer of one round, thoughts included; absent means the limit of the model.',
  }),
  temperature: z.number().min(0).max(2).exactOptional().meta({
    sample: 0.7,
    description: 'How freely the model chooses words; absent: its own choice.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'https://llm.example.com',
    description: 'Address without /v1beta; https:// unless the host is loopback.',
  }),
});

export type LlmGenerateKeys = z.output<typeof keys>;

export type LlmGenerateOptions = Omit<CamelKeys<LlmGenerateKeys>, 'baseUrl'> & {
  /** `https://host[/prefix]`; the adapter adds `/v1beta/models/...`. */
  readonly baseUrl: string;
};

const read: OptionsReader<LlmGenerateKeys, LlmGenerateOptions> = (reading, site) => {
  const rules = { key: 'base_url', address: serviceAddress, family: 'http', added: ['/v1beta'] } as const;
  const options = readHosted(reading, rules, site);
  return (
    options && { ...(options.model === defaultModel && { thinkingLevel: defaultModelLevel }), ...options }
  );
};

export const llmGenerate = declareProvider({
  name: 'llm_generate',
  aliases: ['gemini'],
  apiKey: 'required',
  facts: {
    vendor: 'Google Gemini',
    runs: 'hosted',
    price: 'by model (not verified)',
    latency: 'by model and thinking_level',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'GEMINI_API_KEY',
  },
  keys,
  read,
});
