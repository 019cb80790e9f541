/** One test for each row of docs/call-protocol.md, Errors, over real sockets. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  CallClient,
  CallServer,
  RawClient,
  clientFrame,
  startMessage,
  textFrame,
} from '../../unit/transports/call-server.ts';
import type { CallServerSettings } from '../../unit/transports/call-server.ts';

let server: CallServer;
afterEach(() => server.close());

interface Outcome {
  readonly code: unknown;
  readonly fatal: unknown;
  readonly message: string;
  readonly closeCode: number;
}

type Sent = string | Buffer | Readonly<Record<string, unknown>>;

async function client(settings: CallServerSettings = {}): Promise<CallClient> {
  server = await new CallServer(settings).listen();
  const opened = new CallClient(server.port);
  await opened.opened();
  return opened;
}

/** Sends the frames and gives the fatal error and the close code that followed. */
async function fate(frames: readonly Sent[], settings: CallServerSettings = {}): Promise<Outcome> {
  const caller = await client(settings);
  for (const frame of frames) {
    if (typeof frame === 'string' || Buffer.isBuffer(frame)) caller.ws.send(frame);
    else caller.send(frame);
  }
  const closeCode = await caller.closed;
  const error = caller.messages.at(-1);
  await server.until(() => server.call.log.at(-1)?.startsWith('ended') === true);
  expect(server.call.log.filter((line) => line.startsWith('ended'))).toHaveLength(1);
  return { code: error?.['code'], fatal: error?.['fatal'], message: String(error?.['message']), closeCode };
}

describe('invalid_json, fatal, 1002', () => {
  for (const text of ['{', '', 'null', '[]', '"start"', '{}', '{"type":1}', '\ufeff{"type":"stop"}']) {
    it(`${JSON.stringify(text)} before start`, async () => {
      expect(await fate([text])).toMatchObject({ code: 'invalid_json', fatal: true, closeCode: 1002 });
    });
  }

  it('in an open call', async () => {
    expect(await fate([startMessage, 'oops'])).toMatchObject({ code: 'invalid_json', closeCode: 1002 });
  });

  it('bytes that are not UTF-8', async () => {
    server = await new CallServer({}).listen();
    const raw = new RawClient(server.port);
    await raw.upgraded;
    raw.socket.write(clientFrame(1, Buffer.from('7b2274797065223a22ff227d', 'hex')));
    await server.until(() => server.calls[0]?.log.includes('ended fault') === true);
    raw.socket.end();
    await raw.ended;
    expect(raw.frames()).toMatchObject([{ code: 'invalid_json', fatal: true }, 1002]);
  });
});

describe('invalid_message, fatal, 1002 or 1008', () => {
  const start = startMessage;
  const rows: readonly (readonly [string, readonly Sent[], number])[] = [
    ['start without version', [{ type: 'start', sample_rate: 16_000 }], 1002],
    ['start with a version that is no integer', [{ ...start, version: '1' }], 1002],
    ['start without sample_rate', [{ type: 'start', version: 1 }], 1002],
    ['start with a sample_rate that is no integer', [{ ...start, sample_rate: 16_000.5 }], 1002],
    ['start with an unknown encoding', [{ ...start, encoding: 'opus' }], 1002],
    ['start with a call_id that is no string', [{ ...start, call_id: 5 }], 1002],
    ['start with a call_id over 128 bytes', [{ ...start, call_id: 'é'.repeat(65) }], 1008],
    ['start with metadata that is no object', [{ ...start, metadata: ['a'] }], 1002],
    ['start with a metadata value that is no string', [{ ...start, metadata: { a: 1 } }], 1002],
    ['start with events that are no array', [{ ...start, events: 'all' }], 1002],
    ['start with more than 64 events', [{ ...start, events: new Array(65).fill('user.text') }], 1008],
    ['dtmf without digit', [start, { type: 'dtmf' }], 1002],
    ['dtmf with a bad digit', [start, { type: 'dtmf', digit: 'E' }], 1002],
    ['dtmf with two digits', [start, { type: 'dtmf', digit: '12' }], 1002],
    ['mark without id', [start, { type: 'mark' }], 1002],
    ['mark with an id that is no string', [start, { type: 'mark', id: 7 }], 1002],
    ['mark with an id over 256 bytes', [start, { type: 'mark', id: 'é'.repeat(129) }], 1008],
    ['dtmf before start', [{ type: 'dtmf', digit: '1' }], 1008],
    ['mark before start', [{ type: 'mark', id: 'm' }], 1008],
    ['stop before start', [{ type: 'stop' }], 1008],
  ];
  for (const [what, frames, closeCode] of rows) {
    it(what, async () => {
      expect(await fate(frames)).toMatchObject({ code: 'invalid_message', fatal: true, closeCode });
    });
  }

  it('names the field and the rule, never the value', async () => {
    const { message } = await fate([{ ...start, metadata: { 'sk-secret': 'x'.repeat(300) } }]);
    expect(message).toContain('start.metadata');
    expect(message).not.toMatch(/secret|xxx/);
  });
});

