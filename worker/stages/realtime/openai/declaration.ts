/**
 * Options of `openai_realtime`, servers of one protocol for models that hear and speak (docs/reference/agent-file.md, OpenAI Realtime), and
 * how its dialects differ: the one place to correct.
 */
import * as z from 'zod';
import { camelKeys, withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { readOwnSocket } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader, OptionsSite } from '../../../../shared/config/stages/options-site.ts';
import { lawRate, type Law } from '../../../../shared/audio/law.ts';
import { isLoopbackHost } from '../../../../shared/net/loopback.ts';

export interface Dialect {
  /** Where the service is; absent: the file has to say. */
  readonly baseUrl?: string;
  /** A hosted service: it needs a key. */
  readonly isCloud: boolean;
  /** Name of the model where the file has none; absent: the file has to say. */
  readonly model?: string;
  readonly path: string;
  /** Name of the parameter of the address that names the model. */
  readonly modelParameter: 'model' | 'deployment';
  /** Parameters that the address has beside it. */
  readonly query?: Readonly<Record<string, string>>;
  readonly keyHeader: { readonly name: string; readonly scheme?: string };
  /** `nested`: formats, voice and transcription stand under `audio`, each message names the kind of session. `flat`: the shape before that. */
  readonly shape: 'nested' | 'flat';
  /** Voice and turn detection stand at the top of a session of the nested shape. */
  readonly topLevelVoice?: true;
  /** Hz of the audio that is sent, and of the audio that comes. */
  readonly inputRate: 8_000 | 16_000 | 24_000;
  readonly outputRate: 8_000 | 24_000;
  /** Takes and gives the sound of telephones, G.711. */
  readonly hasG711?: true;
  /** What is sent and what comes is G.711 of this law. Absent: PCM16. */
  readonly inputLaw?: Law;
  readonly outputLaw?: Law;
  /** Model that writes down what the caller says where the file has none; absent: the server chooses. */
  readonly transcriptionModel?: string;
  /** The model has only the words, so that they are written down even where nobody asks for them. */
  readonly hearsByWords?: true;
  /** What was not heard can be cut from an answer. */
  readonly truncates: boolean;
  /** Turns that this service ends instead of the server's voice detection are not known to work well. */
  readonly manualTurnsDoubted?: true;
  /** Labels on an answer come back with it. */
  readonly labels: boolean;
  /** Longest instructions in characters. */
  readonly longestInstructions?: number;
  /** How long a session lasts where the server does not say, in milliseconds. */
  readonly sessionMs?: number;
}

const minute = 60_000;
const bearer = { name: 'authorization', scheme: 'Bearer ' } as const;
const apiKeyHeader = { name: 'api-key' } as const;

const hosted = {
  isCloud: true,
  path: '/v1/realtime',
  modelParameter: 'model',
  keyHeader: bearer,
  shape: 'nested',
  inputRate: 24_000,
  outputRate: 24_000,
  hasG711: true,
  truncates: true,
  labels: true,
  sessionMs: 60 * minute,
} as const;

/** A server on a machine of one's own: a recogniser, a model of text and a voice behind the protocol. */
const own = {
  isCloud: false,
  path: '/v1/realtime',
  modelParameter: 'model',
  keyHeader: bearer,
  inputRate: 24_000,
  outputRate: 24_000,
  hearsByWords: true,
  labels: false,
} as const;

const openai = 'gpt-4o-mini-transcribe';

