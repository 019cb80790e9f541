/** Options of `tts_cloud_a`, a hosted voice over one WebSocket (docs/reference/agent-file.md, Cartesia). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareVoice } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

const socketPath = '/tts/websocket';
/** Where the service answers: the one place to correct when it moves. */
const serviceAddress = `wss://api.cartesia.ai${socketPath}`;

/** Rates in Hz that the service delivers and that this one can convert. */
const rates: readonly number[] = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];

const keys = z.strictObject({
  model: modelKey('sonic-3.5'),
  max_buffer_delay_ms: z.int().min(0).max(5000).default(0).meta({
    description: 'How long the service may wait for more text before it speaks.',
  }),
  url: z.string().exactOptional().meta({
    sample: 'wss://tts.example.com/tts/websocket',
    description:
      'Address of the WebSocket instead of that of the service; wss:// unless the host is loopback.',
  }),
});

export type TtsCartesiaKeys = z.output<typeof keys>;

export type TtsCartesiaOptions = Omit<CamelKeys<TtsCartesiaKeys>, 'url'> & {
  /** Complete address of the WebSocket, without a query. */
  readonly url: string;
};

const read: OptionsReader<TtsCartesiaKeys, TtsCartesiaOptions> = (reading, site) =>
  readHosted(reading, { key: 'url', address: serviceAddress, family: 'ws', defaultPath: socketPath }, site);

export const ttsCartesia = declareVoice({
  name: 'tts_cloud_a',
  aliases: ['cartesia'],
  apiKey: 'required',
  facts: {
    vendor: 'Cartesia',
    runs: 'hosted',
    price: 'middle (not verified)',
    latency: 'low (not verified)',
    languages: 'by model',
    wordTimes: 'yes',
    keyVariable: 'CARTESIA_API_KEY',
  },
  keys,
  read,
  voice: { rates, needsVoice: true },
});
