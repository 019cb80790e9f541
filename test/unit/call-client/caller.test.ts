/** The caller against a scripted server: real sockets, virtual time. */
import { afterEach, describe, expect, it } from 'vitest';
import { CallClient } from '../../../cli/commands/call/caller.ts';
import type { CallerEvent } from '../../../cli/commands/call/caller.ts';
import { CallRefused } from '../../../cli/commands/call/call-wire.ts';
import type { CallerOptions } from '../../../cli/commands/call/call-wire.ts';
import { hangUpWhenAsked, isLoud, listen, loud, newTestClock, refuseWith, start } from './scripted-server.ts';
import type { Peer, ScriptedServer, TestClock } from './scripted-server.ts';

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Call {
  readonly client: CallClient;
  readonly peer: Peer;
  readonly clock: TestClock;
  readonly events: CallerEvent[];
}

async function call(
  options: Partial<CallerOptions> = {},
  script: (peer: Peer) => unknown = start,
): Promise<Call> {
  const clock = newTestClock();
  const events: CallerEvent[] = [];
  const peers: Peer[] = [];
  server = await listen((peer) => {
    peers.push(peer);
    return script(peer);
  });
  const client = await CallClient.connect(
    { url: server.url, clock, sampleRate: 16_000, encoding: 'pcm16', microphone: false, ...options },
    (event) => events.push(event),
  );
  return { client, peer: peers[0]!, clock, events };
}

const refusal = (promise: Promise<unknown>): Promise<CallRefused> =>
  promise.then(
    () => expect.fail('the call was not refused'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(CallRefused);
      return error as CallRefused;
    },
  );

const of = (type: CallerEvent['type']) => (event: CallerEvent) => event.type === type;

describe('CallClient.connect', () => {
  it('sends start as asked, with the token as a bearer', async () => {
    const { client, peer } = await call({
      sampleRate: 8000,
      encoding: 'mulaw',
      token: 'secret',
      callId: 'mine',
      metadata: { a: 'b' },
    });
    expect(peer.received[0]).toEqual({
      type: 'start',
      version: 1,
      sample_rate: 8000,
      encoding: 'mulaw',
      call_id: 'mine',
      metadata: { a: 'b' },
    });
    expect(peer.request.headers.authorization).toBe('Bearer secret');
    expect(client.callId).toBe('mine');
  });

  it('hears what comes in the same packet as started', async () => {
    const { client, clock } = await call({ prebufferMs: 0 }, (peer) => {
      const cork = peer.request.socket as unknown as { cork(): void; uncork(): void };
      peer.socket.once('message', () => {
        cork.cork();
        peer.send({ type: 'started', version: 1, call_id: 'c', sample_rate: 16_000, encoding: 'pcm16' });
        peer.speak(2);
        peer.send({ type: 'mark', id: 'm' });
        cork.uncork();
      });
    });
    if (client.playout.nextMarkMs() === undefined) await client.next(of('mark'));
    clock.advance(100);
    expect([...client.heard()].filter((v) => v === 6000)).toHaveLength(640);
  });

  it('tells a refusal by HTTP with its status and Retry-After', async () => {
    server = await refuseWith(
      'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n',
    );
    const options = { url: server.url, clock: newTestClock(), sampleRate: 8000, encoding: 'pcm16' } as const;
    const error = await refusal(CallClient.connect(options));
    expect(error.message).toBe('the server refused the call with HTTP 503 (Retry-After: 7)');
    expect([error.status, error.retryAfter]).toEqual([503, '7']);
  });

  it('tells that nobody listens, without repeating the address', async () => {
    server = await refuseWith('');
    const url = `${server.url}/?token=secret`;
    await server.close();
    server = undefined;
    const options = { url, clock: newTestClock(), sampleRate: 8000, encoding: 'pcm16' } as const;
    const error = await refusal(CallClient.connect(options));
    expect(error.message).toBe('the server cannot be reached: ECONNREFUSED');
  });

  it('tells what is wrong with an address that is none', async () => {
    const options = { url: 'nowhere', clock: newTestClock(), sampleRate: 8000, encoding: 'pcm16' } as const;
    expect((await refusal(CallClient.connect(options))).message).toMatch(/^url: must be/);
  });

  it.each([
    [
      'a fatal error',
      { type: 'error', code: 'server_busy', message: 'later', fatal: true },
      'server_busy: later',
    ],
    ['a stop', { type: 'stop', reason: 'shutdown' }, 'ended the call: shutdown'],
    ['another message', { type: 'mark', id: 'x' }, 'mark came before started'],
    [
      'another version',
      { type: 'started', version: 2, call_id: 'c', sample_rate: 16_000, encoding: 'pcm16' },
      'version',
    ],
    [
      'another rate',
      { type: 'started', version: 1, call_id: 'c', sample_rate: 8000, encoding: 'pcm16' },
      'another rate',
    ],
  ])('takes no call when %s comes instead of started', async (_, message, reason) => {
    const error = await refusal(call({}, (peer) => peer.send(message)));
    expect(error.message).toContain(reason);
  });

  it('takes no call when the server closes', async () => {
    const error = await refusal(call({}, (peer) => peer.socket.close(1013)));
    expect(error.message).toBe('the server closed the connection before the call started (1013)');
  });

  it('gives up on a server that never answers', async () => {
    const clock = newTestClock();
    server = await listen((peer) =>
      peer.message((m) => m.type === 'start').then(() => clock.advance(10_000)),
    );
    const options = { url: server.url, clock, sampleRate: 8000, encoding: 'pcm16' } as const;
    expect((await refusal(CallClient.connect(options))).message).toBe(
      'the call did not start within 10000 ms',
    );
  });
});

