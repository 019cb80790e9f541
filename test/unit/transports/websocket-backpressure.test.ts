/** An engine that cannot take audio, and a client that cannot: what is kept, in which order, and for how long. */
import { afterEach, describe, expect, it } from 'vitest';
import { InboundAudio } from '../../../worker/media/in/inbound.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { CallClient, CallServer, startMessage } from './call-server.ts';
import type { CallServerSettings } from './call-server.ts';

let server: CallServer;
afterEach(() => server.close());

async function open(settings: CallServerSettings = {}, start = startMessage): Promise<CallClient> {
  server = await new CallServer(settings).listen();
  const client = new CallClient(server.port);
  await client.opened();
  client.send(start);
  await client.received('started');
  return client;
}

const numbered = (bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7 + (index >> 8)) & 0xff));

describe('an engine without room', () => {
  it('gets all audio later, in order and once, in frames of 20 ms', async () => {
    const client = await open();
    const audio = numbered(20 * 640);
    server.call.room = 3 * 640;
    for (let at = 0; at < audio.length; at += 640) client.ws.send(audio.subarray(at, at + 640));
    await server.until(() => server.call.audio.length === 3);
    client.send({ type: 'mark', id: 'last' });
    server.call.room = 4 * 640;
    server.call.transport.inputTaken();
    server.call.room = Infinity;
    server.call.transport.inputTaken();
    await server.until(() => server.call.log.includes('mark last'));
    server.call.transport.inputTaken();
    expect(Buffer.concat(server.call.audio)).toEqual(audio);
    expect(server.call.audio.every((chunk) => chunk.length <= 640)).toBe(true);
  });

  it('gets one big frame piece by piece', async () => {
    const client = await open();
    const audio = numbered(65_536);
    server.call.room = 1_000;
    client.ws.send(audio);
    client.send({ type: 'mark', id: 'sent' });
    await server.until(() => server.call.log.includes('mark sent'));
    expect(server.call.audio).toEqual([]);
    while (Buffer.concat(server.call.audio).length < audio.length) {
      server.call.room = 2_000;
      server.call.transport.inputTaken();
    }
    expect(Buffer.concat(server.call.audio)).toEqual(audio);
  });

  it('is asked again by the ticker when it forgets to say that it has room', async () => {
    const client = await open();
    server.call.room = 0;
    client.ws.send(Buffer.alloc(640));
    client.send({ type: 'mark', id: 'sent' });
    await server.until(() => server.call.log.includes('mark sent'));
    server.call.room = Infinity;
    server.advance(20);
    expect(server.call.log.at(-1)).toBe('audio 640');
  });

  it('stops the reading: a flood stays in the network', async () => {
    const client = await open();
    server.call.room = 0;
    const frame = Buffer.alloc(64_000);
    const flushed: Promise<void>[] = [];
    for (let count = 0; count < 400; count += 1) {
      flushed.push(new Promise((resolve) => client.ws.send(frame, () => resolve())));
    }
    const { call } = server;
    // Another call goes on meanwhile; its round trips give the flood every chance to be read.
    const other = new CallClient(server.port);
    await other.opened();
    other.send(startMessage);
    let round = 0;
    const roundTrip = async (): Promise<void> => {
      round += 1;
      other.send({ type: 'mark', id: `m${round}` });
      await server.until(() => server.calls[1]?.log.at(-1) === `mark m${round}`);
    };
    while (round < 90) await roundTrip();
    expect(call.log).toEqual(['started']);
    expect(client.ws.bufferedAmount).toBeGreaterThan(0);
    call.room = Infinity;
    while (call.audio.reduce((sum, { length }) => sum + length, 0) < 400 * 64_000) {
      server.advance(100);
      await roundTrip();
    }
    await Promise.all(flushed);
    expect(call.log.filter((line) => line.startsWith('ended'))).toEqual([]);
  });

  it('is overloaded only after send_timeout without any progress', async () => {
    const client = await open();
    server.call.room = 0;
    client.ws.send(Buffer.alloc(6_400));
    client.send({ type: 'mark', id: 'sent' });
    await server.until(() => server.call.log.includes('mark sent'));
    for (let round = 0; round < 5; round += 1) {
      server.advance(4_000);
      server.call.room = 640;
      server.call.transport.inputTaken();
    }
    expect(server.call.log).not.toContain('ended fault');
    server.advance(5_000);
    expect(server.call.log.at(-1)).toBe('ended fault');
    expect(await client.closed).toBe(1013);
  });

  it('is no reason to call the client silent', async () => {
    const client = await open({ limits: { sendTimeoutMs: 100_000 } });
    server.call.room = 0;
    client.ws.send(Buffer.alloc(640));
    client.send({ type: 'mark', id: 'sent' });
    await server.until(() => server.call.log.includes('mark sent'));
    server.advance(60_000);
    server.call.room = Infinity;
    server.advance(20);
    server.advance(10_000);
    expect(server.call.log).not.toContain('ended fault');
  });

  it('may end the call from inside audio()', async () => {
    const client = await open({ onAudio: (transport) => transport.end('ended') });
    server.call.room = 0;
    client.ws.send(Buffer.alloc(640));
    client.ws.send(Buffer.alloc(640));
    expect(await client.closed).toBe(1000);
    await server.until(() => server.call.socketClosed);
    expect(server.call.log).toEqual(['started', 'ended engine']);
  });
});

