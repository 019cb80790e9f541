import { inspect } from 'node:util';
import { describe, it, expect } from 'vitest';
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import { declarations, findProvider, providersOf } from '../../../shared/config/stages/providers.ts';
import { changed, errorsOf, load } from './agent-text.ts';

const sttUrl = (url: string, more = ''): string =>
  changed(
    ['"ws://127.0.0.1:6006"', `"${url}"`],
    ['provider = "stt_local_ws"', `provider = "stt_local_ws"\n${more}`],
  );
const llmUrl = (url: string): string => changed(['"http://127.0.0.1:11434/v1"', `"${url}"`]);
const ttsUrl = (url: string, more = ''): string =>
  changed(['"http://127.0.0.1:8880/v1"', `"${url}"`], ['voice = "af_heart"', more]);
const llmTable = (lines: string): string =>
  changed(['base_url = "http://127.0.0.1:11434/v1"\nmodel = "small"', lines]);

describe('providers', () => {
  const names = { stt: 5, llm: 4, tts: 4, realtime: 2 } as const;

  it.each(Object.entries(names))('of %s are the %i of the specification', (stage, count) => {
    expect(providersOf(stage as StageName)).toHaveLength(count);
  });

  it.each([
    ['stt', 'deepgram', 'stt_cloud_a'],
    ['stt', 'assemblyai', 'stt_cloud_b'],
    ['stt', 'gladia', 'stt_cloud_c'],
    ['stt', 'sherpa_onnx', 'stt_local_ws'],
    ['stt', 'openai_realtime', 'stt_realtime_compat'],
    ['llm', 'openai_responses', 'llm_responses'],
    ['llm', 'openai', 'llm_responses'],
    ['llm', 'anthropic', 'llm_messages'],
    ['llm', 'gemini', 'llm_generate'],
    ['llm', 'openai_compatible', 'chat_compatible'],
    ['tts', 'cartesia', 'tts_cloud_a'],
    ['tts', 'elevenlabs', 'tts_cloud_b'],
    ['tts', 'deepgram_aura', 'tts_cloud_c'],
    ['tts', 'openai_speech', 'speech_compatible'],
  ] as const)('of %s: %s means %s', (stage, alias, name) => {
    expect(findProvider(stage, alias)?.name).toBe(name);
  });

  it('that a build leaves out are named with their build feature', () => {
    const text = changed(
      ['provider = "stt_local_ws"', 'provider = "deepgram"\napi_key_env = "K"'],
      ['[stt.stt_local_ws]\nbase_url = "ws://127.0.0.1:6006"', '[stt.deepgram]\nmodel = "x"'],
    );
    expect(errorsOf(text, { leftOut: ['stt_cloud_a'] })).toEqual([
      'stt.provider names deepgram (stt_cloud_a), but the build feature "stt_cloud_a" is off: this version does not hold it',
    ]);
  });

  it('may be written by their other name, options table included', () => {
    const text = changed(
      ['provider = "stt_local_ws"', 'provider = "sherpa_onnx"'],
      ['[stt.stt_local_ws]', '[stt.sherpa_onnx]'],
    );
    expect(load(text).definition?.stt).toMatchObject({
      provider: 'stt_local_ws',
      options: { baseUrl: 'ws://127.0.0.1:6006' },
    });
  });

  it('refuse the options table of another provider and a second table of their own', () => {
    expect(
      errorsOf(changed(['[stt.stt_local_ws]', '[stt.stt_cloud_a]\nmodel = "x"\n[stt.stt_local_ws]'])),
    ).toEqual(['stt.stt_cloud_a belongs to another provider than the chosen stt_local_ws']);
    expect(errorsOf(changed(['[stt.stt_local_ws]', '[stt.sherpa_onnx]\n[stt.stt_local_ws]']))).toEqual([
      'stt.stt_local_ws repeats the options of stt_local_ws under another name',
    ]);
  });

  it('must be named, and need the key variable where the specification asks for one', () => {
    expect(errorsOf(changed(['provider = "stt_local_ws"', '']))).toContain('stt.provider is required');
    const cloud = changed(['provider = "speech_compatible"', 'provider = "tts_cloud_a"']);
    expect(errorsOf(cloud)).toContain('tts.api_key_env is required for this provider');
  });

  it('come without an options table only where the specification lets them', () => {
    expect(errorsOf(changed(['[stt.stt_local_ws]\nbase_url = "ws://127.0.0.1:6006"', '']))).toEqual([]);
    expect(
      errorsOf(
        changed(['[llm.chat_compatible]\nbase_url = "http://127.0.0.1:11434/v1"\nmodel = "small"', '']),
      ),
    ).toEqual(['llm.chat_compatible is a required table for this provider']);
  });
});

