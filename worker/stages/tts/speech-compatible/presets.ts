/**
 * How the servers behind the presets of `[tts.speech_compatible]` differ in their requests
 * (docs/reference/agent-file.md, OpenAI-compatible speech). Model, audio format and warm-up of a preset are defaults
 * of the configuration and stand there.
 */
import type { SpeechCompatibleOptions } from './declaration.ts';
import { mediaTypeOf } from '../../http.ts';

interface SpeechPreset {
  /** Request fields beside those that every server takes. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
  readonly takesSpeed: boolean;
}

const PRESETS: Readonly<Record<SpeechCompatibleOptions['preset'], SpeechPreset>> = {
  generic: { fields: {}, takesSpeed: true },
  /** Speaches delivers the model's own rate unless it is told one. */
  local_a: { fields: { sample_rate: 24_000 }, takesSpeed: true },
  /** Kokoro-FastAPI streams sentence by sentence. */
  local_b: { fields: { stream: true }, takesSpeed: true },
  /** Chatterbox knows no pace. */
  local_c: { fields: {}, takesSpeed: false },
  /** openedai-speech and LocalAI. */
  local_d: { fields: {}, takesSpeed: true },
};

/** JSON text of a request that speaks `text`. */
export function renderSpeechRequest(options: SpeechCompatibleOptions, text: string): string {
  const preset = PRESETS[options.preset];
  return JSON.stringify({
    model: options.model,
    input: text,
    ...(options.voice === undefined ? {} : { voice: options.voice }),
    response_format: options.format,
    ...(options.speed === undefined || !preset.takesSpeed ? {} : { speed: options.speed }),
    ...preset.fields,
  });
}

/** The rule that a response's content type breaks, if any: noise must not reach a caller (docs/providers.md, Speech servers). */
export function checkSpeechType(contentType: string, sampleRate: number): string | undefined {
  const type = mediaTypeOf(contentType);
  const known = type === '' || type === 'application/octet-stream' || type.startsWith('audio/');
  if (!known) return 'content type of audio';
  if (COMPRESSED.has(type)) return 'audio is not compressed';
  const rate = /;\s*rate=(\d+)/.exec(contentType)?.[1];
  return rate !== undefined && Number(rate) !== sampleRate ? 'sample rate' : undefined;
}

/** What servers send that ignore `response_format`. */
const COMPRESSED: ReadonlySet<string> = new Set(
  ['mpeg', 'mp3', 'ogg', 'opus', 'flac', 'aac', 'mp4', 'webm'].map((name) => `audio/${name}`),
);
