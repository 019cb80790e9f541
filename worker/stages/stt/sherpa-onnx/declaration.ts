/** Options of `stt_local_ws`, a streaming recogniser on this machine or network (docs/reference/agent-file.md, sherpa-onnx). */
import * as z from 'zod';
import { SAMPLE_RATES } from '../../../../shared/base/units.ts';
import { camelKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { declareProvider } from '../../../../shared/config/stages/declaration.ts';
import { readOwnSocket, type OptionsReader } from '../../../../shared/config/stages/options-site.ts';

const keys = z.strictObject({
  base_url: z.string().default('ws://127.0.0.1:6006').meta({
    description: 'Address of the server, ws://host[:port] or wss://host[:port], without a path.',
  }),
  path: z
    .string()
    .max(1024)
    .regex(/^\/(?!\/)[^\s#]*$/, 'must start with one / and hold neither spaces nor #')
    .default('/')
    .meta({ description: 'Path of the WebSocket on that server.' }),
  sample_rate: z
    .literal([...SAMPLE_RATES])
    .default(16_000)
    .meta({
      description: 'Rate the model of the server was trained for; the audio is resampled to it.',
      unit: 'Hz',
    }),
  finalize_timeout_ms: z.int().min(100).max(10_000).default(1500).meta({
    description: 'Longest wait for the last words after the end of a turn.',
  }),
  finalize_padding_ms: z.int().min(0).max(5000).default(300).meta({
    description:
      'Silence sent before the end of an utterance is announced; 0 for a server that pads by itself.',
  }),
});

type SttLocalWsKeys = z.output<typeof keys>;

export type SttLocalWsOptions = CamelKeys<SttLocalWsKeys>;

const read: OptionsReader<SttLocalWsKeys, SttLocalWsOptions> = ({ value, known }, site) => {
  const baseUrl = known.base_url === undefined ? undefined : readOwnSocket(known.base_url, site);
  return value && baseUrl !== undefined ? { ...camelKeys(value), baseUrl } : undefined;
};

export const sttLocalWs = declareProvider({
  name: 'stt_local_ws',
  aliases: ['sherpa_onnx'],
  apiKey: 'optional',
  languageBy: 'model',
  facts: {
    vendor: 'sherpa-onnx',
    runs: 'own machine',
    price: 'free',
    latency: 'low',
    languages: 'that of the model',
    wordTimes: 'no',
  },
  keys,
  read,
});