describe('provider keys', () => {
  const withKey = changed(
    ['model = "small"', 'model = "small"'],
    ['provider = "chat_compatible"', 'provider = "chat_compatible"\napi_key_env = "LLM_KEY"'],
  );

  it('come from the environment and print as a placeholder', () => {
    const { definition, problems } = load(withKey, { env: { LLM_KEY: 'sk-canary' } });
    expect(problems).toEqual([]);
    expect(definition?.llm?.apiKey?.reveal()).toBe('sk-canary');
    expect(
      `${inspect(definition, { depth: 9 })} ${JSON.stringify(definition)} ${String(definition?.llm?.apiKey)}`,
    ).not.toContain('sk-canary');
  });

  it.each([undefined, ''])(
    'that are not set (%j) give a warning, or an error when secrets are required',
    (value) => {
      const message = 'llm.api_key_env names the environment variable LLM_KEY, which is not set';
      const checked = load(withKey, { env: { LLM_KEY: value } });
      expect(checked.definition?.llm?.apiKeyEnv).toBe('LLM_KEY');
      expect(checked.problems).toMatchObject([{ severity: 'warning', message, line: 12 }]);
      const started = load(withKey, { env: { LLM_KEY: value }, requireSecrets: true });
      expect(started.definition).toBeUndefined();
      expect(started.problems).toMatchObject([{ severity: 'error', message }]);
    },
  );

  it('with characters that no header can carry are refused', () => {
    expect(errorsOf(withKey, { env: { LLM_KEY: 'sk canary\n' } })).toHaveLength(1);
  });

  it.each(['sk-live-abc', 'gsk_abc123', '9KEY', ''])(
    'pasted instead of a variable name (%j) are refused',
    (pasted) => {
      expect(errorsOf(withKey.replace('LLM_KEY', pasted))).toEqual([
        'llm.api_key_env must be the name of an environment variable: capital letters, digits and _',
      ]);
    },
  );

  it('in the file itself are refused with the way to do it', () => {
    expect(errorsOf(changed(['voice =', 'api_key = "x"\nvoice =']))).toEqual([
      'tts.api_key is not a key of this file: secrets come from the environment; name the variable with api_key_env',
    ]);
  });
});

