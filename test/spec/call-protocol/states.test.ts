/** The life of a WebSocket call (docs/call-protocol.md, A call and Errors): one test for each step that the call itself decides. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  CallClient,
  CallServer,
  RawClient,
  clientFrame,
  closeFrame,
  startMessage,
  textFrame,
} from '../../unit/transports/call-server.ts';
import type { CallServerSettings } from '../../unit/transports/call-server.ts';

let server: CallServer;
afterEach(() => server.close());

async function connected(settings: CallServerSettings = {}): Promise<CallClient> {
  server = await new CallServer(settings).listen();
  const client = new CallClient(server.port);
  await client.opened();
  await server.until(() => server.calls.length === 1);
  return client;
}

async function open(settings: CallServerSettings = {}): Promise<CallClient> {
  const client = await connected(settings);
  client.send(startMessage);
  await client.received('started');
  return client;
}

async function rawOpen(settings: CallServerSettings = {}): Promise<RawClient> {
  server = await new CallServer(settings).listen();
  const client = new RawClient(server.port);
  await client.upgraded;
  client.socket.write(textFrame(startMessage));
  await server.until(() => server.calls[0]?.log.includes('started') === true);
  return client;
}

describe('awaiting_start', () => {
  it('answers a valid start with started, and the call is open', async () => {
    const client = await open();
    expect(client.messages).toEqual([
      { type: 'started', version: 1, call_id: 'made-up-0', sample_rate: 16_000, encoding: 'pcm16' },
    ]);
    expect(server.call.log).toEqual(['started']);
  });

  it('answers an invalid start with a fatal error, then closes', async () => {
    const client = await connected();
    client.send({ type: 'start', version: 1 });
    expect(await client.closed).toBe(1002);
    expect(client.messages).toMatchObject([{ type: 'error', code: 'invalid_message', fatal: true }]);
    await server.until(() => server.call.log.includes('ended fault'));
  });

  it('ends with start_timeout and 1008 when no start comes in time', async () => {
    const client = await connected();
    server.advance(4_999);
    expect(server.call.log).toEqual([]);
    server.advance(1);
    expect(await client.closed).toBe(1008);
    expect(client.messages).toMatchObject([{ type: 'error', code: 'start_timeout', fatal: true }]);
    expect(server.call.log).toEqual(['fault start_timeout fatal', 'ended fault']);
  });

  it("does not count the engine's time to accept as a missing start", async () => {
    const client = await connected({ onStart: () => undefined });
    client.send(startMessage);
    await server.until(() => server.call.log.includes('started'));
    server.advance(6_000);
    server.call.transport.accept();
    await client.received('started');
  });
});

describe('open', () => {
  it('answers stop with stop{ended} and closes; the engine sees a hang-up', async () => {
    const client = await open();
    client.send({ type: 'stop' });
    expect(await client.closed).toBe(1000);
    expect(client.messages.at(-1)).toEqual({ type: 'stop', reason: 'ended' });
    expect(server.call.log).toEqual(['started', 'ended hangup']);
  });

  it('answers a close frame with a close frame, at once, and sends no stop', async () => {
    const client = await rawOpen();
    client.socket.write(closeFrame(1000));
    await server.until(() => server.call.log.includes('ended closed'));
    expect(server.call.socketClosed).toBe(false);
    await client.ended;
    expect(client.frames().slice(1)).toEqual([1000]);
  });

  it('answers stop before the close frame that follows it in the same packet', async () => {
    const client = await rawOpen();
    client.socket.write(Buffer.concat([textFrame({ type: 'stop' }), closeFrame(1000)]));
    await client.ended;
    expect(client.frames().slice(1)).toEqual([{ type: 'stop', reason: 'ended' }, 1000]);
    expect(server.call.log).toEqual(['started', 'ended hangup']);
  });

  it('serves start, stop and a close frame in one packet', async () => {
    server = await new CallServer({}).listen();
    const client = new RawClient(server.port);
    await client.upgraded;
    client.socket.write(
      Buffer.concat([textFrame(startMessage), textFrame({ type: 'stop' }), closeFrame(1000)]),
    );
    await client.ended;
    expect(client.frames()).toMatchObject([{ type: 'started' }, { type: 'stop', reason: 'ended' }, 1000]);
  });

  it('hangs up for the engine with stop{ended} and 1000', async () => {
    const client = await open();
    server.call.transport.end('ended');
    expect(server.call.log).toEqual(['started']);
    expect(await client.closed).toBe(1000);
    expect(client.messages.at(-1)).toEqual({ type: 'stop', reason: 'ended' });
    await server.until(() => server.call.log.at(-1) === 'ended engine');
  });

  it('says stop{shutdown} and 1001 when the server stops', async () => {
    const client = await open();
    server.call.transport.end('shutdown');
    expect(await client.closed).toBe(1001);
    expect(client.messages.at(-1)).toEqual({ type: 'stop', reason: 'shutdown' });
  });

  it('sees a disconnect when the connection ends without a close frame, and emits no error', async () => {
    const client = await rawOpen();
    client.socket.end();
    await server.until(() => server.call.log.includes('ended disconnected'));
    expect(client.frames()).toMatchObject([{ type: 'started' }]);
    expect(server.call.log).toEqual(['started', 'ended disconnected']);
  });

  it('sees a disconnect when the connection is reset', async () => {
    const client = await rawOpen();
    client.socket.resetAndDestroy();
    await server.until(() => server.call.log.includes('ended disconnected'));
    expect(server.call.log).toEqual(['started', 'ended disconnected']);
  });

  it('sends a fatal error before the close frame', async () => {
    const client = await rawOpen();
    client.socket.write(clientFrame(2, Buffer.alloc(3)));
    await server.until(() => server.call.log.includes('ended fault'));
    client.socket.end(closeFrame(1008));
    await client.ended;
    expect(client.frames().slice(1)).toMatchObject([{ type: 'error', code: 'bad_audio', fatal: true }, 1008]);
  });

  it('ends with ping_timeout and 1008 when no frame comes for ping_timeout', async () => {
    server = await new CallServer({}).listen();
    const client = new CallClient(server.port, { autoPong: false });
    await client.opened();
    client.send(startMessage);
    await client.received('started');
    server.advance(29_999);
    expect(server.call.log).toEqual(['started']);
    server.advance(1);
    expect(await client.closed).toBe(1008);
    expect(client.messages.at(-1)).toMatchObject({ code: 'ping_timeout', fatal: true });
    expect(client.pings).toBe(2);
  });

  for (const kind of ['ping', 'pong'] as const) {
    it(`lets a ${kind} count as a frame`, async () => {
      server = await new CallServer({}).listen();
      const client = new CallClient(server.port, { autoPong: false });
      await client.opened();
      client.send(startMessage);
      await client.received('started');
      for (let round = 1; round <= 4; round += 1) {
        server.advance(20_000);
        client.ws[kind]();
        await server.until(() => server.call.controlFrames === round);
      }
      expect(server.call.log).toEqual(['started']);
    });
  }

  it('lets a fragment of a message that is not complete count as a frame, and a part of a frame not', async () => {
    const client = await rawOpen();
    const fragment = (opcode: number): Buffer =>
      Buffer.concat([Buffer.from([opcode, 0x80 | 2]), Buffer.alloc(4), Buffer.alloc(2)]);
    const read = server.call.readBytes;
    let sent = 0;
    const send = async (bytes: Buffer): Promise<void> => {
      client.socket.write(bytes);
      sent += bytes.length;
      await server.until(() => server.call.readBytes === read + sent);
    };
    await send(fragment(2));
    for (let round = 0; round < 4; round += 1) {
      server.advance(20_000);
      await send(fragment(0));
    }
    expect(server.call.log).toEqual(['started']);
    server.advance(20_000);
    await send(fragment(0).subarray(0, 7));
    server.advance(10_000);
    expect(server.call.log.at(-1)).toBe('ended fault');
  });

  it('ends with too_many_errors after more than 16 faults', async () => {
    const client = await open();
    for (let count = 0; count < 17; count += 1) client.send({ type: 'nonsense' });
    expect(await client.closed).toBe(1008);
    const codes = client.messages.slice(1).map((message) => [message['code'], message['fatal']]);
    expect(codes).toEqual([
      ...Array.from({ length: 16 }, () => ['unknown_message', false]),
      ['too_many_errors', true],
    ]);
  });

  it('closes without a message when the client socket stays full for write_timeout', async () => {
    const client = await rawOpen({ limits: { writeTimeoutMs: 1_000 } });
    client.socket.pause();
    const frame = Buffer.alloc(60_000);
    while (server.call.transport.bufferedBytes === 0) server.call.transport.sendAudio(frame, 16_000);
    server.advance(1_000);
    expect(server.call.log).toEqual(['started']);
    server.advance(20);
    expect(server.call.log).toEqual(['started', 'ended fault']);
    await server.until(() => server.call.socketClosed);
  });
});

describe('closing', () => {
  it('cuts the connection when the client does not answer the close frame within close_grace', async () => {
    const client = await rawOpen({ limits: { closeGraceMs: 600_000 } });
    server.call.transport.end('ended');
    server.advance(599_999);
    expect(server.call.socketClosed).toBe(false);
    server.advance(1);
    await server.until(() => server.call.socketClosed);
    await client.ended;
    expect(server.call.log).toEqual(['started', 'ended engine']);
  });

  it('cuts it also when nobody ticks any more', async () => {
    await rawOpen({ limits: { closeGraceMs: 30 } });
    server.call.transport.end('ended');
    await server.until(() => server.call.socketClosed);
    expect(server.call.log).toEqual(['started', 'ended engine']);
  });

  it('closes with 1011 and no message when the call broke inside', async () => {
    const client = await open();
    server.call.transport.fail();
    expect(await client.closed).toBe(1011);
    expect(client.messages).toHaveLength(1);
  });

  it('tells the engine nothing that comes after the end', async () => {
    const client = await rawOpen();
    client.socket.write(
      Buffer.concat([
        textFrame({ type: 'stop' }),
        clientFrame(2, Buffer.alloc(640)),
        textFrame({ type: 'dtmf', digit: '1' }),
        clientFrame(2, Buffer.alloc(3)),
        closeFrame(1000),
      ]),
    );
    await client.ended;
    client.socket.end();
    await server.until(() => server.call.socketClosed);
    expect(server.call.log).toEqual(['started', 'ended hangup']);
  });
});
