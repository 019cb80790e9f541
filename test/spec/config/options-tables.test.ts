/** The tables of docs/reference/agent-file.md for stages, providers and secondaries, row by row. */
import { describe, it, expect } from 'vitest';
import { loadAgentFile } from '../../../shared/config/load.ts';
import type { LoadedAgent } from '../../../shared/config/load.ts';

type StageName = 'stt' | 'llm' | 'tts';

const good: Readonly<Record<StageName, string>> = {
  stt: '[stt]\nprovider = "stt_local_ws"',
  llm: '[llm]\nprovider = "llm_generate"\napi_key_env = "KEY"',
  tts: '[tts]\nprovider = "tts_cloud_c"\napi_key_env = "KEY"',
};

/** Loads a file whose stage is `text`; the other stages are good. */
function load(stage: StageName, text: string, leftOut: readonly string[] = []): LoadedAgent {
  const stages = Object.values({ ...good, [stage]: text }).join('\n');
  const file = `[agent]\nname = "desk"\nlanguage = "tr-TR"\nprompt = "Be brief."\n${stages}\n`;
  return loadAgentFile(file, {
    env: { KEY: 'k' },
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
    leftOut,
  });
}

const errors = (loaded: LoadedAgent): string[] =>
  loaded.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);

const cloud = (stage: StageName, provider: string, lines = '', own = ''): string =>
  `[${stage}]\nprovider = "${provider}"\napi_key_env = "KEY"\n${own}\n[${stage}.${provider}]\n${lines}`;

const voice = 'voice = "v"';

describe('every provider of the specification', () => {
  it.each([
    ['stt', 'stt_cloud_a', { baseUrl: 'wss://api.deepgram.com', endpointingMs: 300, smartFormat: true }],
    ['stt', 'stt_cloud_b', { baseUrl: 'wss://streaming.assemblyai.com', speechModel: 'whisper-rt' }],
    ['stt', 'stt_cloud_c', { baseUrl: 'https://api.gladia.io', codeSwitching: false }],
    ['stt', 'stt_realtime_compat', { dialect: 'dialect_a', wire: 'openai', finalizeTimeoutMs: 2000 }],
    ['llm', 'llm_responses', { baseUrl: 'https://api.openai.com/v1', reasoningEffort: 'disabled' }],
    ['llm', 'llm_messages', { maxTokens: 1024, thinking: 'disabled' }],
    ['llm', 'llm_generate', { thinkingLevel: 'minimal' }],
    ['tts', 'tts_cloud_a', { url: 'wss://api.cartesia.ai/tts/websocket' }],
    ['tts', 'tts_cloud_b', { url: 'wss://api.elevenlabs.io' }],
    ['tts', 'tts_cloud_c', { url: 'wss://api.deepgram.com/v1/speak' }],
  ] as const)('%s %s loads without its options table and gives its defaults', (stage, provider, expected) => {
    const own = stage === 'tts' ? voice : '';
    const loaded = load(stage, `[${stage}]\nprovider = "${provider}"\napi_key_env = "KEY"\n${own}`);
    expect(loaded.problems).toEqual([]);
    expect(loaded.definition?.[stage]).toMatchObject({ provider, options: expected });
  });

  it.each([
    ['stt', 'stt_cloud_a'],
    ['stt', 'stt_cloud_b'],
    ['stt', 'stt_cloud_c'],
    ['llm', 'llm_responses'],
    ['llm', 'llm_messages'],
    ['llm', 'llm_generate'],
    ['tts', 'tts_cloud_a'],
    ['tts', 'tts_cloud_b'],
    ['tts', 'tts_cloud_c'],
  ] as const)('%s %s needs api_key_env', (stage, provider) => {
    const found = errors(
      load(stage, `[${stage}]\nprovider = "${provider}"\n${stage === 'tts' ? voice : ''}`),
    );
    expect(found).toEqual([`${stage}.api_key_env is required for this provider`]);
  });

  it('is refused by a build without it, with both of its names', () => {
    expect(errors(load('stt', cloud('stt', 'deepgram'), ['stt_cloud_a']))).toEqual([
      'stt.provider names deepgram (stt_cloud_a), but the build feature "stt_cloud_a" is off: this version does not hold it',
    ]);
  });
});