describe('stt_local_ws', () => {
  it.each([
    'ws://10.0.0.7:6006',
    'ws://asr.example',
    'wss://asr.example:443',
    'ws://[::1]:6006',
    'ws://127.0.0.1:6006/',
  ])('connects to %s', (url) => expect(errorsOf(sttUrl(url))).toEqual([]));

  it.each([
    ['http://127.0.0.1:6006', 'must be a ws:// or wss:// address'],
    ['ws://', 'must be a ws:// or wss:// address'],
    ['ws://a b', 'must be a ws:// or wss:// address'],
    ['ws://127.0.0.1:6006/asr', 'must have no path; the key path takes it'],
    ['ws://127.0.0.1:6006?x=1', 'must have neither a query nor a fragment'],
    ['ws://u:p@127.0.0.1', 'must not hold credentials; name an environment variable with api_key_env'],
  ])('refuses %s', (url, rule) => {
    expect(errorsOf(sttUrl(url))).toEqual([`stt.stt_local_ws.base_url ${rule}`]);
  });

  it('sends a token only over TLS or to a loopback host', () => {
    const options = { env: { TOKEN: 't' } };
    for (const url of [
      'wss://asr.example',
      'ws://127.0.0.9:6006',
      'ws://localhost:6006',
      'ws://[::1]:6006',
    ]) {
      expect(errorsOf(sttUrl(url, 'api_key_env = "TOKEN"'), options)).toEqual([]);
    }
    for (const url of [
      'ws://asr.example',
      'ws://10.0.0.7:6006',
      'ws://localhost.example',
      'ws://127.0.0.1.example',
    ]) {
      expect(errorsOf(sttUrl(url, 'api_key_env = "TOKEN"'), options)).toHaveLength(1);
    }
  });

  it.each([
    ['path = "asr"', 'path must start with one / and hold neither spaces nor #'],
    ['path = "//elsewhere"', 'path must start with one / and hold neither spaces nor #'],
    ['sample_rate = 11025', 'sample_rate must be one of 8000, 16000, 22050, 24000, 44100, 48000'],
    ['finalize_timeout_ms = 99', 'finalize_timeout_ms must be at least 100'],
    ['finalize_timeout_ms = 10001', 'finalize_timeout_ms must be at most 10000'],
    ['finalize_padding_ms = 5001', 'finalize_padding_ms must be at most 5000'],
    ['finalize_padding_ms = -1', 'finalize_padding_ms must be at least 0'],
  ])('refuses %s', (line, rule) => {
    expect(errorsOf(changed(['[stt.stt_local_ws]', `[stt.stt_local_ws]\n${line}`]))).toEqual([
      `stt.stt_local_ws.${rule}`,
    ]);
  });
});

describe('chat_compatible', () => {
  it.each([
    'https://llm.example/v1',
    'http://localhost:8000/v1',
    'http://127.0.0.77/v1',
    'http://[::1]:8000/v1',
  ])('connects to %s', (url) =>
    expect(load(llmUrl(url)).definition?.llm?.options).toMatchObject({ baseUrl: url }),
  );

  it('drops the closing slash of an address', () => {
    const { definition } = load(llmUrl('https://llm.example/v1/'));
    expect(definition?.llm?.options).toMatchObject({ baseUrl: 'https://llm.example/v1' });
  });

  it.each([
    'http://10.0.0.7/v1',
    'http://localhost.example/v1',
    'http://127.0.1.1/v1',
    'ws://localhost/v1',
    'file:///v1',
    'v1',
  ])('refuses %s', (url) =>
    expect(errorsOf(llmUrl(url))).toEqual([
      'llm.chat_compatible.base_url must be an https:// address; http:// only to a loopback host',
    ]),
  );

  it('takes address and model from a preset, and the model from the file when it is there', () => {
    const hosted = load(llmTable('preset = "hosted_2"'));
    expect(hosted.definition?.llm?.options).toEqual({
      baseUrl: 'https://api.cerebras.ai/v1',
      model: 'gpt-oss-120b',
    });
    expect(hosted.problems).toMatchObject([{ severity: 'warning', path: 'llm.chat_compatible.preset' }]);
    const local = load(llmTable('preset = "local_runner"\nmodel = "own"'));
    expect(local.definition?.llm?.options).toEqual({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'own' });
    expect(local.problems).toEqual([]);
  });

  it.each([
    ['', ['base_url or preset is required', 'model is required with base_url']],
    ['model = "m"', ['base_url or preset is required']],
    ['base_url = "https://a.example/v1"', ['model is required with base_url']],
    ['preset = "local_runner"', ['model is required with this preset']],
    [
      'preset = "hosted_1"\nbase_url = "https://a.example/v1"',
      ['base_url and preset exclude each other; keep one of them'],
    ],
    [
      'preset = "hosted_9"',
      [
        'preset must be one of "groq", "cerebras", "together", "vllm", "ollama", "openrouter", "hosted_1", "hosted_2", "hosted_3", "local_server", "local_runner", "router"',
      ],
    ],
    ['preset = "hosted_1"\ntemperature = 2.1', ['temperature must be at most 2']],
  ])('refuses %j with all that is missing and nothing twice', (lines, rules) => {
    expect(errorsOf(llmTable(lines))).toEqual(rules.map((rule) => `llm.chat_compatible.${rule}`));
  });

  it('sends the router keys to the router alone', () => {
    const keys = 'router_order = ["a"]\nrouter_allow_fallbacks = false\nmodel = "m"';
    for (const way of [
      'preset = "router"',
      'base_url = "https://openrouter.ai/api/v1"',
      'base_url = "https://eu.openrouter.ai/v1"',
    ]) {
      expect(load(llmTable(`${way}\n${keys}`)).definition?.llm?.options).toMatchObject({
        routerOrder: ['a'],
        routerAllowFallbacks: false,
      });
    }
    for (const way of [
      'preset = "hosted_1"',
      'base_url = "https://openrouter.ai.example/v1"',
      'base_url = "https://notopenrouter.ai/v1"',
    ]) {
      expect(errorsOf(llmTable(`${way}\n${keys}`))).toEqual([
        'llm.chat_compatible.router_order is valid only with preset "openrouter" or with a base_url of OpenRouter',
        'llm.chat_compatible.router_allow_fallbacks is valid only with preset "openrouter" or with a base_url of OpenRouter',
      ]);
    }
  });

  it.each([
    ['max_tool_rounds = 0', 'max_tool_rounds must be at least 1'],
    ['max_tool_rounds = 33', 'max_tool_rounds must be at most 32'],
    ['context_window_tokens = 255', 'context_window_tokens must be at least 256'],
    ['context_window_tokens = 2000001', 'context_window_tokens must be at most 2000000'],
  ])('refuses %s', (line, rule) => {
    expect(
      errorsOf(changed(['provider = "chat_compatible"', `provider = "chat_compatible"\n${line}`])),
    ).toEqual([`llm.${rule}`]);
  });
});