describe('a caller who listens', () => {
  it('echoes a mark when the audio before it has been played, and not before', async () => {
    const { client, peer, clock, events } = await call({ prebufferMs: 40 });
    peer.speak(5);
    peer.send({ type: 'mark', id: 'first' });
    await client.next(of('mark'));
    clock.advance(139);
    expect(events.some(of('mark-played'))).toBe(false);
    clock.advance(2);
    expect(events.some(of('mark-played'))).toBe(true);
    expect(await peer.message((m) => m.type === 'mark')).toEqual({ type: 'mark', id: 'first' });
  });

  it('falls silent at clear and never echoes the marks that it cut', async () => {
    const { client, peer, clock, events } = await call({ prebufferMs: 0 });
    peer.speak(10);
    peer.send({ type: 'mark', id: 'cut' });
    await client.next(of('mark'));
    clock.advance(50);
    peer.send({ type: 'clear', epoch: 3 });
    await client.next(of('clear'));
    expect(events.find(of('clear'))).toMatchObject({ epoch: 3, droppedMs: 150, atMs: 50 });
    peer.speak(1);
    peer.send({ type: 'mark', id: 'after' });
    await client.next(of('mark'));
    clock.advance(500);
    await peer.message((m) => m.type === 'mark');
    expect(peer.received.filter((m) => 'type' in m && m['type'] === 'mark')).toEqual([
      { type: 'mark', id: 'after' },
    ]);
    expect([...client.heard()].filter((v) => v === 6000)).toHaveLength(800 + 320);
  });

  it('understands mu-law', async () => {
    const { client, peer, clock } = await call({ sampleRate: 8000, encoding: 'mulaw', prebufferMs: 0 });
    peer.socket.send(Buffer.alloc(160, 0x80));
    await client.next(of('audio'));
    clock.advance(20);
    expect(new Set(client.heard())).toEqual(new Set([32_124]));
  });

  it('ignores what a later version may add', async () => {
    const { client, peer, events } = await call();
    peer.send({ type: 'sparkle' });
    peer.send({ type: 'mark', id: 'x', extra: 1 });
    await client.next(of('mark-played'));
    expect(events.filter(of('fault'))).toEqual([]);
  });

  it.each([
    ['no JSON', 'hello', 'a text frame must be JSON'],
    ['an array', '[]', 'a message must be an object'],
    ['a clear without epoch', '{"type":"clear"}', 'clear: epoch is not as specified'],
    ['half a sample', Buffer.alloc(3), 'even byte count'],
    [
      'a second started',
      '{"type":"started","version":1,"call_id":"c","sample_rate":8000,"encoding":"mulaw"}',
      'twice',
    ],
  ])('notes %s as a fault of the server and goes on', async (_, data, rule) => {
    const { client, peer } = await call();
    peer.socket.send(data);
    expect(await client.next(of('fault'))).toMatchObject({ rule: expect.stringContaining(rule) as string });
    peer.send({ type: 'mark', id: 'still here' });
    expect(await client.next(of('mark'))).toBeDefined();
  });

  it('notes audio that comes much faster than it can be played', async () => {
    const { client, peer } = await call();
    for (let k = 0; k < 4; k++) peer.socket.send(loud(1000));
    peer.socket.send(loud(1));
    expect(await client.next(of('fault'))).toMatchObject({ rule: 'audio must come in real time' });
  });
});

