/** Options of `gemini_live`, Google's models that hear and speak (docs/reference/agent-file.md, Gemini Live), and how models differ: the one place to correct. */
import * as z from 'zod';
import { camelKeys, withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import {
  readAddress,
  type OptionsReader,
  type OptionsSite,
} from '../../../../shared/config/stages/options-site.ts';

const serviceAddress = 'wss://generativelanguage.googleapis.com';
const geminiPath = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const vertexPath = '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent';
const name = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const nameRule = 'must be letters, digits, ., _ and -';

const keys = z.strictObject({
  model: z
    .string()
    .max(256)
    .regex(name, nameRule)
    .default('gemini-3.8-live')
    .meta({ description: 'Name of the model as the service knows it, without a path.' }),
  thinking_level: z.enum(['minimal', 'low', 'medium', 'high']).exactOptional().meta({
    sample: 'low',
    description:
      'How much the model thinks before it speaks. Absent means its own choice; gemini-3.8-live takes none, its extended-thinking no minimal.',
  }),
  temperature: z.number().min(0).max(2).exactOptional().meta({
    sample: 0.7,
    description: 'How freely the model chooses words; absent: its own choice.',
  }),
  max_output_tokens: z.int().min(1).max(65_536).exactOptional().meta({
    sample: 1024,
    description: 'Longest answer, its sound included; absent means the limit of the model.',
  }),
  context_tokens: z.int().min(5_000).max(1_000_000).exactOptional().meta({
    sample: 32_000,
    description:
      'From so many tokens on, the service forgets the older half of the conversation. Each answer is charged with all that it remembers. Absent means 80 % of what the model can hold.',
  }),
  project: z.string().max(128).regex(name, nameRule).exactOptional().meta({
    sample: 'my-project',
    description:
      'Project of Google Cloud: the call then goes to Vertex AI, and the variable of api_key_env holds an access token of OAuth instead of a key.',
  }),
  location: z.string().max(64).regex(name, nameRule).exactOptional().meta({
    sample: 'europe-west4',
    description: 'Location of Vertex AI, or global; required with project.',
  }),
  seeding: z.enum(['history', 'content']).exactOptional().meta({
    sample: 'content',
    description:
      'How a new session learns what was said before: history as models from Gemini 3 on take it, content as older ones and Vertex AI do. Absent means by the name of the model.',
  }),
  context_update: z.boolean().exactOptional().meta({
    sample: false,
    description:
      'Whether the model takes new instructions and tools within a session. Otherwise another session is opened for them. Absent means by the name of the model.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'wss://gemini.example.com',
    description: 'Address without the path of the service; wss:// unless the host is loopback.',
  }),
});

export type GeminiLiveKeys = z.output<typeof keys>;

export interface Vertex {
  readonly project: string;
  readonly location: string;
}

export type GeminiLiveOptions = Omit<
  CamelKeys<GeminiLiveKeys>,
  'baseUrl' | 'project' | 'location' | 'seeding' | 'contextUpdate'
> & {
  /** `wss://host[/prefix]`; the adapter adds the path of the service. */
  readonly baseUrl: string;
  readonly path: string;
  readonly vertex?: Vertex;
  readonly seeding: 'history' | 'content';
  readonly contextUpdate: boolean;
  /** What is asked of tools; absent for models that know no such thing, all of which wait for results. */
  readonly behavior?: 'BLOCKING' | 'NON_BLOCKING';
  /** The language of transcripts can be said. */
  readonly takesLanguage: boolean;
};

type Traits = Pick<GeminiLiveOptions, 'seeding' | 'contextUpdate' | 'behavior' | 'takesLanguage'>;

/** Models come out by their numbers; a name without one is taken for a new model. */
function traitsOf(model: string, isVertex: boolean): Traits {
  const [, major = '99', minor = '0'] = /^gemini-(?:live-)?(\d{1,2})(?:\.(\d{1,2}))?/.exec(model) ?? [];
  const version = Number(major) * 100 + Number(minor);
  const isNewest = version >= 308 && !isVertex;
  return {
    seeding: version < 300 || isVertex ? 'content' : 'history',
    contextUpdate: isNewest,
    takesLanguage: isNewest,
    ...(isNewest && { behavior: model.includes('extended-thinking') ? 'NON_BLOCKING' : 'BLOCKING' }),
  };
}

function vertexOf({ project, location }: Partial<GeminiLiveKeys>, site: OptionsSite): Vertex | undefined {
  if (project !== undefined && location !== undefined) return { project, location };
  const [missing, because] = project === undefined ? ['project', 'location'] : ['location', 'project'];
  const isOne = project !== undefined || location !== undefined;
  if (isOne && !site.isWrong(missing))
    site.problems.missing([...site.at, missing], `is required with ${because}`);
  return undefined;
}

const addressOf = (vertex: Vertex | undefined): string => {
  if (vertex === undefined) return serviceAddress;
  const { location } = vertex;
  return `wss://${location === 'global' ? '' : `${location}-`}aiplatform.googleapis.com`;
};

const read: OptionsReader<GeminiLiveKeys, GeminiLiveOptions> = ({ value, known }, site) => {
  const vertex = vertexOf(known, site);
  const endpoint = readAddress('base_url', known.base_url ?? addressOf(vertex), {
    family: 'ws',
    path: 'allowed',
    plain: 'loopback',
    added: [geminiPath, vertexPath],
    site,
  });
  if (value === undefined || endpoint === undefined) return undefined;
  if ((value.project === undefined) !== (value.location === undefined)) return undefined;
  const isVertex = vertex !== undefined;
  return {
    ...traitsOf(value.model, isVertex),
    ...camelKeys(withoutKeys(value, ['base_url', 'project', 'location'])),
    baseUrl: endpoint.text,
    path: isVertex ? vertexPath : geminiPath,
    ...(isVertex && { vertex }),
  };
};

export const geminiLive = declareProvider({
  name: 'gemini_live',
  aliases: [],
  apiKey: 'required',
  facts: {
    vendor: 'Google Gemini Live',
    runs: 'hosted',
    price: 'by model (not verified)',
    latency: 'by model',
    languages: 'by model',
    wordTimes: 'no',
    keyVariable: 'GEMINI_API_KEY',
  },
  keys,
  read,
});