describe('speech_compatible', () => {
  it.each(['http://10.0.0.7:8880/v1', 'https://tts.example/v1'])('connects to %s', (url) =>
    expect(load(ttsUrl(url)).definition?.tts?.options).toMatchObject({ baseUrl: url }),
  );

  it('sends a key over TLS alone', () => {
    const options = { env: { TTS_KEY: 'k' } };
    expect(errorsOf(ttsUrl('https://tts.example/v1', 'api_key_env = "TTS_KEY"'), options)).toEqual([]);
    expect(errorsOf(ttsUrl('http://10.0.0.7/v1', 'api_key_env = "TTS_KEY"'), options)).toEqual([
      'tts.speech_compatible.base_url must be an https:// address, because tts.api_key_env is set',
    ]);
  });

  it('delivers 24 kHz and nothing else', () => {
    expect(errorsOf(changed(['voice =', 'sample_rate = 24000\nvoice =']))).toEqual([]);
    for (const rate of [16_000, 48_000]) {
      expect(errorsOf(changed(['voice =', `sample_rate = ${rate}\nvoice =`]))).toEqual([
        'tts.sample_rate must be absent or exactly 24000 for this provider',
      ]);
    }
  });

  it.each([
    ['local_a', { model: 'speaches-ai/Kokoro-82M-v1.0-ONNX', format: 'pcm', warmText: 'Hello.' }],
    ['local_b', { model: 'kokoro', format: 'pcm', warmText: '' }],
    ['local_c', { model: 'chatterbox', format: 'wav', warmText: '' }],
    ['local_d', { model: 'tts-1', format: 'wav', warmText: '' }],
  ])('preset %s sets model, format and warm-up', (preset, expected) => {
    expect(load(changed(['local_b', preset])).definition?.tts?.options).toMatchObject({
      preset,
      ...expected,
    });
  });

  it('lets the file overrule a preset, an empty warm-up text included', () => {
    const text = changed(['"local_b"', '"local_a"\nmodel = "own"\nformat = "wav"\nwarm_text = ""']);
    expect(load(text).definition?.tts?.options).toMatchObject({ model: 'own', format: 'wav', warmText: '' });
  });

  it('needs base_url always, and a model for the generic preset', () => {
    expect(errorsOf(changed(['base_url = "http://127.0.0.1:8880/v1"\npreset = "local_b"', '']))).toEqual([
      'tts.speech_compatible.base_url is required',
      'tts.speech_compatible.model is required for preset "generic"',
    ]);
  });

  it.each([
    ['speed = 0.2', 'speed must be at least 0.25'],
    ['speed = 4.1', 'speed must be at most 4'],
    ['first_audio_timeout_ms = 499', 'first_audio_timeout_ms must be at least 500'],
    ['first_audio_timeout_ms = 120001', 'first_audio_timeout_ms must be at most 120000'],
    ['warm_interval_ms = 999', 'warm_interval_ms must be at least 1000'],
    ['warm_interval_ms = 3600001', 'warm_interval_ms must be at most 3600000'],
    ['format = "mp3"', 'format must be one of "pcm", "wav"'],
  ])('refuses %s', (line, rule) => {
    expect(errorsOf(changed(['preset = "local_b"', `preset = "local_b"\n${line}`]))).toEqual([
      `tts.speech_compatible.${rule}`,
    ]);
  });
});

