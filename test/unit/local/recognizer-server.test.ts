/** The recogniser's server on real sockets, its engine played by the test. */
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { Hearing, HearingStream, StreamEvents } from '../../../cli/commands/local/hearing.ts';
import { newRecognizerServer, type RecognizerServer } from '../../../cli/commands/local/recognizer-server.ts';
import { Observed } from '../../support/process/observed.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

interface PlayedStream {
  readonly events: StreamEvents;
  readonly audio: Float32Array[];
  calls: string[];
}

class PlayedEngine extends Observed implements Hearing {
  readonly streams: PlayedStream[] = [];
  isThere = true;

  open(events: StreamEvents): HearingStream | undefined {
    if (!this.isThere) return undefined;
    const stream: PlayedStream = { events, audio: [], calls: [] };
    this.streams.push(stream);
    const note = (call: string): void => {
      stream.calls.push(call);
      this.changed();
    };
    return {
      audio: (samples) => {
        stream.audio.push(samples);
        note('audio');
      },
      finish: () => note('finish'),
      drop: () => note('drop'),
    };
  }
}

class Client extends Observed {
  readonly socket: WebSocket;
  readonly texts: string[] = [];
  closed: number | undefined;
  status: number | undefined;

  constructor(url: string, headers: Record<string, string> = {}) {
    super();
    this.socket = new WebSocket(url, { headers });
    this.socket.on('open', () => this.changed());
    this.socket.on('message', (data: Buffer) => {
      this.texts.push(data.toString());
      this.changed();
    });
    this.socket.on('unexpected-response', (_, response) => {
      this.status = response.statusCode;
      response.resume();
      this.changed();
    });
    this.socket.on('close', (code) => {
      this.closed = code;
      this.changed();
    });
    this.socket.on('error', () => undefined);
  }

  async open(): Promise<this> {
    await this.until(() => this.socket.readyState === WebSocket.OPEN);
    return this;
  }
}

const result = {
  text: 'hello',
  tokens: [' hel', 'lo'],
  timestamps: [0.1, 0.4],
  segment: 0,
  startTimeS: 0,
  isFinal: false,
  isEof: false,
};