describe('stt.stt_realtime_compat', () => {
  it('needs api_key_env for the cloud dialect alone', () => {
    const of = (lines: string): string =>
      `[stt]\nprovider = "stt_realtime_compat"\n[stt.stt_realtime_compat]\n${lines}`;
    expect(errors(load('stt', of('')))).toEqual(['stt.api_key_env is required for openai']);
    expect(errors(load('stt', of('dialect = "dialect_b"')))).toEqual([]);
    for (const dialect of ['dialect_c', 'dialect_d']) {
      expect(errors(load('stt', of(`dialect = "${dialect}"`)))).toEqual([
        `stt.stt_realtime_compat.model is required for ${dialect}`,
      ]);
      expect(errors(load('stt', of(`dialect = "${dialect}"\nmodel = "m"`)))).toEqual([]);
    }
  });

  it('adds punctuation by default for one dialect', () => {
    const on = ['dialect_a', 'dialect_b', 'dialect_c', 'dialect_d'].filter((dialect) => {
      const { definition } = load(
        'stt',
        cloud('stt', 'stt_realtime_compat', `dialect = "${dialect}"\nmodel = "m"`),
      );
      return definition?.stt?.provider === 'stt_realtime_compat' && definition.stt?.options.punctuation;
    });
    expect(on).toEqual(['dialect_b']);
  });

  it('counts the prompt in bytes', () => {
    const of = (prompt: string): string[] =>
      errors(load('stt', cloud('stt', 'stt_realtime_compat', `prompt = "${prompt}"`)));
    expect(of('ş'.repeat(2048))).toEqual([]);
    expect(of('ş'.repeat(2049))).toEqual(['stt.stt_realtime_compat.prompt must be at most 4096 bytes long']);
  });
});

describe('bounds of options', () => {
  const long = (count: number): string => `[${Array.from({ length: count }, () => '"a"').join(', ')}]`;
  it.each([
    ['stt', 'stt_cloud_a', 'endpointing_ms', ['0', '10000'], ['-1', '10001']],
    ['stt', 'stt_cloud_a', 'utterance_end_ms', ['1000', '5000'], ['999', '5001']],
    ['stt', 'stt_cloud_a', 'keyterms', [long(100)], [long(101)]],
    ['stt', 'stt_cloud_a', 'region', ['"global"', '"eu"', '"au"', '"india"'], ['"us"']],
    ['stt', 'stt_cloud_b', 'region', ['"edge"', '"us"', '"eu"'], ['"au"']],
    ['stt', 'stt_cloud_b', 'keyterms', [long(100)], [long(101)]],
    ['stt', 'stt_cloud_c', 'region', ['"us_west"', '"eu_west"'], ['"eu"']],
    ['stt', 'stt_cloud_c', 'endpointing_ms', ['10', '10000'], ['9', '10001']],
    ['stt', 'stt_cloud_c', 'vocabulary', [long(100)], [long(101)]],
    ['stt', 'stt_realtime_compat', 'min_commit_ms', ['0', '2000'], ['-1', '2001']],
    ['stt', 'stt_realtime_compat', 'finalize_timeout_ms', ['100', '10000'], ['99', '10001']],
    ['llm', 'llm_responses', 'reasoning_effort', ['"disabled"', '"max"'], ['"none"']],
    ['llm', 'llm_messages', 'effort', ['"low"', '"xhigh"', '"max"'], ['"disabled"']],
    ['llm', 'llm_generate', 'thinking_level', ['"minimal"', '"high"'], ['"max"']],
    ['llm', 'llm_generate', 'temperature', ['0', '2'], ['-0.1', '2.1']],
    ['tts', 'tts_cloud_a', 'max_buffer_delay_ms', ['0', '5000'], ['-1', '5001']],
    ['tts', 'tts_cloud_b', 'stability', ['0', '1'], ['-0.1', '1.1']],
    ['tts', 'tts_cloud_b', 'similarity_boost', ['0', '1'], ['-0.1', '1.1']],
    ['tts', 'tts_cloud_b', 'style', ['0', '1'], ['-0.1', '1.1']],
    ['tts', 'tts_cloud_b', 'speed', ['0.7', '1.2'], ['0.69', '1.21']],
    ['tts', 'tts_cloud_c', 'speed', ['0.7', '1.5'], ['0.69', '1.51']],
  ] as const)('%s.%s.%s hold at both ends', (stage, provider, key, inside, outside) => {
    const found = (value: string): LoadedAgent =>
      load(stage, cloud(stage, provider, `${key} = ${value}`, stage === 'tts' ? voice : ''));
    for (const value of inside) expect(found(value).problems).toEqual([]);
    for (const value of outside) {
      expect(errors(found(value))).toEqual([
        expect.stringMatching(new RegExp(`^${stage}\\.${provider}\\.${key} must `)),
      ]);
    }
  });

  it('max_turn_silence_ms is at least min_turn_silence_ms', () => {
    const of = (most: number): LoadedAgent =>
      load('stt', cloud('stt', 'stt_cloud_b', `min_turn_silence_ms = 400\nmax_turn_silence_ms = ${most}`));
    expect(of(400).problems).toEqual([]);
    expect(errors(of(399))).toEqual([
      'stt.stt_cloud_b.max_turn_silence_ms must be at least min_turn_silence_ms',
    ]);
  });

  it('effort xhigh or max is refused without thinking', () => {
    for (const effort of ['xhigh', 'max']) {
      for (const thinking of ['disabled', 'between_tools']) {
        const lines = `effort = "${effort}"\nthinking = "${thinking}"`;
        expect(errors(load('llm', cloud('llm', 'llm_messages', lines)))).toEqual([
          'llm.llm_messages.effort must be high or lower while thinking is disabled or between_tools',
        ]);
      }
      expect(errors(load('llm', cloud('llm', 'llm_messages', `effort = "${effort}"`)))).toEqual([]);
    }
  });
});

