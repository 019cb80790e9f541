/** Options of `stt_cloud_b`, a hosted streaming recogniser that detects turns (docs/reference/agent-file.md, AssemblyAI). */
import * as z from 'zod';
import { withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { noteUnusedRegion, readHosted } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers: the one place to correct when it moves. `edge` is the nearest location. */
const regions = {
  edge: 'wss://streaming.assemblyai.com',
  us: 'wss://streaming.us.assemblyai.com',
  eu: 'wss://streaming.eu.assemblyai.com',
} as const;

const models = {
  english: 'universal-streaming-english',
  multilingual: 'universal-streaming-multilingual',
  anyLanguage: 'whisper-rt',
} as const;
const multilingual: readonly string[] = ['es', 'de', 'fr', 'pt', 'it'];

/** The model for a language when the file names none; the service's own choice hears English alone. */
function modelFor(language: string): string {
  const primary = language.toLowerCase().split('-', 1)[0] ?? '';
  if (primary === 'en') return models.english;
  return multilingual.includes(primary) ? models.multilingual : models.anyLanguage;
}

const turnSilence = z.int().min(0).max(60_000).exactOptional();

const keys = z.strictObject({
  speech_model: z.string().min(1).max(128).exactOptional().meta({
    sample: models.multilingual,
    description: 'Name of the model as the service knows it; absent means one that hears the language.',
  }),
  region: z.enum(['edge', 'us', 'eu']).exactOptional().meta({
    sample: 'eu',
    description: 'Where the audio is processed; absent means edge, the nearest location.',
  }),
  keyterms: z
    .array(z.string().min(1).max(50))
    .max(100)
    .exactOptional()
    .meta({ sample: ['Acme'], description: 'Names and words that the recogniser should expect.' }),
  format_turns: z.boolean().default(false).meta({
    description: 'Whether the text of a turn comes with capitals and punctuation, a moment later.',
  }),
  diarize: z.boolean().exactOptional().meta({
    sample: true,
    description:
      'Whether words of others than the caller, who has said most of the first turns, are left out; absent: false.',
  }),
  min_turn_silence_ms: turnSilence.meta({
    sample: 400,
    description: 'Silence after which the service ends a turn that sounds complete; absent: its own choice.',
  }),
  max_turn_silence_ms: turnSilence.meta({
    sample: 1280,
    description: 'Silence that ends any turn; at least min_turn_silence_ms; absent: its own choice.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'wss://stt.example.com',
    description: 'Address instead of that of the region, without /v3/ws; wss:// unless the host is loopback.',
  }),
});

export type SttAssemblyAiKeys = z.output<typeof keys>;

export type SttAssemblyAiOptions = Omit<
  CamelKeys<SttAssemblyAiKeys>,
  'region' | 'baseUrl' | 'speechModel'
> & {
  /** The model of the file, or the one for the language. */
  readonly speechModel: string;
  /** `wss://host[/prefix]`; the adapter adds `/v3/ws`. */
  readonly baseUrl: string;
};

const read: OptionsReader<SttAssemblyAiKeys, SttAssemblyAiOptions> = (reading, site) => {
  const { known } = reading;
  noteUnusedRegion(known, site);
  const { min_turn_silence_ms: least, max_turn_silence_ms: most } = known;
  const isInOrder = least === undefined || most === undefined || most >= least;
  if (!isInOrder) {
    site.problems.error([...site.at, 'max_turn_silence_ms'], 'must be at least min_turn_silence_ms');
  }
  const address = regions[known.region ?? 'edge'];
  const options = readHosted(reading, { key: 'base_url', address, family: 'ws', added: ['/v3/ws'] }, site);
  if (options === undefined || !isInOrder || site.language === undefined) return undefined;
  const speechModel = options.speechModel ?? modelFor(site.language);
  return { ...withoutKeys(options, ['region', 'speechModel']), speechModel };
};

export const sttAssemblyAi = declareProvider({
  name: 'stt_cloud_b',
  aliases: ['assemblyai'],
  apiKey: 'required',
  facts: {
    vendor: 'AssemblyAI',
    runs: 'hosted',
    price: 'low (not verified)',
    latency: 'low (not verified)',
    languages: 'by model: English; en es de fr pt it; 99 and more with `whisper-rt`',
    wordTimes: 'yes',
    keyVariable: 'ASSEMBLYAI_API_KEY',
  },
  keys,
  read,
});
