/** The TTS stage `tts_cloud_b` (ElevenLabs). Its wire says what its messages mean. */
import { randomUUID } from 'node:crypto';
import type { TtsElevenLabsOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import type { TtsAccess, TtsStage } from '../../stage.ts';
import { ElevenLabsWire, errorOf, type VoiceSettings } from './wire.ts';
import { newSocketStage } from '../socket-stage.ts';
import { keyHeaders } from '../../keys.ts';
import { primarySubtag } from '../wire.ts';

/** The longest pause between texts that the vendor offers, in seconds; keep-alives come far sooner. */
const INACTIVITY_TIMEOUT_S = 180;
/** Models that take a language; others refuse one. */
const TAKES_LANGUAGE = /_v2_5$|^eleven_v[3-9]/;

/** @throws Error without a voice, or when the key may not be sent to the address or cannot be a header value. */
export function newTtsElevenLabs(options: TtsElevenLabsOptions & TtsAccess): TtsStage {
  if (options.voice === undefined) throw new Error('tts.voice: is required for tts_cloud_b');
  const path = `/v1/text-to-speech/${encodeURIComponent(options.voice)}/multi-stream-input`;
  const url = urlUnder(options.url, path);
  url.searchParams.set('model_id', options.model);
  url.searchParams.set('output_format', `pcm_${options.sampleRate}`);
  url.searchParams.set('inactivity_timeout', String(INACTIVITY_TIMEOUT_S));
  url.searchParams.set('auto_mode', 'true');
  url.searchParams.set('sync_alignment', 'true');
  if (TAKES_LANGUAGE.test(options.model)) {
    url.searchParams.set('language_code', primarySubtag(options.language));
  }
  const settings = voiceSettings(options);
  return newSocketStage({
    provider: 'tts_cloud_b',
    url,
    headers: keyHeaders(url, options.apiKey, { name: 'xi-api-key' }),
    sampleRate: options.sampleRate,
    maxMessageBytes: 16_777_216,
    speaksUnflushed: true,
    maxGapMs: undefined,
    keepAliveMs: 10_000,
    roomTimeoutMs: 2_000,
    goodbye: [JSON.stringify({ close_socket: true })],
    newWire: () => new ElevenLabsWire(settings, randomUUID),
    closeError: (code, reason) => {
      if (code === 1008) return errorOf(reason);
      return code === 1003 || code === 1007 || code === 1009
        ? { kind: 'protocol', rule: 'the server refused a message' }
        : { kind: 'disconnected' };
    },
  });
}

/** Only what is set: the rest stays as it is stored with the voice. */
function voiceSettings(options: TtsElevenLabsOptions): VoiceSettings {
  const { stability, similarityBoost, style, speed, useSpeakerBoost } = options;
  return {
    ...(stability !== undefined && { stability }),
    ...(similarityBoost !== undefined && { similarity_boost: similarityBoost }),
    ...(style !== undefined && { style }),
    ...(speed !== undefined && { speed }),
    ...(useSpeakerBoost !== undefined && { use_speaker_boost: useSpeakerBoost }),
  };
}
