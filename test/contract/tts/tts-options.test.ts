/** Every option of a streaming voice reaches the wire (docs/reference/agent-file.md, `[tts]`). */
import { describe, expect, it } from 'vitest';
import type { TtsAccess, TtsEvent, TtsStage } from '../../../worker/stages/stage.ts';
import { newTtsCartesia } from '../../../worker/stages/tts/cartesia/adapter.ts';
import { newTtsElevenLabs } from '../../../worker/stages/tts/elevenlabs/adapter.ts';
import { newTtsDeepgramAura } from '../../../worker/stages/tts/deepgram/adapter.ts';
import { FakeAura } from '../../support/fakes/fake-aura.ts';
import { FakeCartesia } from '../../support/fakes/fake-cartesia.ts';
import { FakeElevenLabs } from '../../support/fakes/fake-elevenlabs.ts';
import type { FakeVoice, FakeVoiceConnection } from '../../support/fakes/fake-voice.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

type NewStage = (address: string) => TtsStage;
const access = { apiKey: 'key-1', language: 'tr-TR', voice: 'voice-1', sampleRate: 16_000 };
const a =
  (more: object = {}): NewStage =>
  (address) =>
    newTtsCartesia({
      ...access,
      model: 'sonic-3',
      maxBufferDelayMs: 0,
      url: `${address}/tts/websocket`,
      ...more,
    });
const b =
  (more: object = {}): NewStage =>
  (address) =>
    newTtsElevenLabs({ ...access, model: 'eleven_flash_v2_5', url: address, ...more });
const c =
  (more: object = {}): NewStage =>
  (address) =>
    newTtsDeepgramAura({ ...access, url: `${address}/v1/speak`, ...more });

/** Speaks once and gives what the server saw. */
async function seen(server: FakeVoice, newStage: NewStage): Promise<FakeVoiceConnection> {
  await server.start();
  const events = new Events<TtsEvent>();
  const session = newStage(server.address).open(newStageContext(), events.sink);
  session.speak(1, 'Hello.');
  session.flush(1);
  await events.seen('flushed');
  session.close();
  await server.close();
  return server.last;
}

describe('the options of tts_cloud_a', () => {
  it.each([
    ['model', { model: 'sonic-9' }, { model_id: 'sonic-9' }],
    ['max_buffer_delay_ms', { maxBufferDelayMs: 250 }, { max_buffer_delay_ms: 250 }],
    ['voice', {}, { voice: { mode: 'id', id: 'voice-1' } }],
    ['language', {}, { language: 'tr' }],
    ['sample_rate', {}, { output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 } }],
  ])('%s reaches the wire', async (_key, options, sent) => {
    const { messages, headers, url } = await seen(new FakeCartesia(), a(options));
    for (const message of messages) expect(message).toMatchObject(sent);
    expect(headers['x-api-key']).toBe('key-1');
    expect(headers['cartesia-version']).toBe('2026-03-01');
    expect(url.href).not.toContain('key-1');
    expect(url.pathname).toBe('/tts/websocket');
  });
});

describe('the options of tts_cloud_b', () => {
  it.each([
    ['stability', { stability: 0 }, { stability: 0 }],
    ['similarity_boost', { similarityBoost: 0.7 }, { similarity_boost: 0.7 }],
    ['style', { style: 0.2 }, { style: 0.2 }],
    ['speed', { speed: 1.1 }, { speed: 1.1 }],
    ['use_speaker_boost', { useSpeakerBoost: false }, { use_speaker_boost: false }],
    ['none', {}, {}],
  ])('%s reaches the wire, and nothing that is not set', async (_key, options, settings) => {
    const { messages, headers, url } = await seen(new FakeElevenLabs(), b(options));
    expect(messages[0]!['voice_settings']).toEqual(settings);
    expect(headers['xi-api-key']).toBe('key-1');
    expect(url.pathname).toBe('/v1/text-to-speech/voice-1/multi-stream-input');
    expect(url.searchParams.get('model_id')).toBe('eleven_flash_v2_5');
    expect(url.searchParams.get('output_format')).toBe('pcm_16000');
    expect(url.searchParams.get('language_code')).toBe('tr');
  });

  it('sends no language to a model that takes none', async () => {
    const { url } = await seen(new FakeElevenLabs(), b({ model: 'eleven_multilingual_v2' }));
    expect(url.searchParams.get('model_id')).toBe('eleven_multilingual_v2');
    expect(url.searchParams.has('language_code')).toBe(false);
  });

  it('keeps the connection alive every 10 s', async () => {
    const server = new FakeElevenLabs();
    await server.start();
    const clock = newVirtualClock();
    const session = b()(server.address).open(newStageContext(clock), () => undefined);
    await server.until(() => server.connections.length === 1);
    for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10_000);
    await server.until(() => server.messages.length === 1);
    expect(server.messages).toEqual([{ text: '' }]);
    session.close();
    await server.close();
  });
});

describe('the options of tts_cloud_c', () => {
  it.each([
    ['speed', { speed: 0.9 }, '0.9'],
    ['no speed', {}, null],
  ])('%s reaches the wire', async (_key, options, speed) => {
    const { headers, url } = await seen(new FakeAura(), c(options));
    expect(url.searchParams.get('speed')).toBe(speed);
    expect(url.searchParams.get('model')).toBe('voice-1');
    expect(url.searchParams.get('encoding')).toBe('linear16');
    expect(url.searchParams.get('sample_rate')).toBe('16000');
    expect(headers.authorization).toBe('Token key-1');
  });
});

describe('a key of a streaming voice', () => {
  it('is sent over TLS or to this machine alone', () => {
    const far = 'ws://voice.lan';
    const all: ((more: Partial<TtsAccess>) => NewStage)[] = [a, b, c];
    for (const newStage of all) {
      expect(() => newStage({})(far)).toThrow('TLS');
      expect(() => newStage({ apiKey: 'a\nb' })(far)).toThrow('printable');
    }
  });
});
