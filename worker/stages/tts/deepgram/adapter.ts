/** The TTS stage `tts_cloud_c` (Deepgram Aura). Its wire says what its messages mean. */
import type { TtsDeepgramAuraOptions } from './declaration.ts';
import type { TtsAccess, TtsStage } from '../../stage.ts';
import { DeepgramAuraWire } from './wire.ts';
import { newSocketStage } from '../socket-stage.ts';
import { keyHeaders } from '../../keys.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newTtsDeepgramAura(options: TtsDeepgramAuraOptions & TtsAccess): TtsStage {
  const url = new URL(options.url);
  if (options.voice !== undefined) url.searchParams.set('model', options.voice);
  url.searchParams.set('encoding', 'linear16');
  url.searchParams.set('sample_rate', String(options.sampleRate));
  if (options.speed !== undefined) url.searchParams.set('speed', String(options.speed));
  return newSocketStage({
    provider: 'tts_cloud_c',
    url,
    headers: keyHeaders(url, options.apiKey, { name: 'authorization', scheme: 'Token ' }),
    sampleRate: options.sampleRate,
    maxMessageBytes: 4_194_304,
    speaksUnflushed: false,
    maxGapMs: undefined,
    keepAliveMs: undefined,
    roomTimeoutMs: 1_000,
    goodbye: [JSON.stringify({ type: 'Close' })],
    newWire: () => new DeepgramAuraWire(),
    closeError: (code) =>
      code === 1003 || code === 1007 || code === 1008 || code === 1009
        ? { kind: 'protocol', rule: 'the server refused a message' }
        : { kind: 'disconnected' },
  });
}
