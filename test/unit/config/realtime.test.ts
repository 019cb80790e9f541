import { describe, expect, it } from 'vitest';
import { packagesIn } from '../../../shared/config/stages/package.ts';
import { stageDefinitions } from '../../../worker/host/definition.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { errorsOf, goodFile, load } from './agent-text.ts';

const withRealtime = (keys: string, options = ''): string =>
  `${goodFile}\n[realtime]\nprovider = "openai_realtime"\n${keys}\n[realtime.openai_realtime]\n${options}\n`;
const hosted = (options = '', keys = ''): string => withRealtime(`api_key_env = "K"\n${keys}`, options);
const read = (text: string) => load(text).definition?.realtime;
const messagesOf = (text: string): string[] => load(text).problems.map(({ message }) => message);

describe('[realtime]', () => {
  it('is absent where the file has none', () => {
    expect(load(goodFile).definition).not.toHaveProperty('realtime');
  });

  it('has the words of [stt], the voice of the model, and the language of the agent', () => {
    expect(read(hosted())).toEqual({
      provider: 'openai_realtime',
      apiKeyEnv: 'K',
      output: 'audio',
      words: 'own',
      language: 'en',
      options: {
        dialect: dialects.openai,
        followsLine: true,
        baseUrl: 'wss://api.openai.com',
        model: 'gpt-realtime-2.1',
      },
    });
  });

  it('takes everything that the file says', () => {
    const options = `model = "gpt-realtime-2"
reasoning_effort = "low"
speed = 1.2
transcription_model = "gpt-4o-transcribe"
max_output_tokens = 512
path_and_query = "/realtime?model=x"`;
    expect(read(hosted(options, 'voice = "marin"\noutput = "text"\nwords = "vendor"'))).toMatchObject({
      voice: 'marin',
      output: 'text',
      words: 'vendor',
      options: {
        model: 'gpt-realtime-2',
        reasoningEffort: 'low',
        speed: 1.2,
        transcriptionModel: 'gpt-4o-transcribe',
        maxOutputTokens: 512,
        pathAndQuery: '/realtime?model=x',
      },
    });
  });

  it('may have the sound of telephones, where the server takes it and the voice has its rate', () => {
    const telephone = hosted('audio_format = "pcmu"');
    const rates = { inputRate: 8_000, outputRate: 8_000 } as const;
    expect(read(telephone)?.options).toEqual({
      dialect: { ...dialects.openai, ...rates, inputLaw: 'mulaw', outputLaw: 'mulaw' },
      baseUrl: 'wss://api.openai.com',
      model: 'gpt-realtime-2.1',
    });
    expect(read(hosted('audio_format = "pcma"'))?.options).toMatchObject({
      dialect: { ...rates, inputLaw: 'alaw', outputLaw: 'alaw' },
    });
    const hint =
      'realtime.openai_realtime.audio_format saves little unless tts.sample_rate is 8000: answers are brought to that rate, and back to the telephone';
    expect(messagesOf(telephone)).toContain(hint);
    const fitting = telephone.replace('[tts]\n', '[tts]\nsample_rate = 8000\n');
    expect(messagesOf(fitting)).not.toContain(hint);
    expect(read(hosted('audio_format = "pcm"'))?.options).not.toHaveProperty('followsLine');
    // Another server may not take what the service does that it stands in for.
    expect(read(hosted('base_url = "ws://127.0.0.1:8080"'))?.options).not.toHaveProperty('followsLine');
    const azure = hosted('dialect = "azure"\nmodel = "m"\nbase_url = "wss://r.openai.azure.com"');
    expect(read(azure)?.options).toMatchObject({ followsLine: true });
    for (const dialect of ['localai', 'speaches'])
      expect(
        errorsOf(withRealtime('', `dialect = "${dialect}"\nmodel = "m"\naudio_format = "pcmu"`)),
      ).toEqual([`realtime.openai_realtime.audio_format must be absent or pcm for ${dialect}`]);
  });

  it('reaches the adapter with its key, and its key is known to what hides keys', () => {
    const { definition } = load(hosted('', 'voice = "marin"'), { env: { K: 'key-1' } });
    expect(stageDefinitions(definition!).realtime?.primary.access).toEqual({
      apiKey: 'key-1',
      language: 'en',
      sampleRate: 24_000,
      voice: 'marin',
      output: 'audio',
      words: 'own',
    });
  });

  it.each([
    ['azure', ['base_url', 'model']],
    ['azure_preview', ['base_url', 'model']],
    ['localai', ['model']],
    ['speaches', ['model']],
  ])('of %s asks for %j', (dialect, missing) => {
    expect(errorsOf(hosted(`dialect = "${dialect}"`))).toEqual(
      missing.map((key) => `realtime.openai_realtime.${key} is required for ${dialect}`),
    );
  });

  it.each(['openai', 'xai'])('of %s, which is hosted, asks for a key', (dialect) => {
    expect(errorsOf(withRealtime('', `dialect = "${dialect}"`))).toEqual([
      `realtime.api_key_env is required for ${dialect}`,
    ]);
  });

  it('of a server of one’s own needs no key', () => {
    const text = withRealtime('', 'dialect = "localai"\nmodel = "m"');
    expect(read(text)?.options).toEqual({
      dialect: dialects.localai,
      baseUrl: 'ws://127.0.0.1:8080',
      model: 'm',
    });
  });

  it('that stands in for a hosted service on this machine needs no key', () => {
    const text = withRealtime('', 'base_url = "ws://127.0.0.1:8087"');
    expect(read(text)?.options).toMatchObject({ baseUrl: 'ws://127.0.0.1:8087', model: 'gpt-realtime-2.1' });
    expect(errorsOf(withRealtime('', 'base_url = "wss://models.example"'))).toEqual([
      'realtime.api_key_env is required for openai',
    ]);
  });

  it('warns of a server whose own turns are the rule', () => {
    expect(messagesOf(hosted('dialect = "xai"')).at(-1)).toBe(
      'realtime.openai_realtime.dialect names xai, where turns that this service ends are not known to work well: try it before callers do',
    );
  });

  it.each([
    'gpt-realtime',
    'gpt-realtime-mini',
    'gpt-realtime-1.5',
    'gpt-realtime-2025-08-28',
    'gpt-4o-realtime-preview',
  ])('refuses to have %s think, because it would refuse the whole session', (model) => {
    expect(errorsOf(hosted(`model = "${model}"\nreasoning_effort = "low"`))).toEqual([
      'realtime.openai_realtime.reasoning_effort is for gpt-realtime-2 and later models alone',
    ]);
  });

  it.each(['gpt-realtime-2', 'gpt-realtime-2.1-mini', 'gpt-realtime-3', 'my-deployment'])(
    'lets %s think',
    (model) => {
      expect(errorsOf(hosted(`model = "${model}"\nreasoning_effort = "low"`))).toEqual([]);
    },
  );

  it.each([
    ['provider = "acme"', 'realtime.provider must be one of openai_realtime, gemini_live'],
    [
      'provider = "openai_realtime"\nlanguage = "en"',
      'realtime.language is not a key of [realtime]: agent.language decides',
    ],
    ['provider = "openai_realtime"\noutput = "both"', 'realtime.output must be one of "audio", "text"'],
    ['provider = "openai_realtime"\nwords = "none"', 'realtime.words must be one of "own", "vendor"'],
  ])('refuses %j', (lines, message) => {
    expect(errorsOf(`${goodFile}\n[realtime]\napi_key_env = "K"\n${lines}\n`)).toContain(message);
  });

  it('has no secondary: the three stages are what calls go on with', () => {
    expect(errorsOf(`${hosted()}\n[realtime.secondary]\nprovider = "openai_realtime"\n`)).toEqual([
      'realtime.secondary is not a key of [realtime]: calls go on with [stt], [llm] and [tts]',
    ]);
  });

  it('sends a key only where nobody can read it', () => {
    expect(errorsOf(hosted('base_url = "wss://models.example/v1/realtime"'))).toEqual([
      'realtime.openai_realtime.base_url must have no path; the key path_and_query takes it',
    ]);
    expect(errorsOf(hosted('base_url = "ws://models.example"'))).toEqual([
      'realtime.openai_realtime.base_url must be a wss:// address or lead to a loopback host, because realtime.api_key_env is set',
    ]);
  });

  it('says with "own" words that [stt] is needed', () => {
    const text = hosted('', 'words = "own"').replace(/\[stt\][^]*?(?=\[llm\])/, '');
    expect(errorsOf(text)).toContain('realtime.words needs the section [stt] when it is "own"');
  });

  it('may come from a package', () => {
    const text = `${goodFile}\n[realtime]\nprovider = "npm:@acme/speaking"\nwords = "vendor"\n[realtime.options]\nlevel = 3\n`;
    expect(packagesIn(text)).toEqual(['npm:@acme/speaking']);
    const speaking = { contract: 1, open: () => undefined, options: (value: unknown) => ({ value }) };
    const packages = new Map([['npm:@acme/speaking', { ok: true, value: { realtime: speaking } } as const]]);
    expect(load(text, { packages }).definition?.realtime).toEqual({
      provider: 'npm:@acme/speaking',
      options: { level: 3 },
      output: 'audio',
      words: 'vendor',
      language: 'en',
    });
  });

  it('that a build leaves out is named with its build feature', () => {
    expect(errorsOf(hosted(), { leftOut: ['openai_realtime'] })).toEqual([
      'realtime.provider names openai_realtime, but the build feature "openai_realtime" is off: this version does not hold it',
    ]);
  });
});