describe('the local recogniser', () => {
  let engine: PlayedEngine;
  let server: RecognizerServer;
  let url: string;
  const clock = newVirtualClock();

  beforeEach(async () => {
    engine = new PlayedEngine();
    server = newRecognizerServer({ hearing: engine, maxStreams: 2, clock });
    await new Promise<void>((resolve) => server.http.listen(0, '127.0.0.1', resolve));
    url = `ws://127.0.0.1:${(server.http.address() as AddressInfo).port}/`;
  });
  afterEach(() => server.close());

  const client = (headers?: Record<string, string>): Promise<Client> => new Client(url, headers).open();

  it('gives samples to the engine, its results as JSON to the client, and Done! behind the last', async () => {
    const caller = await client();
    caller.socket.send(Float32Array.of(0, 0.5, -1, 2, Number.NaN));
    await engine.until(() => engine.streams[0]?.audio.length === 1);
    expect([...engine.streams[0]!.audio[0]!]).toEqual([0, 0.5, -1, 1, 0]);
    engine.streams[0]!.events.heard(result);
    caller.socket.send('Done');
    await engine.until(() => engine.streams[0]?.calls.includes('finish') === true);
    engine.streams[0]!.events.heard({ ...result, isFinal: true, isEof: true });
    engine.streams[0]!.events.finished();
    await caller.until(() => caller.texts.includes('Done!'));
    const [first, last] = caller.texts.slice(0, 2).map((text) => JSON.parse(text) as unknown);
    expect(first).toEqual({
      text: 'hello',
      tokens: [' hel', 'lo'],
      timestamps: [0.1, 0.4],
      ys_probs: [],
      lm_probs: [],
      context_scores: [],
      segment: 0,
      words: [],
      start_time: 0,
      is_final: false,
      is_eof: false,
    });
    expect(last).toMatchObject({ is_final: true, is_eof: true });
  });

  it('begins anew with the audio behind Done!, and answers Done without audio at once', async () => {
    const caller = await client();
    caller.socket.send('Done');
    await caller.until(() => caller.texts.length === 1);
    expect([caller.texts, engine.streams]).toEqual([['Done!'], []]);
    for (let utterance = 0; utterance < 2; utterance += 1) {
      caller.socket.send(new Float32Array(160));
      caller.socket.send('Done');
      await engine.until(() => engine.streams[utterance]?.calls.includes('finish') === true);
      engine.streams[utterance]!.events.finished();
      await caller.until(() => caller.texts.length === utterance + 2);
    }
    expect(engine.streams.map(({ calls }) => calls)).toEqual([
      ['audio', 'finish', 'drop'],
      ['audio', 'finish', 'drop'],
    ]);
  });

  it('reads no more than two seconds ahead of the engine', async () => {
    const caller = await client();
    const second = new Float32Array(16_000);
    for (let i = 0; i < 40; i += 1) caller.socket.send(second);
    const taken = (): number => engine.streams[0]?.audio.length ?? 0;
    await engine.until(() => taken() >= 3);
    // A server that still read the first client would have read all of it while another asks so often.
    const other = await client();
    for (let asked = 1; asked <= 100; asked += 1) {
      other.socket.send('Done');
      await other.until(() => other.texts.length === asked);
    }
    expect(taken()).toBeLessThan(10);
    for (let given = 0; given < 40; given += 1) {
      await engine.until(() => taken() > given);
      engine.streams[0]!.events.taken(16_000);
    }
    expect(taken()).toBe(40);
  });

  it.each([
    ['audio between Done and Done!', 1002, (socket: WebSocket) => socket.send(new Float32Array(16))],
    ['half a sample', 1007, (socket: WebSocket) => socket.send(new Uint8Array(5))],
    ['a frame of more than 1 MiB', 1009, (socket: WebSocket) => socket.send(new Uint8Array(1_048_580))],
  ])('closes its own connection on %s', async (what, code, send) => {
    const [bad, good] = [await client(), await client()];
    if (what.startsWith('audio')) {
      bad.socket.send(new Float32Array(160));
      bad.socket.send('Done');
    }
    send(bad.socket);
    await bad.until(() => bad.closed !== undefined);
    expect([bad.closed, good.closed]).toEqual([code, undefined]);
  });

  it('ignores other texts', async () => {
    const caller = await client();
    for (const text of ['done', '{"type":"ping"}', '']) caller.socket.send(text);
    caller.socket.send('Done');
    await caller.until(() => caller.texts.length === 1);
    expect(caller.texts).toEqual(['Done!']);
  });

  it('says 1011 when the engine dies, and when it is not there', async () => {
    const [listening, late] = [await client(), await client()];
    listening.socket.send(new Float32Array(160));
    await engine.until(() => engine.streams.length === 1);
    engine.isThere = false;
    engine.streams[0]!.events.lost();
    late.socket.send(new Float32Array(160));
    await listening.until(() => listening.closed !== undefined);
    await late.until(() => late.closed !== undefined);
    expect([listening.closed, late.closed]).toEqual([1011, 1011]);
  });

  it('takes so many connections and no more, until one leaves', async () => {
    const [first] = [await client(), await client()];
    const third = new Client(url);
    await third.until(() => third.status !== undefined);
    expect(third.status).toBe(503);
    first.socket.close();
    await first.until(() => first.closed !== undefined);
    await client();
  });

  it('is not for pages', async () => {
    const page = new Client(url, { origin: 'https://page.example' });
    await page.until(() => page.status !== undefined);
    expect(page.status).toBe(403);
  });

  it('drops who gives no sign of life, and the audio with it', async () => {
    const caller = await client();
    caller.socket.send(new Float32Array(160));
    await engine.until(() => engine.streams.length === 1);
    // A client that no longer reads answers no ping.
    caller.socket.pause();
    clock.advance(20_000);
    clock.advance(20_000);
    await engine.until(() => engine.streams[0]!.calls.includes('drop'));
    expect(server.streams).toBe(0);
  });
});
