/** Options of `tts_cloud_c`, a hosted voice whose model is the voice (docs/reference/agent-file.md, Deepgram Aura). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareVoice } from '../../../../shared/config/stages/declaration.ts';
import { readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

const socketPath = '/v1/speak';
/** Where the service answers: the one place to correct when it moves. */
const serviceAddress = `wss://api.deepgram.com${socketPath}`;

/** Rates in Hz that the service delivers and that this one can convert. */
const rates: readonly number[] = [8000, 16_000, 24_000, 48_000];

const keys = z.strictObject({
  speed: z.number().min(0.7).max(1.5).exactOptional().meta({
    sample: 1.1,
    description: 'Pace of the voice; not every voice takes it. Absent means its own pace.',
  }),
  url: z.string().exactOptional().meta({
    sample: 'wss://tts.example.com/v1/speak',
    description:
      'Address of the WebSocket instead of that of the service; wss:// unless the host is loopback.',
  }),
});

export type TtsDeepgramAuraKeys = z.output<typeof keys>;

export type TtsDeepgramAuraOptions = Omit<CamelKeys<TtsDeepgramAuraKeys>, 'url'> & {
  /** Complete address of the WebSocket, without a query. */
  readonly url: string;
};

const read: OptionsReader<TtsDeepgramAuraKeys, TtsDeepgramAuraOptions> = (reading, site) =>
  readHosted(reading, { key: 'url', address: serviceAddress, family: 'ws', defaultPath: socketPath }, site);

export const ttsDeepgramAura = declareVoice({
  name: 'tts_cloud_c',
  aliases: ['deepgram_aura'],
  apiKey: 'required',
  languageBy: 'voice',
  facts: {
    vendor: 'Deepgram Aura',
    runs: 'hosted',
    price: 'low (not verified)',
    latency: 'low (not verified)',
    languages: 'that of the voice; `speed` for English and Spanish',
    wordTimes: 'no',
    keyVariable: 'DEEPGRAM_API_KEY',
  },
  keys,
  read,
  voice: { rates, needsVoice: false },
});