const serversOf = (stage: StageName, name: string): [string, string][] =>
  Object.entries(findProvider(stage, name)?.facts.servers?.names ?? {});

describe("the vendor's own name", () => {
  const good = {
    stt: 'provider = "stt_local_ws"',
    llm: 'provider = "chat_compatible"\nchat_compatible = { preset = "ollama", model = "m" }',
    tts: 'provider = "speech_compatible"\nspeech_compatible = { base_url = "http://h/v1", preset = "kokoro" }',
  };
  const chosen = (stage: keyof typeof good, table: string): unknown => {
    const tables = { ...good, [stage]: `api_key_env = "KEY"\n${table}` };
    const sections = Object.entries(tables).map(([name, text]) => `[${name}]\n${text}\n`);
    const text = `[agent]\nname = "a"\nprompt = "p"\n${sections.join('')}`;
    const { definition, problems } = load(text, { env: { KEY: 'k' } });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    return definition?.[stage]?.options;
  };

  it.each(serversOf('llm', 'chat_compatible'))('%s stands for the preset %s', (alias, name) => {
    const of = (preset: string): unknown =>
      chosen(
        'llm',
        `provider = "openai_compatible"\nopenai_compatible = { preset = "${preset}", model = "m" }`,
      );
    expect(of(alias)).toEqual(of(name));
  });

  it.each(serversOf('tts', 'speech_compatible'))('%s stands for the preset %s', (alias, name) => {
    const of = (preset: string): unknown =>
      chosen(
        'tts',
        `provider = "openai_speech"\nopenai_speech = { base_url = "https://h/v1", preset = "${preset}" }`,
      );
    expect(of(alias)).toEqual(of(name));
  });

  it.each(serversOf('stt', 'stt_realtime_compat'))('%s stands for the dialect %s', (alias, name) => {
    const of = (dialect: string): unknown =>
      chosen(
        'stt',
        `provider = "openai_realtime"\nopenai_realtime = { dialect = "${dialect}", model = "m" }`,
      );
    expect(of(alias)).toEqual(of(name));
  });

  it('is known for every provider, with what choosing it takes', () => {
    for (const [stage, rows] of Object.entries(declarations))
      for (const { name, aliases, facts } of rows) {
        // Models that speak have the vendor's name alone.
        if (stage !== 'realtime') expect(aliases, name).not.toEqual([]);
        expect(facts.vendor, name).not.toBe('');
      }
  });
});