export const dialects = {
  openai: {
    ...hosted,
    baseUrl: 'wss://api.openai.com',
    model: 'gpt-realtime-2.1',
    transcriptionModel: openai,
  },
  azure: { ...hosted, path: '/openai/v1/realtime', keyHeader: apiKeyHeader, transcriptionModel: openai },
  azure_preview: {
    ...hosted,
    path: '/openai/realtime',
    modelParameter: 'deployment',
    query: { 'api-version': '2024-10-01-preview' },
    keyHeader: apiKeyHeader,
    shape: 'flat',
    transcriptionModel: 'whisper-1',
    labels: false,
  },
  xai: {
    ...hosted,
    baseUrl: 'wss://api.x.ai',
    model: 'grok-voice-latest',
    topLevelVoice: true,
    inputRate: 16_000,
    manualTurnsDoubted: true,
    labels: false,
    longestInstructions: 16_384,
  },
  localai: { ...own, baseUrl: 'ws://127.0.0.1:8080', shape: 'nested', truncates: true },
  speaches: { ...own, baseUrl: 'ws://127.0.0.1:8000', shape: 'flat', truncates: false },
} as const satisfies Readonly<Record<string, Dialect>>;

type DialectName = keyof typeof dialects;

const dialectNames = Object.keys(dialects) as [DialectName, ...DialectName[]];