describe('endpoint overrides', () => {
  const rows = [
    ['stt', 'stt_cloud_a', 'base_url', 'ws'],
    ['stt', 'stt_cloud_b', 'base_url', 'ws'],
    ['stt', 'stt_cloud_c', 'base_url', 'http'],
    ['llm', 'llm_responses', 'base_url', 'http'],
    ['llm', 'llm_messages', 'base_url', 'http'],
    ['llm', 'llm_generate', 'base_url', 'http'],
    ['tts', 'tts_cloud_a', 'url', 'ws'],
    ['tts', 'tts_cloud_b', 'url', 'ws'],
    ['tts', 'tts_cloud_c', 'url', 'ws'],
  ] as const;
  it.each(rows)('%s.%s.%s is encrypted or leads to loopback, and is never repeated', (...row) => {
    const [stage, provider, key, family] = row;
    const of = (url: string): string[] =>
      errors(load(stage, cloud(stage, provider, `${key} = "${url}"`, stage === 'tts' ? voice : '')));
    for (const url of [
      `${family}s://canary.example/x`,
      `${family}://localhost:1`,
      `${family}://127.0.0.9`,
      `${family}://[::1]:9/`,
    ])
      expect(of(url)).toEqual([]);
    for (const url of [
      `${family}://canary.example`,
      `${family}://10.0.0.1`,
      `${family}://localhost.canary`,
      'ftp://canary',
      `${family}s://user:canary@a.example`,
    ]) {
      const found = of(url);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(new RegExp(`^${stage}\\.${provider}\\.${key} must `));
      expect(found[0]).not.toContain('canary');
    }
  });
});

