/** The TTS stage `tts_cloud_a` (Cartesia). Its wire says what its messages mean. */
import { randomUUID } from 'node:crypto';
import type { TtsCartesiaOptions } from './declaration.ts';
import type { TtsAccess, TtsStage } from '../../stage.ts';
import { CartesiaWire } from './wire.ts';
import { newSocketStage } from '../socket-stage.ts';
import { keyHeaders } from '../../keys.ts';
import { primarySubtag } from '../wire.ts';

/** The first version whose errors are JSON. */
const VERSION = '2026-03-01';

/** @throws Error without a voice, or when the key may not be sent to the address or cannot be a header value. */
export function newTtsCartesia(options: TtsCartesiaOptions & TtsAccess): TtsStage {
  if (options.voice === undefined) throw new Error('tts.voice: is required for tts_cloud_a');
  const url = new URL(options.url);
  const fields = {
    model_id: options.model,
    voice: { mode: 'id', id: options.voice },
    output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: options.sampleRate },
    language: primarySubtag(options.language),
    add_timestamps: true,
    use_normalized_timestamps: false,
    max_buffer_delay_ms: options.maxBufferDelayMs,
  };
  return newSocketStage({
    provider: 'tts_cloud_a',
    url,
    headers: {
      'cartesia-version': VERSION,
      ...keyHeaders(url, options.apiKey, { name: 'x-api-key' }),
    },
    sampleRate: options.sampleRate,
    maxMessageBytes: 4_194_304,
    speaksUnflushed: true,
    maxGapMs: 500,
    keepAliveMs: undefined,
    roomTimeoutMs: 1_000,
    goodbye: [],
    newWire: () => new CartesiaWire(fields, randomUUID),
    closeError: (code) =>
      code === 1003 || code === 1007 || code === 1009
        ? { kind: 'protocol', rule: 'the server refused a message' }
        : { kind: 'disconnected' },
  });
}