const keys = z.strictObject({
  dialect: z.enum(dialectNames).default('openai').meta({
    description:
      'Server that speaks the protocol: openai, azure, azure_preview (its older shape) and xai are hosted; localai and speaches run on machines of your own.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'wss://my-resource.openai.azure.com',
    description:
      'Address of the server, ws://host[:port] or wss://host[:port], without a path; absent means that of the dialect. Required for azure and azure_preview.',
  }),
  path_and_query: z
    .string()
    .max(1024)
    .regex(/^\/(?!\/)[^\s#]*$/, 'must start with one / and hold neither spaces nor #')
    .exactOptional()
    .meta({
      sample: '/v1/realtime?model=my-model',
      description: 'Path and query of the WebSocket on that server; absent means those of the dialect.',
    }),
  model: z.string().min(1).max(256).exactOptional().meta({
    sample: 'gpt-realtime-2.1',
    description:
      'Name of the model as the server knows it, for azure of the deployment; absent means gpt-realtime-2.1, for xai grok-voice-latest. Required for the others.',
  }),
  audio_format: z.enum(['pcm', 'pcmu', 'pcma']).exactOptional().meta({
    sample: 'pcm',
    description:
      'Sound on the way to the server and back: pcm, pcmu or pcma (G.711 mu-law and A-law, 8 kHz; hosted dialects take them). Absent means that of a telephone call as it is, and pcm for all others; at an address of your own pcm.',
  }),
  speed: z.number().min(0.25).max(1.5).exactOptional().meta({
    sample: 1.1,
    description: 'Pace of the voice; absent means its own pace.',
  }),
  reasoning_effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).exactOptional().meta({
    sample: 'low',
    description: 'How long the model thinks before it speaks; only gpt-realtime-2 and later models take it.',
  }),
  transcription_model: z.string().min(1).max(256).exactOptional().meta({
    sample: 'gpt-4o-transcribe',
    description:
      'Model that writes down what the caller says where realtime.words is "vendor"; absent means gpt-4o-mini-transcribe, for azure_preview whisper-1, else the choice of the server.',
  }),
  max_output_tokens: z.int().min(1).max(4096).exactOptional().meta({
    sample: 2048,
    description: 'Longest answer, calls of tools included; absent means the limit of the model.',
  }),
});

export type RealtimeOpenAiKeys = z.output<typeof keys>;

export type RealtimeOpenAiOptions = Omit<
  CamelKeys<RealtimeOpenAiKeys>,
  'dialect' | 'baseUrl' | 'model' | 'audioFormat'
> & {
  readonly dialect: Dialect;
  /** Calls by telephone have the sound of their line. */
  readonly followsLine?: true;
  readonly baseUrl: string;
  readonly model: string;
};

const lawOf = { pcm: undefined, pcmu: 'mulaw', pcma: 'alaw' } as const;
const inputOf = (law: Law) => ({ inputRate: lawRate, inputLaw: law }) as const;
const outputOf = (law: Law) => ({ outputRate: lawRate, outputLaw: law }) as const;

/**
 * The dialect of one session. The caller of a telephone call is heard as the line has it. So is the model, unless calls take voices at another
 * rate, to which they are resampled anyhow.
 */
export function dialectOf(
  {
    dialect,
    followsLine,
    sampleRate,
  }: Pick<RealtimeOpenAiOptions, 'dialect' | 'followsLine'> & { readonly sampleRate?: number },
  law: Law | undefined,
): Dialect {
  if (law === undefined || followsLine !== true) return dialect;
  return { ...dialect, ...inputOf(law), ...(sampleRate === lawRate && outputOf(law)) };
}

/** Models that refuse a session with a reasoning effort, all else in it included. Deployments have names of their own. */
const withoutReasoning = /^gpt-(4o.*|realtime(-mini|-1([.]\d+)?)?(-\d{4}-\d{2}-\d{2})?)$/;

function checkEffort(keys: Partial<RealtimeOpenAiKeys>, model: string, site: OptionsSite): boolean {
  if (keys.reasoning_effort === undefined || !withoutReasoning.test(model)) return true;
  site.problems.error([...site.at, 'reasoning_effort'], 'is for gpt-realtime-2 and later models alone');
  return false;
}

const read: OptionsReader<RealtimeOpenAiKeys, RealtimeOpenAiOptions> = ({ value, known }, site) => {
  const name = known.dialect;
  if (name === undefined) return undefined;
  const dialect: Dialect = dialects[name];
  const address = known.base_url ?? dialect.baseUrl;
  const model = known.model ?? dialect.model;
  const { problems } = site;
  if (address === undefined && !site.isWrong('base_url'))
    problems.missing([...site.at, 'base_url'], `is required for ${name}`);
  if (model === undefined && !site.isWrong('model'))
    problems.missing([...site.at, 'model'], `is required for ${name}`);
  const baseUrl = address === undefined ? undefined : readOwnSocket(address, site, 'path_and_query');
  // A server on this machine that stands in for a service needs no key of it.
  const isKeyMissing =
    dialect.isCloud && !site.hasKey && !(baseUrl !== undefined && isLoopbackHost(new URL(baseUrl).hostname));
  if (isKeyMissing) problems.missing([...site.stageAt, 'api_key_env'], `is required for ${name}`);
  if (dialect.manualTurnsDoubted)
    problems.warning(
      [...site.at, 'dialect'],
      `names ${name}, where turns that this service ends are not known to work well: try it before callers do`,
    );
  const law = lawOf[known.audio_format ?? 'pcm'];
  if (law !== undefined && dialect.hasG711 !== true) {
    problems.error([...site.at, 'audio_format'], `must be absent or pcm for ${name}`);
    return undefined;
  }
  if (value === undefined || model === undefined || baseUrl === undefined) return undefined;
  // A server that stands in for a service may not take what that does.
  const isVendors = known.base_url === undefined || dialect.baseUrl === undefined;
  const followsLine = known.audio_format === undefined && dialect.hasG711 === true && isVendors;
  if (!checkEffort(value, model, site) || isKeyMissing) return undefined;
  return {
    ...camelKeys(withoutKeys(value, ['audio_format', 'base_url', 'dialect', 'model'])),
    dialect: law === undefined ? dialect : { ...dialect, ...inputOf(law), ...outputOf(law) },
    ...(followsLine && { followsLine }),
    baseUrl,
    model,
  };
};

export const realtimeOpenAi = declareProvider({
  name: 'openai_realtime',
  aliases: [],
  apiKey: 'by-options',
  writesUnasked: true,
  facts: {
    vendor: 'OpenAI Realtime',
    vendorsByHost: { 'api.x.ai': 'xAI' },
    runs: 'either',
    price: 'high (not verified), free on your machine',
    latency: 'low (not verified)',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'OPENAI_API_KEY',
  },
  keys,
  read,
});
