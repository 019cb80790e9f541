/**
 * The vendors' own clients talk to the fakes, so that what the adapters are tested against is what those expect. There is
 * no client of stt_cloud_c among the packages.
 */
import { createConnection } from 'node:net';
import { DeepgramClient } from '@deepgram/sdk';
import { StreamingTranscriber } from 'assemblyai';
import { OpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeAssemblyAi } from '../../support/fakes/fake-assemblyai.ts';
import { FakeDeepgram } from '../../support/fakes/fake-deepgram.ts';
import type { FakeRecogniser } from '../../support/fakes/fake-recogniser.ts';
import { FakeSttRealtime } from '../../support/fakes/fake-stt-realtime.ts';
import { Observed } from '../../support/process/observed.ts';

const second = (rate: number): Int16Array => new Int16Array(rate).fill(7);

describe('the fakes of streaming recognisers', () => {
  let server: FakeRecogniser;
  afterEach(() => server.close());

  it('hold an exchange with the client of stt_cloud_a', async () => {
    server = new FakeDeepgram();
    await server.start();
    server.utterances.push('book a table for two');
    const client = new DeepgramClient({ apiKey: 'key-1', baseUrl: server.baseUrl });
    const socket = await client.listen.v1.connect({
      Authorization: 'Token key-1',
      model: 'nova-3',
      encoding: 'linear16',
      sample_rate: 16_000,
      interim_results: 'true',
      keyterm: ['Acme', 'Zeynep'],
      reconnectAttempts: 0,
    });
    const seen = new Observed();
    const results: { text: string | undefined; isFinal: boolean | undefined; asked: boolean | undefined }[] =
      [];
    const types: string[] = [];
    socket.on('message', (message) => {
      types.push(message.type);
      if (message.type === 'Results') {
        const text = message.channel.alternatives[0]?.transcript;
        results.push({ text, isFinal: message.is_final, asked: message.from_finalize });
      }
      seen.changed();
    });
    socket.connect();
    await socket.waitForOpen();
    socket.sendKeepAlive({ type: 'KeepAlive' });
    socket.sendMedia(second(16_000));
    await seen.until(() => results.length === 1);
    socket.sendFinalize({ type: 'Finalize' });
    await seen.until(() => results.length === 2);
    expect(results).toEqual([
      { text: 'book a table', isFinal: false, asked: false },
      { text: 'book a table for two', isFinal: true, asked: true },
    ]);
    socket.sendCloseStream({ type: 'CloseStream' });
    await seen.until(() => types.includes('Metadata'));
    expect(server.last.texts.map(({ type }) => type)).toEqual(['KeepAlive', 'Finalize', 'CloseStream']);
    expect(server.last.url.searchParams.getAll('keyterm')).toEqual(['Acme', 'Zeynep']);
    expect(server.last.headers.authorization).toBe('Token key-1');
    socket.close();
  });

  it('hold an exchange with the client of stt_cloud_b', async () => {
    server = new FakeAssemblyAi({ tls: true });
    await server.start();
    server.utterances.push('book a table for two');
    // The client insists on TLS and cannot be given a certificate.
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const client = new StreamingTranscriber({
        apiKey: 'key-1',
        websocketBaseUrl: `${server.baseUrl}/v3/ws`,
        sampleRate: 16_000,
        speechModel: 'universal-streaming-english',
        formatTurns: true,
        keytermsPrompt: ['Acme', 'Zeynep'],
        minTurnSilence: 400,
        maxTurnSilence: 1280,
      });
      const seen = new Observed();
      const turns: { text: string; isEnd: boolean; isFormatted: boolean }[] = [];
      client.on('turn', (turn) => {
        turns.push({
          text: turn.transcript,
          isEnd: turn.end_of_turn,
          isFormatted: turn.turn_is_formatted,
        });
        seen.changed();
      });
      const begin = await client.connect();
      expect(begin.type).toBe('Begin');
      client.sendAudio(second(16_000).buffer);
      await seen.until(() => turns.length === 1);
      client.forceEndpoint();
      await seen.until(() => turns.length === 3);
      expect(turns).toEqual([
        { text: 'book a', isEnd: false, isFormatted: false },
        { text: 'book a table for two', isEnd: true, isFormatted: false },
        { text: 'book a table for two.', isEnd: true, isFormatted: true },
      ]);
      await client.close();
      const { searchParams } = server.last.url;
      expect(searchParams.get('keyterms_prompt')).toBe('["Acme","Zeynep"]');
      expect(searchParams.get('min_turn_silence')).toBe('400');
      expect(searchParams.get('max_turn_silence')).toBe('1280');
      expect(server.last.headers.authorization).toBe('key-1');
      expect(server.last.texts.map(({ type }) => type)).toEqual(['ForceEndpoint', 'Terminate']);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('hold an exchange with the client of stt_realtime_compat', async () => {
    server = new FakeSttRealtime('openai', { sampleRate: 24_000 });
    await server.start();
    server.utterances.push('book a table for two');
    const client = new OpenAI({ apiKey: 'key-1', baseURL: `https://${server.host}/v1` });
    const port = Number(server.host.split(':')[1]);
    // The client insists on TLS; the connection below it does not.
    const socket = new OpenAIRealtimeWS(
      { model: 'unused', options: { createConnection: () => createConnection(port, '127.0.0.1') } },
      client,
    );
    const seen = new Observed();
    const heard: string[] = [];
    let isReady = false;
    socket.on('session.created', () => {
      socket.send({
        type: 'session.update',
        session: {
          type: 'transcription',
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: 24_000 },
              transcription: { model: 'gpt-4o-transcribe', language: 'en' },
            },
          },
        },
      });
    });
    socket.on('session.updated', () => {
      isReady = true;
      seen.changed();
    });
    socket.on('conversation.item.input_audio_transcription.delta', ({ delta }) => {
      heard.push(delta ?? '');
      seen.changed();
    });
    socket.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => {
      heard.push(transcript);
      seen.changed();
    });
    await seen.until(() => isReady);
    const audio = Buffer.from(second(24_000).buffer).toString('base64');
    socket.send({ type: 'input_audio_buffer.append', audio });
    socket.send({ type: 'input_audio_buffer.commit' });
    await seen.until(() => heard.length === 2);
    expect(heard).toEqual(['book a table', 'book a table for two']);
    expect(server.last.headers.authorization).toBe('Bearer key-1');
    socket.close();
  });
});