describe('an engine that does nothing else', () => {
  it('is never overloaded by frames up to max_audio_bytes', async () => {
    const maxAudioBytes = 256 * 1024;
    const boxes = newMailboxes();
    const vad = new VadClient({ boxes, slot: 0, machineMs: () => 0, judged: () => undefined });
    const inbound = new InboundAudio({ sampleRate: 8_000, encoding: 'mulaw', vad, toStt: () => undefined });
    const client = await open(
      { limits: { maxAudioBytes }, takes: (bytes, now) => inbound.push(bytes, now) },
      { ...startMessage, sample_rate: 8_000, encoding: 'mulaw' },
    );
    client.ws.send(Buffer.alloc(maxAudioBytes));
    client.ws.send(Buffer.alloc(maxAudioBytes));
    const { call } = server;
    const taken = (): number => call.audio.reduce((sum, { length }) => sum + length, 0);
    // Another call; its round trips let everything be read that can be read.
    const other = new CallClient(server.port);
    await other.opened();
    other.send(startMessage);
    while (taken() < 2 * maxAudioBytes && !call.log.includes('ended fault')) {
      server.advance(500);
      const pings = (server.calls[1]?.controlFrames ?? 0) + 1;
      other.ws.ping();
      await server.until(() => (server.calls[1]?.controlFrames ?? 0) >= pings);
    }
    expect(call.log).not.toContain('ended fault');
  });
});

describe('a client that reads slowly', () => {
  it('gets no background while it is behind, and the voice all the same', async () => {
    const client = await open({ limits: { pingTimeoutMs: 1_000_000, pingIntervalMs: 900_000 } });
    client.ws.pause();
    const { transport } = server.call;
    const frame = Buffer.alloc(60_000, 1);
    let sent = 0;
    for (; transport.bufferedBytes === 0; sent += 1) transport.sendAudio(frame, 16_000);
    const backlog = transport.bufferedBytes;
    for (let count = 0; count < 100; count += 1) transport.sendBackdrop(Buffer.alloc(640, 2), 16_000);
    expect(transport.bufferedBytes).toBe(backlog);
    client.ws.resume();
    await client.until(() => client.audio.length === sent);
    transport.sendBackdrop(Buffer.alloc(640, 2), 16_000);
    await client.until(() => client.audio.length === sent + 1);
    expect(client.audio.at(-1)).toEqual(Buffer.alloc(640, 2));
  });

  it('stays connected as long as the kernel takes some of the backlog', async () => {
    const client = await open({ limits: { pingTimeoutMs: 1_000_000, pingIntervalMs: 900_000 } });
    client.ws.pause();
    const { transport } = server.call;
    const frame = Buffer.alloc(60_000);
    let sent = 0;
    const fill = (): void => {
      while (transport.bufferedBytes === 0) {
        transport.sendAudio(frame, 16_000);
        sent += 1;
      }
    };
    for (let round = 0; round < 5; round += 1) {
      fill();
      server.advance(4_000);
      client.ws.resume();
      await client.until(() => client.audio.length === sent);
      client.ws.pause();
    }
    expect(server.call.log).toEqual(['started']);
    fill();
    server.advance(5_040);
    expect(server.call.log).toEqual(['started', 'ended fault']);
  });
});