describe('the other client faults', () => {
  it('unknown_message is fatal before start', async () => {
    expect(await fate([{ type: 'hello' }])).toMatchObject({ code: 'unknown_message', fatal: true });
  });

  it('unsupported_version, 1008, looked at before any other field', async () => {
    expect(await fate([{ type: 'start', version: 2, sample_rate: 'x', call_id: 5 }])).toMatchObject({
      code: 'unsupported_version',
      fatal: true,
      closeCode: 1008,
    });
  });

  it('unsupported_sample_rate, 1008', async () => {
    const sent = { ...startMessage, sample_rate: 11_025 };
    const expected = { code: 'unsupported_sample_rate', fatal: true, closeCode: 1008 };
    expect(await fate([sent])).toMatchObject(expected);
  });

  it('unexpected_start, 1008, also for a second start that is itself invalid', async () => {
    const expected = { code: 'unexpected_start', fatal: true, closeCode: 1008 };
    expect(await fate([startMessage, startMessage])).toMatchObject(expected);
    server.close();
    expect(await fate([startMessage, { type: 'start', version: 9 }])).toMatchObject(expected);
  });

  it('audio_before_start, 1008', async () => {
    const expected = { code: 'audio_before_start', fatal: true, closeCode: 1008 };
    expect(await fate([Buffer.alloc(640)])).toMatchObject(expected);
  });

  it('bad_audio, 1008, for pcm16 only', async () => {
    const expected = { code: 'bad_audio', fatal: true, closeCode: 1008 };
    expect(await fate([startMessage, Buffer.alloc(641)])).toMatchObject(expected);
  });
});

describe('frame_too_large, fatal, 1009', () => {
  const expected = { code: 'frame_too_large', fatal: true, closeCode: 1009 };

  it('an audio frame one sample over its limit', async () => {
    expect(await fate([startMessage, Buffer.alloc(65_538)])).toMatchObject(expected);
  });

  it('an audio frame far over its limit', async () => {
    expect(await fate([startMessage, Buffer.alloc(8_000_000)])).toMatchObject(expected);
  });

  it('a control frame over its own limit', async () => {
    const text = JSON.stringify({ ...startMessage, padding: 'x'.repeat(16_384) });
    expect(await fate([text])).toMatchObject(expected);
  });

  it('a control frame over both limits', async () => {
    const text = JSON.stringify({ ...startMessage, padding: 'x'.repeat(100_000) });
    expect(await fate([text])).toMatchObject(expected);
  });

  it('an audio frame over a limit that is lower than the control limit', async () => {
    const outcome = await fate([startMessage, Buffer.alloc(322)], { limits: { maxAudioBytes: 320 } });
    expect(outcome).toMatchObject(expected);
  });

  it('is told by the header alone: no payload has to arrive', async () => {
    server = await new CallServer({}).listen();
    const raw = new RawClient(server.port);
    await raw.upgraded;
    const header = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0]);
    raw.socket.write(Buffer.concat([textFrame(startMessage), header]));
    await server.until(() => server.calls[0]?.log.includes('ended fault') === true);
    raw.socket.end();
    await raw.ended;
    expect(raw.frames().slice(1)).toMatchObject([{ code: 'frame_too_large', fatal: true }, 1009]);
  });
});

