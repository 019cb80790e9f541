/** The demo's ear on real sockets, spoken to by a raw client; the recognizer behind it is a stand-in with known answers. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket, { type WebSocketServer } from 'ws';
import { startSttServer } from '../../../examples/demo/stt-server.ts';
import { QueueFull } from '../../../examples/demo/thread-pool.ts';
import type { Transcribe } from '../../../examples/demo/utterance.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

describe('the ear', () => {
  async function connect(
    transcribe: Transcribe,
  ): Promise<{ socket: WebSocket; next: () => Promise<string>; server: WebSocketServer }> {
    const server = await startSttServer(transcribe, { host: '127.0.0.1', port: 0 });
    closers.push(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const messages: string[] = [];
    const waiting: ((text: string) => void)[] = [];
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const take = waiting.shift();
      if (take === undefined) messages.push(text);
      else take(text);
    });
    await once(socket, 'open');
    const next = (): Promise<string> =>
      new Promise((resolve) => {
        const message = messages.shift();
        if (message === undefined) waiting.push(resolve);
        else resolve(message);
      });
    return { socket, next, server };
  }
  const floats = (length: number, value: (at: number) => number): Buffer =>
    Buffer.from(Float32Array.from({ length }, (_, at) => value(at)).buffer);
  const tone = (length: number): Buffer => floats(length, (at) => Math.sin(at / 5) / 2);
  const length = (samples: Float32Array): Promise<string> => Promise.resolve(`${samples.length} samples`);

  it('answers Done with one last result and Done!, and takes the next utterance on the same connection', async () => {
    const { socket, next } = await connect(length);
    for (const chunks of [3, 1]) {
      for (let index = 0; index < chunks; index += 1) socket.send(tone(1600));
      socket.send('Done');
      expect(JSON.parse(await next())).toMatchObject({
        text: ` ${chunks * 1600} samples`,
        is_final: true,
        is_eof: true,
      });
      expect(await next()).toBe('Done!');
    }
  });

  it('answers Done without audio with Done! alone and ignores other texts', async () => {
    const { socket, next } = await connect(length);
    socket.send('hello?');
    socket.send('Done');
    expect(await next()).toBe('Done!');
  });

  it('hands over the samples as they were sent', async () => {
    const heard: number[] = [];
    const { socket, next } = await connect((samples) => {
      heard.push(...samples);
      return Promise.resolve('');
    });
    socket.send(floats(4, (at) => [0.5, -0.25, 2, Number.NaN][at]!));
    socket.send('Done');
    expect(JSON.parse(await next())).toMatchObject({ text: '', is_eof: true });
    expect(heard).toEqual([0.5, -0.25, 32_767 / 32_768, 0]);
  });

  it('begins at a pause and answers from that when only silence follows', async () => {
    const lengths: number[] = [];
    const { socket, next } = await connect((samples) => {
      lengths.push(samples.length);
      return Promise.resolve(`call ${lengths.length}`);
    });
    const silence = floats(1600, () => 0);
    socket.send(tone(8000));
    for (let index = 0; index < 6; index += 1) socket.send(silence);
    socket.send('Done');
    expect(JSON.parse(await next())).toMatchObject({ text: ' call 1' });
    expect(lengths).toEqual([8000 + 3 * 1600]);
    expect(await next()).toBe('Done!');
  });

  it('throws the early words away when the caller goes on speaking', async () => {
    const lengths: number[] = [];
    const { socket, next } = await connect((samples) => {
      lengths.push(samples.length);
      return Promise.resolve(`call ${lengths.length}`);
    });
    socket.send(tone(8000));
    socket.send(floats(8000, () => 0));
    socket.send(tone(8000));
    socket.send('Done');
    expect(JSON.parse(await next())).toMatchObject({ text: ' call 2' });
    expect(lengths).toEqual([16_000, 24_000]);
  });

  it('keeps at most 30 seconds', async () => {
    const { socket, next } = await connect(length);
    for (let index = 0; index < 32; index += 1) socket.send(tone(16_000));
    socket.send('Done');
    expect(JSON.parse(await next())).toMatchObject({ text: ' 480000 samples' });
  });

  it('closes on audio between Done and Done!, on broken frames, and when the recognizer is busy', async () => {
    const never = await connect(() => new Promise<string>(() => undefined));
    never.socket.send(tone(160));
    never.socket.send('Done');
    never.socket.send(tone(160));
    expect((await once(never.socket, 'close'))[0]).toBe(1002);
    const broken = await connect(length);
    broken.socket.send(Buffer.alloc(7));
    expect((await once(broken.socket, 'close'))[0]).toBe(1007);
    const busy = await connect(() => Promise.reject(new QueueFull()));
    busy.socket.send(tone(160));
    busy.socket.send('Done');
    expect((await once(busy.socket, 'close'))[0]).toBe(1013);
  });

  it('abandons the work of a client that goes away', async () => {
    const abandoned = new Promise<void>((resolve) => {
      void connect((_, signal) => {
        signal.addEventListener('abort', () => resolve());
        return new Promise<string>(() => undefined);
      }).then(({ socket }) => {
        socket.send(tone(160));
        socket.send('Done', () => setImmediate(() => socket.close()));
      });
    });
    await expect(abandoned).resolves.toBeUndefined();
  });

  it('rejects when its port is taken', async () => {
    const { server } = await connect(length);
    const { port } = server.address() as AddressInfo;
    await expect(startSttServer(length, { host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
  });
});
