/** The voice's server on a real socket, its engine played by the test. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpeechJob } from '../../../cli/commands/local/messages.ts';
import { VoiceBusy, VoiceFailed, type Speaking } from '../../../cli/commands/local/speaking.ts';
import { newSpeechServer } from '../../../cli/commands/local/speech-server.ts';
import { Observed } from '../../support/process/observed.ts';

class PlayedVoice extends Observed implements Speaking {
  readonly asked: { readonly speech: SpeechJob; readonly signal: AbortSignal }[] = [];
  answer: (speech: SpeechJob) => Promise<Int16Array> = (speech) =>
    Promise.resolve(new Int16Array(speech.text.length).fill(7));

  speak(speech: SpeechJob, signal: AbortSignal): Promise<Int16Array> {
    this.asked.push({ speech, signal });
    this.changed();
    return this.answer(speech);
  }
}

describe('the local voice', () => {
  let voice: PlayedVoice;
  let server: Server;
  let base: string;
  let isReady: boolean;

  beforeEach(async () => {
    voice = new PlayedVoice();
    isReady = true;
    server = newSpeechServer({
      speaking: voice,
      model: 'kokoro-en',
      voices: () => ['af', 'af_bella', 'am_adam'],
      health: () => ({ isReady, streams: 3 }),
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${base}/v1/audio/speech`, { method: 'POST', body: JSON.stringify(body), headers });

  it('sends each sentence as soon as it is spoken, as raw samples', async () => {
    let release: () => void = () => undefined;
    const second = new Promise<void>((resolve) => {
      release = resolve;
    });
    voice.answer = async ({ text }) => {
      if (text !== 'One.') await second;
      return Int16Array.of(1, -2);
    };
    const response = await ask({
      model: 'x',
      input: 'One. Two!',
      voice: 'am_adam',
      speed: 1.5,
      stream: true,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/pcm']);
    const reader = response.body!.getReader();
    expect((await reader.read()).value).toEqual(Uint8Array.of(1, 0, 254, 255));
    release();
    expect((await reader.read()).value).toEqual(Uint8Array.of(1, 0, 254, 255));
    expect(await reader.read()).toMatchObject({ done: true });
    expect(voice.asked.map(({ speech }) => speech)).toEqual([
      { text: 'One.', speaker: 2, speed: 1.5 },
      { text: 'Two!', speaker: 2, speed: 1.5 },
    ]);
  });

  it('sends WAV of 24 kHz with an open end when asked', async () => {
    const response = await ask({ input: 'Hello.', response_format: 'wav' });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(bytes.subarray(0, 16).toString('latin1')).toBe('RIFF\xff\xff\xff\xffWAVEfmt ');
    expect([bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)]).toEqual([1, 24_000, 16]);
    expect(bytes.length).toBe(44 + 2 * 'Hello.'.length);
  });

  it('answers a text without a word with no audio', async () => {
    const response = await ask({ input: ' ... — !' });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 0]);
    expect(voice.asked).toEqual([]);
  });

  it.each([
    ['input must be a text', {}],
    ['input must have at most 4096 characters', { input: 'x'.repeat(4_097) }],
    ['response_format must be pcm or wav', { input: 'a', response_format: 'mp3' }],
    ['speed must be a number from 0.25 to 4', { input: 'a', speed: 9 }],
    ['voice must be one of af, af_bella, am_adam, or default', { input: 'a', voice: 'zelda' }],
    ['voice must be a name or a number', { input: 'a', voice: {} }],
    ['the body must be a JSON object', 'text'],
  ])('names what is wrong, and no value: %s', async (message, body) => {
    const response = await ask(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message, type: 'invalid_request_error' } });
  });

  it.each([
    [new VoiceBusy(), 503, '1'],
    [new VoiceFailed(), 500, null],
  ])('answers %s with a status, as long as nothing was sent', async (error, status, retryAfter) => {
    voice.answer = () => Promise.reject(error);
    const response = await ask({ input: 'One.' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
  });

  it('cuts an answer that it cannot finish', async () => {
    voice.answer = ({ text }) =>
      text === 'One.' ? Promise.resolve(new Int16Array(100)) : Promise.reject(new VoiceFailed());
    const whole = ask({ input: 'One. Two.' }).then((response) => response.arrayBuffer());
    await expect(whole).rejects.toThrow();
  });

  it('gives up what nobody waits for', async () => {
    const { port } = server.address() as AddressInfo;
    voice.answer = () => new Promise(() => undefined);
    const socket = connect(port, '127.0.0.1');
    const body = JSON.stringify({ input: 'One.' });
    socket.write(
      `POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await voice.until(() => voice.asked.length === 1);
    const { signal } = voice.asked[0]!;
    socket.destroy();
    if (!signal.aborted) await once(signal, 'abort');
    expect(signal.aborted).toBe(true);
  });

  it('knows its paths, and refuses pages and large bodies', async () => {
    const status = async (path: string, init?: RequestInit): Promise<number> =>
      (await fetch(`${base}${path}`, init)).status;
    expect(await status('/v1/models')).toBe(200);
    expect(await (await fetch(`${base}/v1/audio/voices`)).json()).toEqual({
      voices: ['af', 'af_bella', 'am_adam'],
    });
    expect(await status('/v1/other')).toBe(404);
    expect(await status('/v1/audio/speech')).toBe(405);
    expect((await ask({ input: 'a' }, { origin: 'https://page.example' })).status).toBe(403);
    expect((await ask({ input: 'a', instructions: 'x'.repeat(70_000) })).status).toBe(413);
  });

  it('says whether it is well', async () => {
    expect(await (await fetch(`${base}/health`)).json()).toEqual({ status: 'ok', streams: 3 });
    isReady = false;
    expect((await fetch(`${base}/health`)).status).toBe(503);
  });
});
