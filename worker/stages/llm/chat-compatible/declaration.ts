/** Options of `chat_compatible`, any server with the chat completions interface (docs/reference/agent-file.md, OpenAI-compatible chat completions). */
import * as z from 'zod';
import { camelKeys, withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { canonicalName, namesIn } from '../../../../shared/config/stages/aliases.ts';
import type { Endpoint } from '../../../../shared/config/stages/endpoint.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { readAddress, shownKey } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader, OptionsSite } from '../../../../shared/config/stages/options-site.ts';

/** Presets by the names of their services and servers. */
const presetAliases = {
  groq: 'hosted_1',
  cerebras: 'hosted_2',
  together: 'hosted_3',
  vllm: 'local_server',
  ollama: 'local_runner',
  openrouter: 'router',
} as const;

interface ChatPreset {
  readonly baseUrl: string;
  /** Without it the file must name the model. */
  readonly model?: string;
  readonly isHosted: boolean;
}

/** What a preset stands for: the one place to correct when a service moves. */
const chatPresets = {
  hosted_1: { baseUrl: 'https://api.groq.com/openai/v1', model: 'openai/gpt-oss-120b', isHosted: true },
  hosted_2: { baseUrl: 'https://api.cerebras.ai/v1', model: 'gpt-oss-120b', isHosted: true },
  hosted_3: { baseUrl: 'https://api.together.xyz/v1', model: 'openai/gpt-oss-120b', isHosted: true },
  local_server: { baseUrl: 'http://127.0.0.1:8000/v1', isHosted: false },
  local_runner: { baseUrl: 'http://127.0.0.1:11434/v1', isHosted: false },
  router: { baseUrl: 'https://openrouter.ai/api/v1', isHosted: true },
} as const satisfies Readonly<Record<string, ChatPreset>>;

/** Host of the preset `router`; the router keys go to it and its subdomains alone. */
const routerHost = 'openrouter.ai';

const keys = z.strictObject({
  preset: z
    .enum([
      ...namesIn(presetAliases),
      ...(['hosted_1', 'hosted_2', 'hosted_3', 'local_server', 'local_runner', 'router'] as const),
    ])
    .exactOptional()
    .meta({
      sample: 'ollama',
      description:
        'A known service or local server; gives the address and, for hosted ones, a model. Instead of base_url. The other names mean the same in this order.',
    }),
  base_url: z
    .string()
    .exactOptional()
    .meta({
      description:
        'Address of the server up to and without /chat/completions; https:// unless the host is loopback.',
      examples: ['http://127.0.0.1:11434/v1'],
    }),
  model: z
    .string()
    .min(1)
    .max(256)
    .exactOptional()
    .meta({
      description:
        'Name of the model as the server knows it; required with base_url and with the presets vllm, ollama and openrouter.',
      examples: ['llama3.2'],
    }),
  max_tokens: z.int().min(1).max(1_000_000).exactOptional().meta({
    sample: 512,
    description: 'Longest answer of one round; absent means the limit of the server.',
    unit: 'tokens',
  }),
  temperature: z.number().min(0).max(2).exactOptional().meta({
    sample: 0.7,
    description: 'How freely the model chooses words; absent means the choice of the server.',
  }),
  reasoning_effort: z.string().min(1).max(32).exactOptional().meta({
    sample: 'low',
    description: 'Sent as the request field of that name; which values are good depends on the server.',
  }),
  router_order: z
    .array(z.string().min(1).max(128))
    .min(1)
    .max(32)
    .exactOptional()
    .meta({
      sample: ['groq', 'cerebras'],
      description: 'Providers behind OpenRouter, in the order to try; only with it.',
    }),
  router_allow_fallbacks: z.boolean().exactOptional().meta({
    sample: false,
    description: 'false: served by a listed provider or refused; only with OpenRouter.',
  }),
});

type ChatKeys = z.output<typeof keys>;

export type ChatCompatibleOptions = Omit<CamelKeys<ChatKeys>, 'preset' | 'baseUrl' | 'model'> & {
  readonly baseUrl: string;
  readonly model: string;
};

function checkRouterKeys(keys: Partial<ChatKeys>, host: string, site: OptionsSite): void {
  if (host === routerHost || host.endsWith(`.${routerHost}`)) return;
  for (const name of ['router_order', 'router_allow_fallbacks'] as const) {
    if (keys[name] !== undefined) {
      site.problems.keyError(
        [...site.at, name],
        'is valid only with preset "openrouter" or with a base_url of OpenRouter',
      );
    }
  }
}

function chooseEndpoint(
  keys: Partial<ChatKeys>,
  preset: ChatPreset | undefined,
  site: OptionsSite,
): Endpoint | undefined {
  const address = preset?.baseUrl ?? keys.base_url;
  if (address === undefined) {
    site.problems.missing([...site.at, 'base_url'], 'or preset is required');
    return undefined;
  }
  return readAddress('base_url', address, { family: 'http', path: 'allowed', plain: 'loopback', site });
}

/** Applies the rules between keys; `isWrong` names the keys that failed on their own and need no second message. */
function resolve(
  keys: Partial<ChatKeys>,
  site: OptionsSite,
): { readonly baseUrl?: string; readonly model?: string } {
  const { at, problems } = site;
  const preset: ChatPreset | undefined =
    keys.preset === undefined ? undefined : chatPresets[canonicalName(presetAliases, keys.preset)];
  if (keys.preset !== undefined && keys.base_url !== undefined) {
    problems.keyError([...at, 'base_url'], 'and preset exclude each other; keep one of them');
  }
  if (site.isWrong('preset') || site.isWrong('base_url')) return {};
  const endpoint = chooseEndpoint(keys, preset, site);
  if (endpoint !== undefined) checkRouterKeys(keys, endpoint.host, site);
  const model = keys.model ?? preset?.model;
  if (model === undefined && !site.isWrong('model')) {
    problems.missing(
      [...at, 'model'],
      keys.preset === undefined ? 'is required with base_url' : 'is required with this preset',
    );
  }
  if (preset?.isHosted === true && !site.hasKey) {
    problems.warning(
      [...at, 'preset'],
      `names a hosted service, which usually needs ${shownKey(site.stageAt)}`,
    );
  }
  return { ...(endpoint && { baseUrl: endpoint.text }), ...(model !== undefined && { model }) };
}

const read: OptionsReader<ChatKeys, ChatCompatibleOptions> = ({ value, known }, site) => {
  const { baseUrl, model } = resolve(known, site);
  if (value === undefined || baseUrl === undefined || model === undefined) return undefined;
  return { ...camelKeys(withoutKeys(value, ['preset'])), baseUrl, model };
};

export const chatCompatible = declareProvider({
  name: 'chat_compatible',
  aliases: ['openai_compatible'],
  apiKey: 'optional',
  facts: {
    vendor: 'OpenAI-compatible chat completions',
    vendorsByHost: {
      'api.groq.com': 'Groq',
      'api.cerebras.ai': 'Cerebras',
      'api.together.xyz': 'Together',
      'openrouter.ai': 'OpenRouter',
    },
    servers: { key: 'preset', names: presetAliases },
    runs: 'either',
    price: 'by service, free on your machine',
    latency: 'by service and model',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'GROQ_API_KEY, CEREBRAS_API_KEY, TOGETHER_API_KEY, OPENROUTER_API_KEY',
  },
  keys,
  isTableRequired: true,
  read,
});
