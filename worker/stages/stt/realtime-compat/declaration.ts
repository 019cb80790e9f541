/** Options of `stt_realtime_compat`, servers of one realtime transcription interface (docs/reference/agent-file.md, OpenAI Realtime transcription). */
import * as z from 'zod';
import { SAMPLE_RATES } from '../../../../shared/base/units.ts';
import { camelKeys, withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { canonicalName, namesIn } from '../../../../shared/config/stages/aliases.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { readOwnSocket } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader, OptionsSite } from '../../../../shared/config/stages/options-site.ts';

/** Dialects by the names of their servers. */
const dialectAliases = {
  openai: 'dialect_a',
  nim: 'dialect_b',
  vllm: 'dialect_c',
  speaches: 'dialect_d',
} as const;

type Rate = (typeof SAMPLE_RATES)[number];

/** Whose way of speaking the interface a dialect is. */
export type RealtimeWire = 'openai' | 'nim' | 'vllm' | 'speaches';

interface Dialect {
  readonly wire: RealtimeWire;
  readonly baseUrl: string;
  /** True for the hosted service: it needs a key. */
  readonly isCloud: boolean;
  readonly model: 'required' | 'chosen-by-server' | { readonly name: string };
  /** Hz. */
  readonly sampleRate: Rate;
  readonly punctuation: boolean;
  readonly deltaReplaces: boolean;
  /** Shorter audio is refused by the server. */
  readonly minCommitMs: number;
}

/**
 * What a dialect stands for: the one place to correct. Which server hides behind which letter is a guess but for
 * `dialect_a`; the adapter goes by `wire`, so that swapping two rows here is all that a correction takes.
 */
const dialects = {
  dialect_a: {
    wire: 'openai',
    baseUrl: 'wss://api.openai.com',
    isCloud: true,
    model: { name: 'gpt-4o-transcribe' },
    sampleRate: 24_000,
    punctuation: false,
    deltaReplaces: false,
    minCommitMs: 100,
  },
  dialect_b: {
    wire: 'nim',
    baseUrl: 'ws://127.0.0.1:9000',
    isCloud: false,
    model: 'chosen-by-server',
    sampleRate: 16_000,
    punctuation: true,
    deltaReplaces: true,
    minCommitMs: 0,
  },
  dialect_c: {
    wire: 'vllm',
    baseUrl: 'ws://127.0.0.1:8000',
    isCloud: false,
    model: 'required',
    sampleRate: 16_000,
    punctuation: false,
    deltaReplaces: false,
    minCommitMs: 0,
  },
  dialect_d: {
    wire: 'speaches',
    baseUrl: 'ws://127.0.0.1:8000',
    isCloud: false,
    model: 'required',
    sampleRate: 24_000,
    punctuation: false,
    deltaReplaces: false,
    minCommitMs: 100,
  },
} as const satisfies Readonly<Record<string, Dialect>>;

const longestPromptBytes = 4096;

const keys = z.strictObject({
  dialect: z
    .enum([...namesIn(dialectAliases), ...(['dialect_a', 'dialect_b', 'dialect_c', 'dialect_d'] as const)])
    .default('openai')
    .meta({
      description:
        'Server that speaks the interface: openai is the hosted service, NVIDIA NIM, vLLM and Speaches are local. dialect_a to dialect_d mean the same in this order.',
    }),
  base_url: z.string().exactOptional().meta({
    sample: 'ws://127.0.0.1:9000',
    description:
      'Address of the server, ws://host[:port] or wss://host[:port], without a path; absent means that of the dialect.',
  }),
  path_and_query: z
    .string()
    .max(1024)
    .regex(/^\/(?!\/)[^\s#]*$/, 'must start with one / and hold neither spaces nor #')
    .exactOptional()
    .meta({
      sample: '/v1/realtime',
      description: 'Path and query of the WebSocket on that server; absent means that of the dialect.',
    }),
  model: z.string().min(1).max(256).exactOptional().meta({
    sample: 'large-v3',
    description: 'Name of the model as the server knows it; required for vllm and speaches.',
  }),
  prompt: z
    .string()
    .refine((text) => new TextEncoder().encode(text).length <= longestPromptBytes, {
      error: `must be at most ${longestPromptBytes} bytes long`,
    })
    .exactOptional()
    .meta({
      sample: 'Acme, Zeynep',
      description: 'Words that help the recogniser, at most 4096 bytes; not for every dialect.',
    }),
  punctuation: z.boolean().exactOptional().meta({
    sample: true,
    description: 'Whether the server adds punctuation; default true for nim, which alone obeys it.',
  }),
  delta_replaces: z.boolean().exactOptional().meta({
    sample: false,
    description:
      'Whether a partial result holds the whole text so far instead of what is new; absent means the way of the dialect.',
  }),
  min_commit_ms: z.int().min(0).max(2000).exactOptional().meta({
    sample: 100,
    description: 'Least audio that the server takes as an utterance; absent means that of the dialect.',
  }),
  finalize_timeout_ms: z.int().min(100).max(10_000).default(2000).meta({
    description: 'Longest wait for the last words after the end of a turn.',
  }),
  sample_rate: z
    .literal([...SAMPLE_RATES])
    .exactOptional()
    .meta({
      sample: 16_000,
      description: 'Rate of the audio sent; absent means that of the dialect.',
      unit: 'Hz',
    }),
});

export type SttRealtimeCompatKeys = z.output<typeof keys>;
type Camel = CamelKeys<SttRealtimeCompatKeys>;
type Filled = 'dialect' | 'baseUrl' | 'punctuation' | 'deltaReplaces' | 'minCommitMs' | 'sampleRate';

export type SttRealtimeCompatOptions = Omit<Camel, Filled> & {
  readonly dialect: keyof typeof dialects;
  readonly wire: RealtimeWire;
  /** `ws://host[:port]` or `wss://`; the adapter adds `pathAndQuery` or the path of the dialect. */
  readonly baseUrl: string;
  readonly punctuation: boolean;
  readonly deltaReplaces: boolean;
  readonly minCommitMs: number;
  /** Hz of the audio sent. */
  readonly sampleRate: Rate;
};

const dialectOf = (name: SttRealtimeCompatKeys['dialect']): keyof typeof dialects =>
  canonicalName(dialectAliases, name);

function readBase(keys: Partial<SttRealtimeCompatKeys>, site: OptionsSite): string | undefined {
  const address = keys.base_url ?? (keys.dialect && dialects[dialectOf(keys.dialect)].baseUrl);
  return address === undefined ? undefined : readOwnSocket(address, site, 'path_and_query');
}

const read: OptionsReader<SttRealtimeCompatKeys, SttRealtimeCompatOptions> = ({ value, known }, site) => {
  const baseUrl = readBase(known, site);
  const dialect: Dialect | undefined =
    known.dialect === undefined ? undefined : dialects[dialectOf(known.dialect)];
  if (dialect === undefined) return undefined;
  const isKeyMissing = dialect.isCloud && !site.hasKey;
  if (isKeyMissing) {
    site.problems.missing([...site.stageAt, 'api_key_env'], `is required for ${known.dialect ?? ''}`);
  }
  const isModelMissing = dialect.model === 'required' && known.model === undefined && !site.isWrong('model');
  if (isModelMissing) {
    site.problems.missing([...site.at, 'model'], `is required for ${known.dialect ?? ''}`);
  }
  if (value === undefined || baseUrl === undefined || isKeyMissing || isModelMissing) return undefined;
  const model = typeof dialect.model === 'string' ? {} : { model: dialect.model.name };
  const { wire, sampleRate, punctuation, deltaReplaces, minCommitMs } = dialect;
  const ofDialect = { wire, sampleRate, punctuation, deltaReplaces, minCommitMs };
  const named = camelKeys(withoutKeys(value, ['base_url', 'dialect']));
  return { ...ofDialect, ...model, ...named, dialect: dialectOf(value.dialect), baseUrl };
};

export const sttRealtimeCompat = declareProvider({
  name: 'stt_realtime_compat',
  aliases: ['openai_realtime'],
  apiKey: 'by-options',
  facts: {
    vendor: 'OpenAI Realtime transcription',
    servers: { key: 'dialect', names: dialectAliases },
    runs: 'either',
    price: 'middle hosted (not verified), free on your machine',
    latency: 'by server',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'OPENAI_API_KEY',
  },
  keys,
  read,
});
