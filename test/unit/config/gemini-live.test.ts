/** `[realtime.gemini_live]`: how models and places differ, and what is refused. */
import { describe, expect, it } from 'vitest';
import { errorsOf, goodFile, load } from './agent-text.ts';

const withGemini = (options = '', keys = 'api_key_env = "K"'): string =>
  `${goodFile}\n[realtime]\nprovider = "gemini_live"\n${keys}\n[realtime.gemini_live]\n${options}\n`;
const optionsOf = (options: string): unknown => load(withGemini(options)).definition?.realtime?.options;

const geminiPath = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const vertexPath = '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent';
const vertex = 'project = "p-1"\nlocation = "europe-west4"';

describe('[realtime.gemini_live]', () => {
  it('is the newest model of the Gemini API where the file says nothing', () => {
    expect(optionsOf('')).toEqual({
      model: 'gemini-3.8-live',
      baseUrl: 'wss://generativelanguage.googleapis.com',
      path: geminiPath,
      seeding: 'history',
      contextUpdate: true,
      behavior: 'BLOCKING',
      takesLanguage: true,
    });
  });

  it.each([
    [
      'gemini-3.8-live-extended-thinking',
      { seeding: 'history', contextUpdate: true, behavior: 'NON_BLOCKING' },
    ],
    ['gemini-3.10-live', { seeding: 'history', contextUpdate: true, behavior: 'BLOCKING' }],
    ['gemini-4-live', { seeding: 'history', contextUpdate: true, behavior: 'BLOCKING' }],
    ['our-own-live', { seeding: 'history', contextUpdate: true, behavior: 'BLOCKING' }],
    ['gemini-3.1-flash-live-preview', { seeding: 'history', contextUpdate: false }],
    ['gemini-2.5-flash-native-audio-preview-12-2025', { seeding: 'content', contextUpdate: false }],
    ['gemini-live-2.5-flash-native-audio', { seeding: 'content', contextUpdate: false }],
  ])('knows of %s by its number what it takes', (model, traits) => {
    const read = optionsOf(`model = "${model}"`) as object;
    expect(read).toMatchObject(traits);
    expect('behavior' in read).toBe('behavior' in traits);
  });

  it('lets the file decide', () => {
    expect(optionsOf('seeding = "content"\ncontext_update = false')).toMatchObject({
      seeding: 'content',
      contextUpdate: false,
    });
  });

  it.each([
    ['europe-west4', 'wss://europe-west4-aiplatform.googleapis.com'],
    ['global', 'wss://aiplatform.googleapis.com'],
  ])('goes to Vertex AI in %s', (location, baseUrl) => {
    expect(optionsOf(`project = "p-1"\nlocation = "${location}"`)).toMatchObject({
      baseUrl,
      path: vertexPath,
      vertex: { project: 'p-1', location },
      seeding: 'content',
      contextUpdate: false,
      takesLanguage: false,
    });
  });

  it('takes an address with the path of the service and without', () => {
    for (const address of ['wss://proxy.example.com/google', `wss://proxy.example.com/google${geminiPath}`])
      expect(optionsOf(`base_url = "${address}"`)).toMatchObject({
        baseUrl: 'wss://proxy.example.com/google',
        path: geminiPath,
      });
    expect(optionsOf(`${vertex}\nbase_url = "ws://127.0.0.1:9"`)).toMatchObject({
      baseUrl: 'ws://127.0.0.1:9',
      path: vertexPath,
    });
  });

  it.each([
    ['project = "p-1"', 'realtime.gemini_live.location is required with project'],
    ['location = "global"', 'realtime.gemini_live.project is required with location'],
    ['model = "models/gemini-3.8-live"', 'realtime.gemini_live.model must be letters, digits, ., _ and -'],
    ['base_url = "ws://gemini.example.com"', 'realtime.gemini_live.base_url'],
    ['thinking_level = "deep"', 'realtime.gemini_live.thinking_level must be one of'],
    ['context_tokens = 100', 'realtime.gemini_live.context_tokens'],
  ])('refuses %j', (options, message) => {
    expect(errorsOf(withGemini(options)).join('\n')).toContain(message);
    expect(errorsOf(withGemini(options))).toHaveLength(1);
  });

  it('needs a key', () => {
    expect(errorsOf(withGemini('', ''))).toEqual([expect.stringContaining('realtime.api_key_env')]);
  });
});
