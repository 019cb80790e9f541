/** Options of `speech_compatible`, any server that answers POST {base_url}/audio/speech (docs/reference/agent-file.md, OpenAI-compatible speech). */
import * as z from 'zod';
import { camelKeys, type CamelKeys } from '../../../../shared/config/camel.ts';
import { canonicalName, namesIn } from '../../../../shared/config/stages/aliases.ts';
import { declareVoice } from '../../../../shared/config/stages/declaration.ts';
import { readAddress, shownKey } from '../../../../shared/config/stages/options-site.ts';
import type { OptionsReader, OptionsSite } from '../../../../shared/config/stages/options-site.ts';

/** Presets by the names of their servers; `local_d` is what openedai-speech and LocalAI have in common, and has none. */
const presetAliases = { speaches: 'local_a', kokoro: 'local_b', chatterbox: 'local_c' } as const;

interface SpeechPreset {
  /** Without it the file must name the model. */
  readonly model?: string;
  readonly format: 'pcm' | 'wav';
  /** Empty: no warm-up. */
  readonly warmText: string;
}

/**
 * What a preset stands for: the one place to correct when a server changes. `local_a` unloads its model when idle, hence
 * the warm-up; `local_c` and `local_d` answer in WAV because their raw audio has no fixed rate.
 */
const speechPresets = {
  generic: { format: 'pcm', warmText: '' },
  local_a: { model: 'speaches-ai/Kokoro-82M-v1.0-ONNX', format: 'pcm', warmText: 'Hello.' },
  local_b: { model: 'kokoro', format: 'pcm', warmText: '' },
  local_c: { model: 'chatterbox', format: 'wav', warmText: '' },
  local_d: { model: 'tts-1', format: 'wav', warmText: '' },
} as const satisfies Readonly<Record<string, SpeechPreset>>;

type PresetName = keyof typeof speechPresets;

/** The only rate that these servers deliver, in Hz. */
const rates: readonly number[] = [24_000];

const keys = z.strictObject({
  base_url: z.string().meta({
    description:
      'Address of the server with its /v1 prefix; http:// to any host, but not together with api_key_env.',
    examples: ['http://127.0.0.1:8880/v1'],
  }),
  preset: z
    .enum(['generic', ...namesIn(presetAliases), ...(['local_a', 'local_b', 'local_c', 'local_d'] as const)])
    .default('generic')
    .meta({
      description:
        'A known local server; sets model, audio format and request fields. local_a, local_b and local_c mean speaches, kokoro and chatterbox; local_d is for openedai-speech and LocalAI.',
      examples: ['kokoro'],
    }),
  model: z.string().min(1).max(256).exactOptional().meta({
    sample: 'kokoro',
    description: 'Name of the model as the server knows it; required for preset generic.',
  }),
  speed: z.number().min(0.25).max(4).exactOptional().meta({
    sample: 1.1,
    description: 'Pace of the voice; absent means the pace of the server.',
  }),
  format: z.enum(['pcm', 'wav']).exactOptional().meta({
    sample: 'pcm',
    description: 'Audio format asked for: raw 24 kHz samples or WAV; default pcm, or what the preset needs.',
  }),
  first_audio_timeout_ms: z.int().min(500).max(120_000).default(15_000).meta({
    description: 'Longest wait for the first audio of a request.',
  }),
  warm_text: z.string().max(300).exactOptional().meta({
    sample: 'Hello.',
    description:
      'Spoken to nobody at the start of a call so that the server loads its model; empty is off. On by default for speaches alone.',
  }),
  warm_interval_ms: z.int().min(1000).max(3_600_000).default(60_000).meta({
    description: 'At most one warm-up in this time across all calls.',
  }),
});

type SpeechKeys = z.output<typeof keys>;

export type SpeechCompatibleOptions = Omit<
  CamelKeys<SpeechKeys>,
  'preset' | 'model' | 'format' | 'warmText'
> & {
  readonly preset: PresetName;
  readonly model: string;
  readonly format: 'pcm' | 'wav';
  /** Empty: no warm-up. */
  readonly warmText: string;
  /** The voice of `tts.voice`; absent means the voice of the server. */
  readonly voice?: string;
};

const presetOf = (name: SpeechKeys['preset']): PresetName => canonicalName(presetAliases, name);

/** Applies the rules between keys. */
function resolve(
  keys: Partial<SpeechKeys>,
  site: OptionsSite,
): { readonly baseUrl?: string; readonly model?: string } {
  const { at, problems } = site;
  const preset: SpeechPreset | undefined =
    keys.preset === undefined ? undefined : speechPresets[presetOf(keys.preset)];
  const model = keys.model ?? preset?.model;
  if (preset !== undefined && model === undefined && !site.isWrong('model')) {
    problems.missing([...at, 'model'], 'is required for preset "generic"');
  }
  const chosen = model === undefined ? {} : { model };
  if (keys.base_url === undefined) return chosen;
  const rules = { family: 'http', path: 'allowed', plain: 'any-host', site } as const;
  const endpoint = readAddress('base_url', keys.base_url, rules);
  if (endpoint === undefined) return chosen;
  if (site.hasKey && !endpoint.isEncrypted) {
    const rule = `must be an https:// address, because ${shownKey(site.stageAt)} is set`;
    problems.error([...at, 'base_url'], rule);
    return chosen;
  }
  return { ...chosen, baseUrl: endpoint.text };
}

const read: OptionsReader<SpeechKeys, SpeechCompatibleOptions> = ({ value, known }, site) => {
  const { baseUrl, model } = resolve(known, site);
  if (value === undefined || baseUrl === undefined || model === undefined) return undefined;
  const preset = presetOf(value.preset);
  const { format, warmText }: SpeechPreset = speechPresets[preset];
  return { format, warmText, ...camelKeys(value), preset, baseUrl, model };
};

export const speechCompatible = declareVoice({
  name: 'speech_compatible',
  aliases: ['openai_speech'],
  apiKey: 'optional',
  languageBy: 'server',
  facts: {
    vendor: 'OpenAI-compatible speech',
    servers: { key: 'preset', names: presetAliases },
    runs: 'either',
    price: 'free on your machine',
    latency: 'by server and machine',
    languages: 'by model and voice',
    wordTimes: 'no',
  },
  keys,
  isTableRequired: true,
  read,
  voice: { rates, needsVoice: false },
});
