/** RTVI as JSON in text frames, as Pipecat's own client and its evals speak it: the same as by protobuf, with the same bounds. */
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { decodeRtviFrame, encodeRtviMessage } from '../../../shared/rtvi/frame.ts';
import { evalFlagsOf } from '../../../supervisor/rtvi/listener.ts';
import { newCallerAudio } from '../../../worker/rtvi/caller-audio.ts';
import { rtviDialect } from '../../../worker/rtvi/dialect.ts';
import { CallServer, type CallServerSettings } from './call-server.ts';

type Message = Readonly<Record<string, unknown>>;

/** A client that notes of each frame whether it is text, and what it says. */
class Client {
  readonly ws: WebSocket;
  readonly frames: { readonly isText: boolean; readonly message: Message | 'audio' }[] = [];
  readonly closed: Promise<number>;
  readonly #waiting: (() => void)[] = [];

  constructor(port: number) {
    this.ws = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
    this.ws.on('error', () => undefined);
    this.ws.on('message', (bytes: Buffer, isBinary) => {
      const decoded = isBinary ? decodeRtviFrame(bytes) : undefined;
      const text = isBinary ? decoded?.type === 'message' && Buffer.from(decoded.json) : bytes;
      const message = text === false ? 'audio' : (JSON.parse(text.toString()) as Message);
      this.frames.push({ isText: !isBinary, message });
      for (const check of this.#waiting) check();
    });
    this.closed = new Promise((resolve) => this.ws.on('close', (code) => resolve(code)));
  }

  opened(): Promise<void> {
    return new Promise((resolve) => this.ws.on('open', resolve));
  }

  say(type: string, data: Message = {}, id = 'ab12cd34'): void {
    this.ws.send(JSON.stringify({ label: 'rtvi-ai', type, id, data }));
  }

  of(type: string): Message[] {
    return this.frames.flatMap(({ message }) =>
      message !== 'audio' && message['type'] === type ? [message] : [],
    );
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (condition()) resolve();
      };
      this.#waiting.push(check);
      check();
    });
  }
}

let server: CallServer;
let client: Client;
afterEach(() => {
  client.ws.terminate();
  server.close();
});

async function connect(settings: CallServerSettings = {}): Promise<void> {
  server = await new CallServer({ dialect: rtviDialect(newCallerAudio), ...settings }).listen();
  client = new Client(server.port);
  await client.opened();
}

async function open(settings: CallServerSettings = {}): Promise<void> {
  await connect(settings);
  client.say('client-ready', { version: '2.2.0', about: { library: 'pipecat' } }, 'client-ready');
  await client.until(() => client.of('bot-ready').length === 1);
}

const pcm = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64');
const audio = (more: Message = {}): Message => ({
  base64Audio: pcm(640),
  sampleRate: 16_000,
  numChannels: 1,
  ...more,
});
const botFrame = Buffer.alloc(960, 2);
const heardBytes = (): number => server.call.audio.reduce((sum, { length }) => sum + length, 0);

