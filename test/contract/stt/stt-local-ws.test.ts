import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { SttEvent, SttSession, SttStage } from '../../../worker/stages/stage.ts';
import { newSttLocalWs } from '../../../worker/stages/stt/sherpa-onnx/adapter.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { FakeSttLocalWs } from '../../support/fakes/fake-stt-local-ws.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** The next ping was answered, and the answer has come. */
const signOfLife = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('ping', () => {
      socket.once('pong', () => resolve());
      socket.ping();
    });
  });

describe.each(['cpp', 'python'] as const)('the local recogniser stage against the %s server', (flavour) => {
  let server: FakeSttLocalWs;
  let events: Events<SttEvent>;
  let stage: SttStage;
  let session: SttSession;

  const open = (
    clock?: Clock,
    options: { sampleRate?: number; padding?: number; apiKey?: string } = {},
  ): void => {
    stage = newSttLocalWs({
      baseUrl: server.baseUrl,
      path: '/',
      sampleRate: options.sampleRate ?? 16_000,
      finalizeTimeoutMs: 1500,
      finalizePaddingMs: options.padding ?? 300,
      ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    });
    events = new Events();
    session = stage.open(newStageContext(clock), events.sink);
  };
  const opened = async (): Promise<void> => {
    open();
    await server.until(() => server.connections.length === 1);
  };
  const speak = (seconds: number): void => {
    for (let i = 0; i < seconds * 50; i += 1) session.audio(new Int16Array(320).fill(i + 1));
  };
  const finals = (): string[] =>
    events
      .of('transcript')
      .filter((t) => t.isFinal)
      .map((t) => t.text);

  beforeEach(async () => {
    server = new FakeSttLocalWs({ flavour });
    await server.start();
  });
  afterEach(async () => {
    session.close();
    await stage.close();
    await server.close();
  });

  it('reports partials and then the final text of a finalized utterance', async () => {
    server.utterances.push('book a table for two');
    await opened();
    speak(1);
    await events.seen('transcript', 2);
    session.finalize();
    await events.seen('finalized');
    const partials = events.of('transcript').filter((t) => !t.isFinal);
    expect(partials.map((t) => t.text)).toContain('book a');
    expect(partials.every((t) => !t.speechFinal && !t.fromFinalize)).toBe(true);
    expect(events.all.slice(-2)).toEqual([
      {
        type: 'transcript',
        text: 'book a table for two',
        isFinal: true,
        speechFinal: true,
        fromFinalize: true,
      },
      { type: 'finalized' },
    ]);
  });

  it('hears one utterance after the other, sends no text but the end marker, and no audio to a finished stream', async () => {
    server.utterances.push('one', 'two', 'three');
    await opened();
    for (let i = 1; i <= 3; i += 1) {
      speak(0.5);
      session.finalize();
    }
    speak(0.5);
    await events.seen('finalized', 3);
    expect(finals()).toEqual(['one', 'two', 'three']);
    expect(server.connections.some((c) => c.died)).toBe(false);
    expect(server.connections.flatMap((c) => c.texts)).toEqual(['Done', 'Done', 'Done']);
    expect(events.of('error')).toEqual([]);
  });

  it('sends float samples in frames of 100 ms and pads the end with silence', async () => {
    await opened();
    session.audio(Int16Array.from({ length: 2000 }, (_, i) => i - 1000));
    session.finalize();
    await events.seen('finalized');
    const [connection] = server.connections;
    expect(connection!.frames).toEqual([1600, 400, 4800]);
    expect(connection!.audio.slice(0, 2)).toEqual([-1000 / 32_768, -999 / 32_768]);
    expect(connection!.audio[1999]).toBe(999 / 32_768);
    expect(connection!.audio.slice(2000).every((sample) => sample === 0)).toBe(true);
  });

  it('resamples to the rate of the model', async () => {
    open(undefined, { sampleRate: 8000, padding: 0 });
    speak(1);
    session.finalize();
    await events.seen('finalized');
    const sent = server.last.frames.length === 0 ? server.connections[0]! : server.last;
    expect(sent.frames[0]).toBe(800);
    const samples = sent.frames.reduce((sum, size) => sum + size, 0);
    expect(samples).toBeGreaterThan(7_900);
    expect(samples).toBeLessThan(8_200);
  });

  it('keeps audio until the connection is there, the newest 64 frames of it', async () => {
    open();
    const kept = Array.from({ length: 64 }, () => session.audio(new Int16Array(1600).fill(7)));
    expect(kept.every(Boolean)).toBe(true);
    expect(session.audio(new Int16Array(1600).fill(9))).toBe(false);
    session.finalize();
    await events.seen('finalized');
    const [connection] = server.connections;
    expect(connection!.frames.slice(0, 64)).toEqual(Array<number>(64).fill(1600));
    expect(connection!.audio[63 * 1600]).toBe(9 / 32_768);
  });

  it('answers a finalize without audio at once and without the server', async () => {
    await opened();
    session.finalize();
    session.finalize();
    expect(events.all).toEqual([]);
    await events.seen('finalized', 2);
    expect(server.last.texts).toEqual([]);
  });

  it('answers an empty finalize after the one before it', async () => {
    server.utterances.push('hello');
    await opened();
    speak(0.5);
    session.finalize();
    session.finalize();
    await events.seen('finalized', 2);
    expect(events.all.slice(-3).map((event) => event.type)).toEqual(['transcript', 'finalized', 'finalized']);
  });

  it('gives the last partial when the server does not answer in time, and goes on with a new connection', async () => {
    server.utterances.push('half a word', 'again');
    server.ignoreDone = true;
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.connections.length === 1);
    speak(0.6);
    await events.seen('transcript', 2);
    const lives = signOfLife(server.last.socket);
    session.finalize();
    await lives;
    clock.advance(1499);
    expect(events.of('finalized')).toEqual([]);
    clock.advance(1);
    expect(events.all.slice(-2)).toMatchObject([
      { text: 'half a word', isFinal: true },
      { type: 'finalized', isLate: true },
    ]);
    server.ignoreDone = false;
    speak(0.5);
    session.finalize();
    await events.seen('finalized', 2);
    expect(finals()).toEqual(['half a word', 'again']);
    expect(server.connections.length).toBeGreaterThan(1);
  });

  it('calls a finalize that a dead connection swallowed a timeout', async () => {
    server.utterances.push('half a word');
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.connections.length === 1);
    speak(0.6);
    await events.seen('transcript', 2);
    server.last.socket.pause();
    session.finalize();
    clock.advance(1500);
    expect(finals()).toEqual([]);
    expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'timeout', what: 'finalize' } });
    expect(events.of('finalized')).toEqual([]);
  });

  it('does not call speech heard that no server took', async () => {
    server.mute = true;
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.attempts === 1);
    speak(0.5);
    session.finalize();
    clock.advance(1500);
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'connect' } }]);
  });

  it('rejects with the status of the handshake', async () => {
    server.refuseWith = 503;
    open();
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status: 503 } }]);
  });

  it('gives up a connection that is not there after three seconds', async () => {
    server.mute = true;
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.attempts === 1);
    clock.advance(2999);
    expect(events.all).toEqual([]);
    clock.advance(1);
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'connect' } }]);
  });

  it('is disconnected when nobody listens', async () => {
    const { baseUrl } = server;
    await server.close();
    stage = newSttLocalWs({
      baseUrl,
      path: '/',
      sampleRate: 16_000,
      finalizeTimeoutMs: 1500,
      finalizePaddingMs: 0,
    });
    events = new Events();
    session = stage.open(newStageContext(), events.sink);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
    await server.start();
  });

  it('is disconnected when the connection is lost during an utterance', async () => {
    server.utterances.push('one two three');
    await opened();
    speak(0.6);
    await events.seen('transcript');
    server.last.socket.terminate();
    await events.seen('error');
    expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'disconnected' } });
    expect(session.audio(new Int16Array(1600))).toBe(false);
  });

  it('is disconnected when the server dies while it finishes an utterance', async () => {
    server.ignoreDone = true;
    await opened();
    speak(0.5);
    session.finalize();
    await server.until(() => server.last.texts.length === 1);
    server.last.socket.close(1011);
    await events.seen('error');
    expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'disconnected' } });
  });

  it('reconnects silently on the next audio when the connection is lost between utterances', async () => {
    server.utterances.push('first', 'second');
    await opened();
    speak(0.5);
    session.finalize();
    await events.seen('finalized');
    const before = flavour === 'python' ? 2 : 1;
    await server.until(() => server.connections.length === before);
    server.last.socket.close(1001);
    await server.until(() => server.last.closed !== undefined);
    speak(0.5);
    session.finalize();
    await events.seen('finalized', 2);
    expect(events.of('error')).toEqual([]);
    expect(finals()).toEqual(['first', 'second']);
  });

  it('reports a reconnect that fails when there is audio for it', async () => {
    await opened();
    server.refuseWith = 503;
    server.last.socket.close(1000);
    await server.until(() => server.last.closed !== undefined);
    speak(0.1);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status: 503 } }]);
  });

  it.each([
    ['a text that is no result', 'what?', 'a message is a result or the end marker'],
    ['a binary message', Buffer.from([1, 2]), 'a server message is text'],
  ])('reports %s as a protocol error', async (_name, message, rule) => {
    await opened();
    server.last.socket.send(message);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'protocol', rule } }]);
  });

  it("ends a segment at the server's own endpoint", async () => {
    server.utterances.push('yes please');
    await opened();
    speak(0.7);
    await events.seen('transcript', 2);
    server.endpoint();
    await events.until(() => finals().length === 1);
    expect(events.all.at(-1)).toEqual({
      type: 'transcript',
      text: 'yes please',
      isFinal: true,
      speechFinal: true,
      fromFinalize: false,
    });
  });

  it('sends a token to a loopback host, and refuses to send one in the clear elsewhere', async () => {
    open(undefined, { apiKey: 'secret-token' });
    await server.until(() => server.connections.length === 1);
    expect(server.last.headers.authorization).toBe('Bearer secret-token');
    const options = { path: '/', sampleRate: 16_000, finalizeTimeoutMs: 1500, finalizePaddingMs: 0 };
    expect(() =>
      newSttLocalWs({ ...options, baseUrl: 'ws://10.0.0.7:6006', apiKey: 'secret-token' }),
    ).toThrow('a key is only sent over TLS or to a loopback host');
  });

  it('keeps to its host whatever the path looks like', async () => {
    stage = newSttLocalWs({
      baseUrl: server.baseUrl,
      path: '//elsewhere.example/stream',
      sampleRate: 16_000,
      finalizeTimeoutMs: 1500,
      finalizePaddingMs: 0,
    });
    events = new Events();
    session = stage.open(newStageContext(), events.sink);
    await server.until(() => server.connections.length === 1);
    expect(server.attempts).toBe(1);
  });

  it('says goodbye and nothing more when it is closed', async () => {
    server.utterances.push('never heard');
    await opened();
    speak(0.5);
    await events.seen('transcript');
    session.finalize();
    session.close();
    const before = events.all.length;
    await server.until(() => server.connections[0]!.closed !== undefined);
    expect(server.connections[0]!.closed).toBe(1000);
    expect(events.all.length).toBe(before);
  });

  it('leaves no timer behind', async () => {
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.connections.length === 1);
    speak(0.5);
    session.finalize();
    await events.seen('finalized');
    session.close();
    await server.until(() => server.connections.every((c) => c.closed !== undefined));
    clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('does not mix a stream that never said its end marker into the next utterance', async () => {
    if (flavour === 'python') return;
    server.utterances.push('first', 'second');
    server.withholdDone = true;
    const clock = newVirtualClock();
    open(clock);
    await server.until(() => server.connections.length === 1);
    speak(1);
    session.finalize();
    await events.seen('finalized');
    speak(0.5);
    server.withholdDone = false;
    clock.advance(1500);
    session.finalize();
    await events.seen('finalized', 2);
    expect(finals()).toEqual(['first', 'second']);
    expect(server.connections.some((c) => c.died)).toBe(false);
  });
});
