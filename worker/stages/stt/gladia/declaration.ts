/** Options of `stt_cloud_c`, a hosted recogniser whose sessions begin with a request (docs/reference/agent-file.md, Gladia). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where sessions begin: the one place to correct when the service moves. */
const serviceAddress = 'https://api.gladia.io';

const keys = z.strictObject({
  model: modelKey('solaria-1'),
  region: z.enum(['us_west', 'eu_west']).exactOptional().meta({
    sample: 'eu_west',
    description: 'Where the audio is processed; absent: the choice of the service.',
  }),
  code_switching: z.boolean().default(false).meta({
    description:
      'Whether the language may change within a call, between that of the call and English, German, Spanish, French and Turkish.',
  }),
  vocabulary: z
    .array(z.string().min(1).max(100))
    .max(100)
    .exactOptional()
    .meta({
      sample: ['Acme'],
      description: 'Names and words that are written in place of what sounds alike.',
    }),
  endpointing_ms: z.int().min(10).max(10_000).default(300).meta({
    description: 'Silence after which the service ends an utterance.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'https://stt.example.com',
    description: 'Address of the service without /v2/live; https:// unless the host is loopback.',
  }),
});

export type SttGladiaKeys = z.output<typeof keys>;

export type SttGladiaOptions = Omit<CamelKeys<SttGladiaKeys>, 'baseUrl'> & {
  /** `https://host[/prefix]` of the request that begins a session; the adapter adds `/v2/live`. */
  readonly baseUrl: string;
};

const read: OptionsReader<SttGladiaKeys, SttGladiaOptions> = (reading, site) =>
  readHosted(
    reading,
    { key: 'base_url', address: serviceAddress, family: 'http', added: ['/v2/live'] },
    site,
  );

export const sttGladia = declareProvider({
  name: 'stt_cloud_c',
  aliases: ['gladia'],
  apiKey: 'required',
  facts: {
    vendor: 'Gladia',
    runs: 'hosted',
    price: 'middle (not verified)',
    latency: 'middle (ends an utterance by silence)',
    languages: 'about 100, with code switching',
    wordTimes: 'yes',
    keyVariable: 'GLADIA_API_KEY',
  },
  keys,
  read,
});