describe('faults of the engine', () => {
  it('server_busy, 1013', async () => {
    const outcome = await fate([startMessage], { onStart: (transport) => transport.refuse('server_busy') });
    expect(outcome).toMatchObject({ code: 'server_busy', fatal: true, closeCode: 1013 });
    expect(server.call.log.at(-1)).toBe('ended engine');
  });

  it('a route that only a token may name: invalid_message, 1008', async () => {
    const outcome = await fate([startMessage], {
      onStart: (transport) => transport.refuse('unsigned_route'),
    });
    expect(outcome).toMatchObject({ code: 'invalid_message', fatal: true, closeCode: 1008 });
    expect(server.call.log.at(-1)).toBe('ended engine');
  });

  it('mark_id_too_long is not fatal; the mark is not sent', async () => {
    const caller = await client();
    caller.send(startMessage);
    await caller.received('started');
    const { transport } = server.call;
    expect(transport.sendMark('é'.repeat(129))).toBe(false);
    expect(transport.sendMark('é'.repeat(128))).toBe(true);
    await caller.received('mark');
    expect(caller.messages.slice(1)).toMatchObject([
      { type: 'error', code: 'mark_id_too_long', fatal: false },
      { type: 'mark', id: 'é'.repeat(128) },
    ]);
  });

  it('too_many_errors counts faults of both sides', async () => {
    const caller = await client();
    caller.send(startMessage);
    await caller.received('started');
    server.call.transport.sendAudio(Buffer.alloc(2), 8000);
    for (let count = 0; count < 8; count += 1) server.call.transport.sendMark('x'.repeat(257));
    for (let count = 0; count < 8; count += 1) caller.send({ type: 'nonsense' });
    expect(await caller.closed).toBe(1008);
    expect(caller.messages.at(-1)).toMatchObject({ code: 'too_many_errors', fatal: true });
  });

  it('overloaded, 1013, when the engine takes no input for send_timeout', async () => {
    const caller = await client({ limits: { closeGraceMs: 600_000 } });
    caller.send(startMessage);
    await caller.received('started');
    server.call.room = 0;
    caller.ws.send(Buffer.alloc(640));
    caller.send({ type: 'mark', id: 'after' });
    await server.until(() => server.call.log.includes('mark after'));
    server.advance(4_980);
    expect(server.call.log).not.toContain('ended fault');
    server.advance(20);
    expect(await caller.closed).toBe(1013);
    expect(caller.messages.at(-1)).toMatchObject({ code: 'overloaded', fatal: true });
    // Reading goes on, or the client's close frame would never be seen.
    await server.until(() => server.call.socketClosed);
  });
});

describe('framing that WebSocket forbids', () => {
  const rows: readonly (readonly [string, Buffer])[] = [
    ['a frame without a mask', Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
    ['a reserved bit', Buffer.from([0xc1, 0x80, 0, 0, 0, 0])],
    ['an unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0])],
    ['a continuation of nothing', Buffer.from([0x80, 0x80, 0, 0, 0, 0])],
    ['a close frame with a code that must not be sent', clientFrame(8, Buffer.from([0x03, 0xed]))],
  ];
  for (const [what, bytes] of rows) {
    it(`${what}: invalid_message, fatal, then 1002`, async () => {
      server = await new CallServer({}).listen();
      const raw = new RawClient(server.port);
      await raw.upgraded;
      raw.socket.write(Buffer.concat([textFrame(startMessage), bytes]));
      await server.until(() => server.calls[0]?.log.includes('ended fault') === true);
      raw.socket.end();
      await raw.ended;
      const error = { type: 'error', code: 'invalid_message', fatal: true };
      expect(raw.frames()).toMatchObject([{ type: 'started' }, error, 1002]);
    });
  }

  it('is told before start as well', async () => {
    server = await new CallServer({}).listen();
    const raw = new RawClient(server.port);
    await raw.upgraded;
    raw.socket.write(rows[0]![1]);
    await server.until(() => server.calls[0]?.log.includes('ended fault') === true);
    raw.socket.end();
    await raw.ended;
    expect(raw.frames()).toMatchObject([{ code: 'invalid_message', fatal: true }, 1002]);
  });
});