describe('a client of text frames', () => {
  it('is answered in text frames alone', async () => {
    await open();
    expect(client.of('bot-ready')).toEqual([
      expect.objectContaining({
        label: 'rtvi-ai',
        id: 'client-ready',
        data: expect.objectContaining({ version: '2.1.0' }) as unknown,
      }),
    ]);
    client.say('dtmf', { buttons: ['1', '#'] });
    client.say('unheard-of', {}, 'x1');
    client.say('client-message', { t: 'cart' }, 'x2');
    client.say('send-text', { content: 5 }, 'x3');
    server.call.transport.sendAudio(botFrame, 24_000);
    server.call.transport.tell({ type: 'turn.user_started', epoch: 1 } as never);
    await client.until(
      () => client.of('error-response').length === 3 && client.of('bot-tts-audio').length === 1,
    );
    expect(server.call.log).toContain('dtmf 1');
    expect(server.call.log).toContain('dtmf #');
    expect(client.of('error-response').map(({ id }) => id)).toEqual(['x1', 'x2', 'x3']);
    expect(client.of('bot-tts-audio')[0]?.['data']).toEqual({
      ...{ audio: botFrame.toString('base64'), sample_rate: 24_000, num_channels: 1 },
    });
    client.say('disconnect-bot');
    expect(await client.closed).toBe(1000);
    expect(client.frames.every(({ isText }) => isText)).toBe(true);
    expect(server.call.log.at(-1)).toBe('ended hangup');
  });

  it.each<[string, string, Message, number]>([
    ['of the usual rate', 'raw-audio', audio(), 640],
    ['of another rate', 'raw-audio', audio({ base64Audio: pcm(1_920), sampleRate: 48_000 }), 640],
    ['of two channels', 'raw-audio', audio({ numChannels: 2 }), 320],
    ['without its channels', 'raw-audio', { base64Audio: pcm(640), sampleRate: 16_000 }, 640],
    [
      'in pieces',
      'raw-audio-batch',
      audio({ base64Audio: undefined, base64AudioBatch: [pcm(640), pcm(320)] }),
      960,
    ],
    ['of a second', 'raw-audio', audio({ base64Audio: pcm(48_000), sampleRate: 24_000 }), 32_000],
  ])('is heard by audio %s', async (_which, type, data, bytes) => {
    await open();
    client.say(type, data);
    const most = bytes + 100;
    await server.until(() => heardBytes() > bytes - 100);
    expect(heardBytes()).toBeLessThan(most);
  });

  it.each<[string, Message, number]>([
    ['without audio', { sampleRate: 16_000, numChannels: 1 }, 1],
    ['without a rate', { base64Audio: pcm(640), numChannels: 1 }, 1],
    ['of no text', audio({ base64Audio: [1] }), 1],
    ['of a rate that nobody has', audio({ sampleRate: 12_345 }), 0],
    ['of half a sample', audio({ base64Audio: pcm(641) }), 0],
    ['of more channels than anybody has', audio({ numChannels: 9 }), 0],
    ['of nothing', audio({ base64Audio: '' }), 0],
  ])('is not heard by audio %s, and goes on', async (_which, data, errors) => {
    await open();
    client.say('raw-audio', data, 'bad');
    client.say('dtmf', { buttons: ['1'] });
    await server.until(() => server.call.log.includes('dtmf 1'));
    client.say('nothing-known');
    await client.until(() => client.of('error-response').length === errors + 1);
    expect(heardBytes()).toBe(0);
  });

  it.each([
    ['no JSON', '{', 'invalid_json'],
    [
      'longer than a message may be',
      JSON.stringify({ label: 'rtvi-ai', type: 'send-text', id: '1', data: { content: 'x'.repeat(20_000) } }),
      'frame_too_large',
    ],
    [
      'longer, and speaks of audio without being any',
      JSON.stringify({
        label: 'rtvi-ai',
        type: 'send-text',
        data: { content: `"raw-audio${'x'.repeat(20_000)}` },
      }),
      'frame_too_large',
    ],
  ])('is told that a frame is %s, as a client of protobuf is', async (_what, frame, code) => {
    await open();
    client.ws.send(JSON.stringify({ label: 'other', type: 'send-text', data: {} }));
    client.ws.send(frame);
    await client.until(() => client.of('error').length === 1);
    expect(server.call.log.filter((line) => line.startsWith('fault'))).toEqual([
      expect.stringContaining(`fault ${code}`),
    ]);
  });

  it('that says nothing in time is closed', async () => {
    await connect();
    client.say('dtmf', { buttons: ['1'] });
    server.advance(60_000);
    expect(await client.closed).toBe(1008);
  });

  it('may send far more frames of audio at once than messages', async () => {
    await open();
    for (let i = 0; i < 500; i += 1) client.say('raw-audio', audio());
    await server.until(() => heardBytes() === 500 * 640);
  });

  it('that floods waits: what it sent is looked at later, in order, and nothing of it is lost', async () => {
    await open();
    for (let i = 0; i < 300; i += 1) client.say('dtmf', { buttons: [String(i % 10)] });
    const keys = (): string[] => server.call.log.filter((line) => line.startsWith('dtmf'));
    await server.until(() => keys().length > 50);
    expect(keys().length).toBeLessThan(120);
    while (keys().length < 300) {
      server.advance(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(keys()).toEqual(Array.from({ length: 300 }, (_, i) => `dtmf ${i % 10}`));
  });
});

describe('the kind of the first frame', () => {
  it('is that of every answer, and both are read', async () => {
    await connect();
    const ready = JSON.stringify({
      label: 'rtvi-ai',
      type: 'client-ready',
      id: 'r',
      data: { version: '2.1.0' },
    });
    client.ws.send(encodeRtviMessage(ready));
    await client.until(() => client.of('bot-ready').length === 1);
    client.say('raw-audio', audio());
    client.say('unheard-of');
    await client.until(() => client.of('error-response').length === 1);
    server.call.transport.sendAudio(botFrame, 24_000);
    await client.until(() => client.frames.at(-1)?.message === 'audio');
    expect(heardBytes()).toBe(640);
    expect(client.frames.some(({ isText }) => isText)).toBe(false);
  });

  it('outlives the process', () => {
    const make = (saved?: unknown) => rtviDialect(newCallerAudio)({ signedMetadata: {}, saved });
    const first = make();
    first.textCame?.();
    const next = make(JSON.parse(first.save()));
    expect(typeof next.writeAudio(botFrame)).toBe('string');
    expect(Buffer.isBuffer(make(JSON.parse(make().save())).writeAudio(botFrame))).toBe(true);
  });
});

describe('an eval', () => {
  const connected = async (flags: Message): Promise<void> => {
    await connect();
    client.say('client-message', { t: 'eval-connect', d: flags }, 'eval-connect');
    client.say('client-ready', { version: '2.2.0' });
    await client.until(() => client.of('bot-ready').length === 1);
    server.call.transport.sendAudio(botFrame, 24_000);
    client.say('unheard-of');
    await client.until(() => client.of('error-response').length === 1);
  };

  it('that listens is sent audio in its own message', async () => {
    await connected({ skip_tts: false, capture_bot_audio: true });
    expect(client.of('eval-bot-audio')[0]?.['data']).toEqual({
      ...{ audio: botFrame.toString('base64'), sampleRate: 24_000 },
    });
  });

  it('that reads is sent none', async () => {
    await connected({ skip_tts: true, capture_bot_audio: false });
    expect(client.frames.map(({ message }) => message !== 'audio' && message['type'])).toEqual([
      'bot-ready',
      'error-response',
    ]);
  });

  it('asks for no more of tools than anybody, and hangs up when it is done', async () => {
    await connected({});
    client.say('client-message', { t: 'eval-configure', d: { function_call_report_level: { '*': 'full' } } });
    client.say('client-message', { t: 'eval-cancel', d: {} });
    expect(await client.closed).toBe(1000);
    expect(client.of('error-response')).toHaveLength(1);
  });

  it.each([
    ['/?capture_bot_audio=true&skip_tts=1', { capture_bot_audio: 'true', skip_tts: 'true' }],
    ['/?skip_tts=YES', { skip_tts: 'true' }],
    ['/?skip_tts=false&capture_bot_audio=', {}],
    ['/', {}],
  ])('may ask in its address: %s', (url, flags) => {
    expect(evalFlagsOf(url)).toEqual(flags);
  });

  it.each([
    [{ capture_bot_audio: 'true' }, 'eval-bot-audio'],
    [{ capture_bot_audio: 'true', skip_tts: 'true' }, 'eval-bot-audio'],
    [{ skip_tts: 'true' }, undefined],
    [{}, 'bot-tts-audio'],
  ])('of address %j is sent audio as %s', (signedMetadata, type) => {
    const dialect = rtviDialect(newCallerAudio)({ signedMetadata });
    dialect.textCame?.();
    const frame = dialect.writeAudio(botFrame);
    expect(frame === undefined ? undefined : (JSON.parse(String(frame)) as Message)['type']).toBe(type);
  });
});