describe('tts keys', () => {
  it.each(['tts_cloud_a', 'tts_cloud_b'])('%s needs a voice', (provider) => {
    expect(errors(load('tts', cloud('tts', provider)))).toEqual(['tts.voice is required for this provider']);
  });

  it.each([
    ['tts_cloud_a', [8000, 22_050, 48_000], [11_025, 32_000]],
    ['tts_cloud_b', [8000, 22_050, 48_000], [11_025, 32_000]],
    ['tts_cloud_c', [8000, 24_000, 48_000], [22_050, 44_100]],
  ] as const)('%s takes the rates that it delivers', (provider, good, bad) => {
    const of = (rate: number): string[] =>
      errors(load('tts', cloud('tts', provider, '', `${voice}\nsample_rate = ${rate}`)));
    for (const rate of good) expect(of(rate)).toEqual([]);
    for (const rate of bad)
      expect(of(rate)).toEqual([expect.stringContaining('tts.sample_rate must be one of')]);
  });

  it('take the language tag as it is written', () => {
    const { definition } = load('tts', cloud('tts', 'tts_cloud_a', '', voice));
    expect([definition?.tts?.language, definition?.stt?.language]).toEqual(['tr-TR', 'tr-TR']);
  });
});

describe('secondary providers', () => {
  const second = (stage: StageName, lines: string): LoadedAgent =>
    load(stage, `${good[stage]}\n[${stage}.secondary]\n${lines}`);

  it('take the same keys as the stage', () => {
    const lines = 'provider = "deepgram"\napi_key_env = "KEY"\n[stt.secondary.deepgram]\nregion = "eu"';
    const { definition, problems } = second('stt', lines);
    expect(problems).toEqual([]);
    expect(definition?.stt?.secondary).toMatchObject({
      provider: 'stt_cloud_a',
      options: { baseUrl: 'wss://api.eu.deepgram.com' },
    });
    expect(definition?.stt?.secondary?.apiKey?.reveal()).toBe('k');
  });

  it.each([
    ['stt', 'language = "en"'],
    ['tts', 'language = "en"'],
    ['tts', 'sample_rate = 24000'],
    ['llm', 'max_tool_rounds = 3'],
    ['llm', 'context_window_tokens = 4000'],
    ['stt', 'secondary = {}'],
    ['llm', 'secondary = {}'],
    ['tts', 'secondary = {}'],
  ] as const)('of %s may not set %s', (stage, line) => {
    const provider = { stt: 'stt_cloud_a', llm: 'llm_messages', tts: 'tts_cloud_c' }[stage];
    const own = stage === 'tts' ? voice : '';
    const found = errors(second(stage, `provider = "${provider}"\napi_key_env = "KEY"\n${own}\n${line}`));
    expect(found).toEqual([expect.stringContaining('is not a key of a secondary')]);
  });

  it('may say when they are asked as well', () => {
    const lines = 'provider = "llm_messages"\napi_key_env = "KEY"';
    const hedge = (more: string): unknown => second('llm', `${lines}\n${more}`).definition?.llm?.secondary;
    expect(hedge('')).toMatchObject({ hedgeAfterMs: 3_000 });
    expect(hedge('hedge_after_ms = 800')).toMatchObject({ hedgeAfterMs: 800 });
    expect(errors(second('llm', `${lines}\nhedge_after_ms = 49`))).toEqual([
      'llm.secondary.hedge_after_ms must be at least 50',
    ]);
  });

  it('of TTS need a voice of their own', () => {
    expect(errors(second('tts', 'provider = "tts_cloud_c"\napi_key_env = "KEY"'))).toEqual([
      'tts.secondary.voice is required',
    ]);
  });

  it('are checked against the rate of the call', () => {
    const text = `${good.tts}\nsample_rate = 48000\n[tts.secondary]\nprovider = "speech_compatible"\n${voice}\n[tts.secondary.speech_compatible]\nbase_url = "http://127.0.0.1/v1"\npreset = "local_b"`;
    expect(errors(load('tts', text))).toEqual([
      'tts.sample_rate must be absent or exactly 24000 for speech_compatible in tts.secondary',
    ]);
  });

  it('without their key in the environment stop the start', () => {
    expect(errors(second('llm', 'provider = "llm_messages"\napi_key_env = "OTHER"'))).toEqual([
      'llm.secondary.api_key_env names the environment variable OTHER, which is not set',
    ]);
  });
});
