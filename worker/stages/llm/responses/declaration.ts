/** Options of `llm_responses`, a hosted model behind a responses interface (docs/reference/agent-file.md, OpenAI Responses). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers and what it is asked for when the file does not say: the one place to correct. */
export const serviceAddress = 'https://api.openai.com/v1';
const defaultModel = 'gpt-5.4-mini';
/** A pause to think is silence on the line; only of the default model is it known that it can do without. */
const defaultModelEffort = 'disabled';

const keys = z.strictObject({
  model: modelKey(defaultModel, 256),
  reasoning_effort: z.enum(['disabled', 'low', 'medium', 'high', 'xhigh', 'max']).exactOptional().meta({
    sample: 'low',
    description:
      'How much the model thinks before it answers; absent means disabled for the default model and the choice of any other.',
  }),
  max_output_tokens: z.int().min(1).max(1_000_000).exactOptional().meta({
    sample: 512,
    description: 'Longest answer of one round, thoughts included; absent means the limit of the model.',
  }),
  parallel_tool_calls: z.boolean().exactOptional().meta({
    sample: false,
    description: 'Whether the model may call several tools at once; absent: its own choice.',
  }),
  service_tier: z.string().min(1).max(32).exactOptional().meta({
    sample: 'priority',
    description: 'Class of service that the request is served in; absent means that of the account.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'https://llm.example.com/v1',
    description: 'Address up to and without /responses; https:// unless the host is loopback.',
  }),
});

export type LlmResponsesKeys = z.output<typeof keys>;

export type LlmResponsesOptions = Omit<CamelKeys<LlmResponsesKeys>, 'baseUrl'> & {
  /** `https://host/v1`; the adapter adds `/responses`. */
  readonly baseUrl: string;
};

const read: OptionsReader<LlmResponsesKeys, LlmResponsesOptions> = (reading, site) => {
  const rules = { key: 'base_url', address: serviceAddress, family: 'http', added: ['/responses'] } as const;
  const options = readHosted(reading, rules, site);
  return (
    options && { ...(options.model === defaultModel && { reasoningEffort: defaultModelEffort }), ...options }
  );
};

export const llmResponses = declareProvider({
  name: 'llm_responses',
  aliases: ['openai_responses', 'openai'],
  apiKey: 'required',
  facts: {
    vendor: 'OpenAI Responses',
    runs: 'hosted',
    price: 'by model (not verified)',
    latency: 'by model and reasoning_effort',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'OPENAI_API_KEY',
  },
  keys,
  read,
});