describe('a caller who speaks', () => {
  it('never stops sending: silence between, the recording when told', async () => {
    const { client, peer, clock } = await call({ microphone: true });
    clock.advance(95);
    const said = client.say(new Int16Array(800).fill(9000));
    clock.advance(100);
    expect(await said).toEqual({ startMs: 100, endMs: 140 });
    await hangUpAndWait(client, peer);
    const frames = peer.received.filter((m) => Buffer.isBuffer(m));
    expect(frames.map((bytes) => bytes.length)).toEqual(Array<number>(10).fill(640));
    expect(frames.map(isLoud)).toEqual(Array.from('0000011100').map((digit) => digit === '1'));
    // The last frame of the recording is filled up with silence.
    expect(frames[7]!.readInt16LE(318)).toBe(9000);
    expect(frames[7]!.readInt16LE(320)).toBe(0);
  });

  it('sends frames of the call encoding', async () => {
    const { client, peer, clock } = await call({ microphone: true, sampleRate: 8000, encoding: 'mulaw' });
    clock.advance(10);
    await hangUpAndWait(client, peer);
    expect(peer.received.find((m) => Buffer.isBuffer(m))).toEqual(Buffer.alloc(160, 0xff));
  });

  it('says one thing at a time, and nothing after the call', async () => {
    const { client, peer } = await call({ microphone: true });
    const said = client.say(new Int16Array(16_000));
    await expect(client.say(new Int16Array(1))).rejects.toThrow('speaking already');
    await hangUpAndWait(client, peer);
    expect(await said).toBeUndefined();
    expect(await client.say(new Int16Array(1))).toBeUndefined();
  });

  it('sends keys', async () => {
    const { client, peer } = await call();
    client.sendDtmf('#');
    expect(await peer.message((m) => m.type === 'dtmf')).toEqual({ type: 'dtmf', digit: '#' });
  });
});

describe('the end of a call', () => {
  it('is a stop that the server answers', async () => {
    const { client, peer } = await call();
    expect(await hangUpAndWait(client, peer)).toEqual({ code: 1000, reason: 'ended' });
    expect(await client.next(of('audio'))).toBeUndefined();
  });

  it('may come from the server', async () => {
    const { client, peer } = await call();
    peer.send({ type: 'stop', reason: 'shutdown' });
    peer.socket.close(1001);
    expect(await client.closed).toEqual({ code: 1001, reason: 'shutdown' });
  });

  it('may be a connection that breaks', async () => {
    const { client, peer } = await call();
    peer.socket.terminate();
    expect(await client.closed).toEqual({ code: 1006, reason: undefined });
  });

  it('does not wait for a server that ignores stop', async () => {
    const { client, peer, clock } = await call();
    const end = client.hangUp();
    await peer.message((m) => m.type === 'stop');
    clock.advance(3000);
    expect((await end).code).toBe(1006);
  });
});

async function hangUpAndWait(client: CallClient, peer: Peer): ReturnType<CallClient['hangUp']> {
  const [end] = await Promise.all([client.hangUp(), hangUpWhenAsked(peer)]);
  return end;
}
