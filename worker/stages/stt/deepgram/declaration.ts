/** Options of `stt_cloud_a`, a hosted streaming recogniser (docs/reference/agent-file.md, Deepgram). */
import * as z from 'zod';
import { withoutKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, noteUnusedRegion, readHosted } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers: the one place to correct when it moves. */
const regions = {
  global: 'wss://api.deepgram.com',
  eu: 'wss://api.eu.deepgram.com',
  au: 'wss://api.au.deepgram.com',
  india: 'wss://api.in.deepgram.com',
} as const;

const keys = z.strictObject({
  model: modelKey('nova-3'),
  endpointing_ms: z.int().min(0).max(10_000).default(300).meta({
    description: 'Silence after which the service ends an utterance by itself; 0 is off.',
  }),
  utterance_end_ms: z.int().min(1000).max(5000).exactOptional().meta({
    sample: 1000,
    description: 'Gap between words that ends an utterance where silence is never reached; absent is off.',
  }),
  smart_format: z.boolean().default(true).meta({
    description: 'Whether numbers, dates and sentences come formatted.',
  }),
  diarize: z.boolean().exactOptional().meta({
    sample: true,
    description:
      'Whether words of others than the caller, who has said most of the first turns, are left out; absent: false.',
  }),
  keyterms: z
    .array(z.string().min(1).max(100))
    .max(100)
    .exactOptional()
    .meta({ sample: ['Acme'], description: 'Names and words that the recogniser should expect.' }),
  region: z.enum(['global', 'eu', 'au', 'india']).exactOptional().meta({
    sample: 'eu',
    description: 'Where the audio is processed; absent means global. It never falls back to another region.',
  }),
  base_url: z.string().exactOptional().meta({
    sample: 'wss://stt.example.com',
    description:
      'Address instead of that of the region, without /v1/listen; wss:// unless the host is loopback.',
  }),
});

export type SttDeepgramKeys = z.output<typeof keys>;

export type SttDeepgramOptions = Omit<CamelKeys<SttDeepgramKeys>, 'region' | 'baseUrl'> & {
  /** `wss://host[/prefix]`; the adapter adds `/v1/listen`. */
  readonly baseUrl: string;
};

const read: OptionsReader<SttDeepgramKeys, SttDeepgramOptions> = (reading, site) => {
  noteUnusedRegion(reading.known, site);
  const address = regions[reading.known.region ?? 'global'];
  const rules = { key: 'base_url', address, family: 'ws', added: ['/v1/listen'] } as const;
  const options = readHosted(reading, rules, site);
  return options && withoutKeys(options, ['region']);
};

export const sttDeepgram = declareProvider({
  name: 'stt_cloud_a',
  aliases: ['deepgram'],
  apiKey: 'required',
  hearsSeveral: true,
  facts: {
    vendor: 'Deepgram',
    runs: 'hosted',
    price: 'low (not verified)',
    latency: 'low (not verified)',
    languages: 'many, by model; `multi` for several at once',
    wordTimes: 'yes',
    keyVariable: 'DEEPGRAM_API_KEY',
  },
  keys,
  read,
});
