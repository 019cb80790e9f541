/** The vendors' own clients talk to the fakes, so that what the adapters are tested against is what those expect. */
import { createConnection } from 'node:net';
import { createRequire } from 'node:module';
import { DeepgramClient } from '@deepgram/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { newTtsElevenLabs } from '../../../worker/stages/tts/elevenlabs/adapter.ts';
import type { TtsEvent } from '../../../worker/stages/stage.ts';
import { FakeAura } from '../../support/fakes/fake-aura.ts';
import { FakeCartesia } from '../../support/fakes/fake-cartesia.ts';
import { FakeElevenLabs } from '../../support/fakes/fake-elevenlabs.ts';
import { FakeSpeech } from '../../support/fakes/fake-speech.ts';
import type { FakeVoice } from '../../support/fakes/fake-voice.ts';
import { Observed } from '../../support/process/observed.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';

const load = createRequire(import.meta.url);
interface Schema {
  parse(value: unknown, options: { unrecognizedObjectKeys: 'fail' | 'strip' }): { ok: boolean };
}
type SchemaName =
  | 'InitializeConnectionMulti'
  | 'SendTextMulti'
  | 'CloseContext'
  | 'WebsocketTtsClientMessageMulti'
  | 'FinalOutputMulti'
  | 'AudioOutputMulti';
const serialization = load('@elevenlabs/elevenlabs-js/serialization') as Record<SchemaName, Schema>;
// Only this form of the package finds a WebSocket that takes headers.
const { Cartesia } = load('@cartesia/cartesia-js') as typeof import('@cartesia/cartesia-js');

describe('the fakes of streaming voices', () => {
  let server: FakeVoice;
  afterEach(() => server.close());

  it('hold an exchange with the client of tts_cloud_a', async () => {
    server = new FakeCartesia();
    await server.start();
    const client = new Cartesia({ apiKey: 'key-1', baseURL: server.address.replace('ws:', 'http:') });
    // The client insists on TLS; the connection below it does not.
    const port = Number(new URL(server.address).port);
    const socket = await client.tts.websocket({
      createConnection: () => createConnection(port, '127.0.0.1'),
    });
    const context = socket.context({
      model_id: 'sonic-3.5',
      voice: { mode: 'id', id: 'voice-1' },
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
      add_timestamps: true,
    });
    await context.push({ transcript: 'Hello there.' });
    await context.no_more_inputs();
    const types: string[] = [];
    let bytes = 0;
    for await (const event of context.receive()) {
      types.push(event.type);
      if (event.type === 'chunk') bytes += Buffer.from(event.data, 'base64').length;
    }
    expect(types).toEqual(['timestamps', 'chunk', 'chunk', 'flush_done', 'done']);
    expect(bytes).toBe(12 * 240 * 2);
    socket.close();
  });

  it('hold an exchange with the client of tts_cloud_c', async () => {
    server = new FakeAura();
    await server.start();
    const client = new DeepgramClient({ apiKey: 'key-1', baseUrl: server.address });
    const socket = await client.speak.v1.connect({
      Authorization: 'Token key-1',
      model: 'aura-2-thalia-en',
      encoding: 'linear16',
      sample_rate: '24000',
    });
    const seen = new Observed();
    const types: string[] = [];
    socket.on('message', (message) => {
      types.push(typeof message === 'object' && 'type' in message ? message.type : 'audio');
      seen.changed();
    });
    socket.connect();
    await socket.waitForOpen();
    socket.sendText({ type: 'Speak', text: 'Hello there.' });
    socket.sendFlush({ type: 'Flush' });
    await seen.until(() => types.includes('Flushed'));
    socket.sendClear({ type: 'Clear' });
    await seen.until(() => types.includes('Cleared'));
    expect(server.last.url.pathname).toBe('/v1/speak');
    socket.close();
  });

  it('speak the message types of the client of tts_cloud_b, which has no socket of its own', async () => {
    server = new FakeElevenLabs();
    await server.start();
    const events = new Events<TtsEvent>();
    const options = { model: 'eleven_flash_v2_5', url: server.address, stability: 0.5, speed: 1.1 };
    const stage = newTtsElevenLabs({ ...options, language: 'en', voice: 'voice-1', sampleRate: 24_000 });
    const session = stage.open(newStageContext(), events.sink);
    await server.until(() => server.connections.length === 1);
    const answers: unknown[] = [];
    const send = server.last.socket.send.bind(server.last.socket);
    server.last.socket.send = (data: unknown) => {
      answers.push(JSON.parse(String(data)));
      send(String(data));
    };
    session.speak(1, 'Hello there.');
    session.flush(1);
    await events.seen('flushed');
    session.close();
    const strict = { unrecognizedObjectKeys: 'fail' } as const;
    // The type over all of them spells the context otherwise than its members do, so the members are asked.
    const { InitializeConnectionMulti, SendTextMulti, CloseContext, WebsocketTtsClientMessageMulti } =
      serialization;
    const members = [InitializeConnectionMulti, SendTextMulti, CloseContext, WebsocketTtsClientMessageMulti];
    for (const message of server.messages) {
      expect(members.some((member) => member.parse(message, strict).ok)).toBe(true);
    }
    expect(answers.length).toBe(2);
    for (const answer of answers) {
      const final = serialization.FinalOutputMulti.parse(answer, strict).ok;
      const audio = serialization.AudioOutputMulti.parse(answer, { unrecognizedObjectKeys: 'strip' }).ok;
      expect(final || audio).toBe(true);
    }
  });
});

describe('the fake of speech_compatible', () => {
  it('speaks to the client that such servers are made for, as a stream', async () => {
    const server = new FakeSpeech();
    await server.start();
    const client = new OpenAI({ apiKey: 'k', baseURL: server.baseUrl, maxRetries: 0 });
    const answer = await client.audio.speech.create({
      model: 'm',
      voice: 'v',
      input: 'Hello there.',
      response_format: 'pcm',
    });
    let bytes = 0;
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(0);
    expect(server.requests[0]).toMatchObject({
      path: '/v1/audio/speech',
      body: { model: 'm', voice: 'v', input: 'Hello there.', response_format: 'pcm' },
    });
    await server.close();
  });
});
