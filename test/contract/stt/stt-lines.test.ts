/** What each recogniser's stage does on its own kind of line: credentials, keep-alive, refusals inside it, farewells. */
import { afterEach, describe, expect, it } from 'vitest';
import type { SttEvent, SttSession, SttStage } from '../../../worker/stages/stage.ts';
import { newSttDeepgram } from '../../../worker/stages/stt/deepgram/adapter.ts';
import { newSttAssemblyAi } from '../../../worker/stages/stt/assemblyai/adapter.ts';
import { newSttGladia } from '../../../worker/stages/stt/gladia/adapter.ts';
import { newSttRealtimeCompat } from '../../../worker/stages/stt/realtime-compat/adapter.ts';
import { FakeAssemblyAi } from '../../support/fakes/fake-assemblyai.ts';
import { FakeDeepgram } from '../../support/fakes/fake-deepgram.ts';
import { FakeGladia } from '../../support/fakes/fake-gladia.ts';
import type { FakeRecogniser } from '../../support/fakes/fake-recogniser.ts';
import { FakeSttRealtime } from '../../support/fakes/fake-stt-realtime.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import type { VirtualClock } from '../../support/core/virtual-clock.ts';

const apiKey = 'a-secret-key';
const deepgramStage = (server: FakeRecogniser): SttStage =>
  newSttDeepgram({
    baseUrl: server.baseUrl,
    apiKey,
    language: 'tr-TR',
    model: 'nova-3',
    endpointingMs: 300,
    smartFormat: true,
  });
const assemblyAiStage = (server: FakeRecogniser): SttStage =>
  newSttAssemblyAi({
    baseUrl: server.baseUrl,
    apiKey,
    language: 'en',
    speechModel: 'universal-streaming-english',
    formatTurns: false,
  });
const gladiaStage = (server: FakeRecogniser): SttStage =>
  newSttGladia({
    baseUrl: `http://${server.host}`,
    apiKey,
    language: 'en',
    model: 'solaria-1',
    region: 'eu_west',
    codeSwitching: false,
    endpointingMs: 300,
  });
const realtime = (server: FakeRecogniser): SttStage =>
  newSttRealtimeCompat({
    baseUrl: server.baseUrl,
    apiKey,
    language: 'en',
    dialect: 'dialect_a',
    wire: 'openai',
    model: 'a-model',
    punctuation: false,
    deltaReplaces: false,
    minCommitMs: 100,
    finalizeTimeoutMs: 2000,
    sampleRate: 24_000,
  });

