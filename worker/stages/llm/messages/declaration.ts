/** Options of `llm_messages`, a hosted model behind a messages interface (docs/reference/agent-file.md, Anthropic Messages). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers and what it is asked for when the file does not say: the one place to correct. */
export const serviceAddress = 'https://api.anthropic.com';
const defaultModel = 'claude-haiku-5-5';

type Thinking = 'disabled' | 'adaptive' | 'between_tools' | 'model_default';

const keys = z.strictObject({
  model: modelKey(defaultModel, 256),
  max_tokens: z.int().min(1).max(1_000_000).default(1024).meta({
    description: 'Longest answer of one round, thoughts included.',
    unit: 'tokens',
  }),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).exactOptional().meta({
    sample: 'low',
    description:
      'How much the model does for an answer; xhigh and max need thinking. Absent: its own choice.',
  }),
  thinking: z.enum(['disabled', 'adaptive', 'between_tools', 'model_default']).exactOptional().meta({
    sample: 'disabled',
    description:
      'When the model thinks before it speaks; absent means disabled for the default model without effort xhigh or max, else model_default.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'https://llm.example.com',
    description: 'Address without /v1/messages; https:// unless the host is loopback.',
  }),
});

export type LlmMessagesKeys = z.output<typeof keys>;

export type LlmMessagesOptions = Omit<CamelKeys<LlmMessagesKeys>, 'baseUrl' | 'thinking'> & {
  readonly thinking: Thinking;
  /** `https://host[/prefix]`; the adapter adds `/v1/messages`. */
  readonly baseUrl: string;
};

/** Effort that only a thinking model can make. */
const needsThinking = (effort: LlmMessagesKeys['effort']): boolean => effort === 'xhigh' || effort === 'max';

/** A pause to think is silence on the line; only of the default model is it known that it can do without. */
function defaultThinking({ model, effort }: LlmMessagesKeys): Thinking {
  return model === defaultModel && !needsThinking(effort) ? 'disabled' : 'model_default';
}

const read: OptionsReader<LlmMessagesKeys, LlmMessagesOptions> = (reading, site) => {
  const { known, value } = reading;
  const isThoughtless = known.thinking === 'disabled' || known.thinking === 'between_tools';
  const isRefused = isThoughtless && needsThinking(known.effort);
  if (isRefused) {
    site.problems.error(
      [...site.at, 'effort'],
      'must be high or lower while thinking is disabled or between_tools',
    );
  }
  const rules = {
    key: 'base_url',
    address: serviceAddress,
    family: 'http',
    added: ['/v1/messages', '/v1'],
  } as const;
  const options = readHosted(reading, rules, site);
  if (value === undefined || options === undefined || isRefused) return undefined;
  return { ...options, thinking: known.thinking ?? defaultThinking(value) };
};

export const llmMessages = declareProvider({
  name: 'llm_messages',
  aliases: ['anthropic'],
  apiKey: 'required',
  facts: {
    vendor: 'Anthropic Messages',
    runs: 'hosted',
    price: 'by model (not verified)',
    latency: 'by model and thinking',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  keys,
  read,
});
