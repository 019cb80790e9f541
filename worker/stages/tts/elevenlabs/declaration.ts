/** Options of `tts_cloud_b`, a hosted voice with adjustable character (docs/reference/agent-file.md, ElevenLabs). */
import * as z from 'zod';
import type { CamelKeys } from '../../../../shared/config/camel.ts';
import { declareVoice } from '../../../../shared/config/stages/declaration.ts';
import { modelKey, readHosted, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

/** Where the service answers: the one place to correct when it moves. */
const serviceAddress = 'wss://api.elevenlabs.io';

const share = z.number().min(0).max(1).exactOptional();

/** Rates in Hz that the service delivers and that this one can convert. */
const rates: readonly number[] = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];

const keys = z.strictObject({
  model: modelKey('eleven_flash_v2_5'),
  stability: share.meta({
    sample: 0.5,
    description: 'How even the voice stays; absent means what is stored with the voice.',
  }),
  similarity_boost: share.meta({
    sample: 0.75,
    description: 'How close it keeps to the recorded speaker; absent means what is stored with the voice.',
  }),
  style: share.meta({
    sample: 0,
    description: 'How much the manner of the speaker is exaggerated; costs time above 0.',
  }),
  speed: z.number().min(0.7).max(1.2).exactOptional().meta({
    sample: 1.1,
    description: 'Pace of the voice; absent means what is stored with the voice.',
  }),
  use_speaker_boost: z.boolean().exactOptional().meta({
    sample: true,
    description: 'Whether likeness to the speaker is raised further; costs some time.',
  }),
  url: z.string().exactOptional().meta({
    sample: 'wss://tts.example.com',
    description: 'Address of the service without /v1/text-to-speech; wss:// unless the host is loopback.',
  }),
});

export type TtsElevenLabsKeys = z.output<typeof keys>;

export type TtsElevenLabsOptions = Omit<CamelKeys<TtsElevenLabsKeys>, 'url'> & {
  /** `wss://host[/prefix]`; the adapter adds `/v1/text-to-speech/...`. */
  readonly url: string;
};

const read: OptionsReader<TtsElevenLabsKeys, TtsElevenLabsOptions> = (reading, site) =>
  readHosted(
    reading,
    { key: 'url', address: serviceAddress, family: 'ws', added: ['/v1/text-to-speech'] },
    site,
  );

export const ttsElevenLabs = declareVoice({
  name: 'tts_cloud_b',
  aliases: ['elevenlabs'],
  apiKey: 'required',
  facts: {
    vendor: 'ElevenLabs',
    runs: 'hosted',
    price: 'high (not verified)',
    latency: 'low with flash models (not verified)',
    languages: 'by model',
    wordTimes: 'yes',
    keyVariable: 'ELEVENLABS_API_KEY',
  },
  keys,
  read,
  voice: { rates, needsVoice: true },
});