describe('the line of a recogniser', () => {
  let server: FakeRecogniser;
  let stage: SttStage;
  let session: SttSession;
  let events: Events<SttEvent>;
  let clock: VirtualClock;

  const open = async (
    made: FakeRecogniser,
    newStage: (server: FakeRecogniser) => SttStage,
  ): Promise<void> => {
    server = made;
    await server.start();
    stage = newStage(server);
    clock = newVirtualClock();
    events = new Events();
    session = stage.open(newStageContext(clock), events.sink);
  };
  /** One utterance there and back: after it the line is known to be open. */
  const converse = async (): Promise<void> => {
    server.utterances.push('hello');
    for (let i = 0; i < 20; i += 1) session.audio(new Int16Array(320).fill(i + 1));
    session.finalize();
    await events.seen('finalized');
  };
  afterEach(async () => {
    session.close();
    await stage.close();
    await server.close();
  });

  it.each([
    ['stt_cloud_a', () => new FakeDeepgram(), deepgramStage, 'authorization', 'Token a-secret-key'],
    ['stt_cloud_b', () => new FakeAssemblyAi(), assemblyAiStage, 'authorization', 'a-secret-key'],
    [
      'stt_realtime_compat',
      () => new FakeSttRealtime('openai', { sampleRate: 24_000 }),
      realtime,
      'authorization',
      'Bearer a-secret-key',
    ],
  ])('of %s carries the key in a header', async (_name, newServer, newStage, header, value) => {
    await open(newServer(), newStage);
    await server.until(() => server.connections.length === 1);
    expect(server.last.headers[header]).toBe(value);
    expect(server.last.url.href).not.toContain(apiKey);
    expect(server.last.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('of stt_cloud_c carries the key in the request alone', async () => {
    const gladia = new FakeGladia();
    await open(gladia, gladiaStage);
    await server.until(() => server.connections.length === 1);
    expect(gladia.requests[0]?.key).toBe(apiKey);
    expect(gladia.requests[0]?.url).toBe('/v2/live?region=eu-west');
    expect(JSON.stringify(server.last.headers)).not.toContain(apiKey);
  });

  it.each([
    ['stt_cloud_a', () => new FakeDeepgram(), deepgramStage, 4000, { type: 'KeepAlive' }],
    [
      'stt_cloud_c',
      () => new FakeGladia(),
      gladiaStage,
      10_000,
      { type: 'audio_chunk', data: { chunk: '' } },
    ],
  ])('of %s is kept alive while the caller is silent', async (_name, newServer, newStage, ms, message) => {
    await open(newServer(), newStage);
    await converse();
    const before = server.last.texts.length;
    clock.advance(ms);
    await server.until(() => server.last.texts.length > before);
    expect(server.last.texts.at(-1)).toEqual(message);
    expect(events.of('error')).toEqual([]);
  });

  it('is given up without a word when it dies between utterances, and made anew for the next', async () => {
    await open(new FakeDeepgram(), deepgramStage);
    await converse();
    server.goDeaf();
    clock.advance(4000);
    clock.advance(2000);
    expect(events.of('error')).toEqual([]);
    server.utterances.push('again');
    for (let i = 0; i < 20; i += 1) session.audio(new Int16Array(320).fill(i + 1));
    session.finalize();
    await events.seen('finalized', 2);
    expect(server.connections.length).toBe(2);
    expect(events.of('transcript').at(-1)?.text).toBe('again');
  });

  it.each([
    ['stt_cloud_a', () => new FakeDeepgram(), deepgramStage, 'CloseStream'],
    ['stt_cloud_b', () => new FakeAssemblyAi(), assemblyAiStage, 'Terminate'],
    ['stt_cloud_c', () => new FakeGladia(), gladiaStage, 'stop_recording'],
  ])('of %s ends with a farewell', async (_name, newServer, newStage, type) => {
    await open(newServer(), newStage);
    await converse();
    session.close();
    await server.until(() => server.last.closed !== undefined);
    expect(server.last.texts.at(-1)?.['type']).toBe(type);
  });

  it('of stt_cloud_b names a key that is refused after the upgrade', async () => {
    const assembly = new FakeAssemblyAi();
    assembly.refusal1008 = { code: 1008, error: 'Unauthorized connection' };
    await open(assembly, assemblyAiStage);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status: 401 } }]);
  });

  it('of stt_cloud_b carries no message that the server would find too short', async () => {
    await open(new FakeAssemblyAi(), assemblyAiStage);
    server.utterances.push('hello');
    for (let i = 0; i < 17; i += 1) session.audio(new Int16Array(320).fill(i + 1));
    session.finalize();
    await events.seen('finalized');
    expect(server.last.pieces).toEqual([60, 60, 60, 60, 60, 60]);
  });

  it('of stt_cloud_b is not faster than speech for long', async () => {
    await open(new FakeAssemblyAi(), assemblyAiStage);
    await converse();
    const sentMs = (): number => server.last.pieces.reduce((sum, ms) => sum + ms, 0);
    // All that a session that takes over is given goes at once, and then some more in its time.
    for (let given = 0; given < 33_000; given += 1_000) {
      session.audio(new Int16Array(16_000).fill(1));
      await server.until(() => sentMs() >= Math.min(given, 29_000));
    }
    for (let i = 0; i < 10; i += 1) clock.advance(100);
    await server.until(() => sentMs() >= 31_000);
    expect(sentMs()).toBeLessThanOrEqual(31_400);
  });

  it.each(['http://127.0.0.1/', 'ws://elsewhere.example/', 'nonsense', ''])(
    'of stt_cloud_c does not go to the address %s',
    async (address) => {
      const gladia = new FakeGladia();
      gladia.address = address;
      await open(gladia, gladiaStage);
      await events.seen('error');
      const error = { kind: 'protocol', rule: 'a session has an address' };
      expect(events.all).toEqual([{ type: 'error', error }]);
    },
  );

  it('of stt_realtime_compat names what refuses its configuration', async () => {
    const fake = new FakeSttRealtime('openai', { sampleRate: 24_000 });
    fake.refuseConfiguration = { type: 'invalid_request_error', code: 'invalid_model', message: 'a-secret' };
    await open(fake, realtime);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status: 400 } }]);
  });

  it('of stt_cloud_a confirms a finalize whose text came in a result of its own', async () => {
    const deepgram = new FakeDeepgram();
    deepgram.endsBeforeFinalize = true;
    await open(deepgram, deepgramStage);
    await converse();
    expect(events.of('transcript').filter((t) => t.isFinal)).toMatchObject([{ text: 'hello' }]);
  });

  it('is never given a key over an open network', () => {
    server = new FakeDeepgram();
    const options = { apiKey, language: 'en', model: 'm', endpointingMs: 0, smartFormat: true };
    expect(() => newSttDeepgram({ ...options, baseUrl: 'ws://10.0.0.7' })).toThrow(
      'a key is only sent over TLS or to a loopback host',
    );
  });
});
