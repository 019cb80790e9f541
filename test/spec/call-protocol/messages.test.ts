/** The rows of docs/call-protocol.md, Messages, with its rules of audio and of metadata (A call). */
import { afterEach, describe, expect, it } from 'vitest';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { CallClient, CallServer, startMessage } from '../../unit/transports/call-server.ts';
import type { CallServerSettings } from '../../unit/transports/call-server.ts';

const times = {
  endOfTurnMs: 500.6,
  sttFinalMs: 40,
  llmTtftMs: 300,
  ttsTtfbMs: 120,
  wireMs: 5,
  responseMs: 965.6,
  filled: false,
};

let server: CallServer;
afterEach(() => server.close());

async function open(
  settings: CallServerSettings = {},
  start: Readonly<Record<string, unknown>> = startMessage,
): Promise<CallClient> {
  server = await new CallServer(settings).listen();
  const client = new CallClient(server.port);
  await client.opened();
  client.send(start);
  await client.received('started');
  return client;
}

describe('client to server', () => {
  it('start: passes on id, rate and encoding, and echoes them', async () => {
    const client = await open({}, { ...startMessage, sample_rate: 8000, encoding: 'mulaw', call_id: 'ä1' });
    expect(server.call.starts).toEqual([
      { callId: 'ä1', sampleRate: 8000, encoding: 'mulaw', metadata: { sample_rate: '8000' }, events: [] },
    ]);
    expect(client.messages[0]).toEqual({
      type: 'started',
      version: 1,
      call_id: 'ä1',
      sample_rate: 8000,
      encoding: 'mulaw',
    });
  });

  it('start: unknown fields are ignored', async () => {
    await open({}, { ...startMessage, codec: 'opus', nested: { deep: [1] } });
    expect(server.call.starts).toHaveLength(1);
  });

  it('start: null is a field that is absent', async () => {
    const nulls = { call_id: null, encoding: null, events: null };
    await open({}, { ...startMessage, ...nulls, metadata: { name: 'Ada', other: null } });
    await server.until(() => server.call.starts.length > 0);
    expect(server.call.starts).toMatchObject([
      { encoding: 'pcm16', metadata: { name: 'Ada', sample_rate: '16000' }, events: [] },
    ]);
    expect(server.call.starts[0]?.metadata).not.toHaveProperty('other');
    server.close();
    await open({}, { ...startMessage, metadata: null });
    expect(server.call.starts).toHaveLength(1);
  });

  it('start: audio, dtmf and mark between start and started are passed on', async () => {
    server = await new CallServer({ onStart: () => undefined }).listen();
    const client = new CallClient(server.port);
    await client.opened();
    client.send(startMessage);
    client.ws.send(Buffer.alloc(640));
    client.send({ type: 'dtmf', digit: '7' });
    client.send({ type: 'mark', id: 'early' });
    await server.until(() => server.calls[0]?.log.includes('mark early') === true);
    expect(server.call.log).toEqual(['started', 'audio 640', 'dtmf 7', 'mark early']);
    expect(client.messages).toEqual([]);
    server.call.transport.accept();
    await client.received('started');
  });

  it('start: is told again, where the engine that was told it had no answer', async () => {
    server = await new CallServer({ onStart: () => undefined }).listen();
    const client = new CallClient(server.port);
    await client.opened();
    client.send(startMessage);
    await server.until(() => server.calls[0]?.log.includes('started') === true);
    server.call.transport.restart?.();
    expect(server.call.starts).toEqual([server.call.starts[0], server.call.starts[0]]);
    server.call.transport.accept();
    server.call.transport.restart?.();
    expect(server.call.log).toEqual(['started', 'started']);
  });

  it('dtmf: every key, lower-case letters equal to upper-case ones', async () => {
    const client = await open();
    for (const digit of '0123456789*#ABCDabcd') client.send({ type: 'dtmf', digit });
    await server.until(() => server.call.log.length === 21);
    expect(server.call.log.slice(1).join(' ')).toBe(
      Array.from('0123456789*#ABCDABCD', (digit) => `dtmf ${digit}`).join(' '),
    );
  });

  it('mark: the echo reaches the engine', async () => {
    const client = await open();
    client.send({ type: 'mark', id: 'é'.repeat(128) });
    await server.until(() => server.call.log.length === 2);
    expect(server.call.log[1]).toBe(`mark ${'é'.repeat(128)}`);
  });

  it('an unknown type is a non-fatal error', async () => {
    const client = await open();
    client.send({ type: 'hello' });
    client.send({ type: 'dtmf', digit: '1' });
    await server.until(() => server.call.log.includes('dtmf 1'));
    await client.received('error');
    expect(client.messages.at(-1)).toMatchObject({ code: 'unknown_message', fatal: false });
  });
});

describe('server to client', () => {
  it('clear, mark and audio arrive in the order in which the engine gave them', async () => {
    const client = await open();
    const { transport } = server.call;
    transport.sendAudio(Buffer.alloc(640, 1), 16_000);
    expect(transport.sendMark('m1')).toBe(true);
    transport.sendClear(4);
    transport.sendAudio(Buffer.alloc(640, 2), 16_000);
    transport.end('ended');
    await client.closed;
    expect(client.messages.slice(1)).toEqual([
      { type: 'mark', id: 'm1' },
      { type: 'clear', epoch: 4 },
      { type: 'stop', reason: 'ended' },
    ]);
    expect(client.audio).toEqual([Buffer.alloc(640, 1), Buffer.alloc(640, 2)]);
  });

  it('bot output before started is dropped', async () => {
    const client = await open({
      onStart: (transport) => {
        transport.sendAudio(Buffer.alloc(640), 16_000);
        expect(transport.sendMark('m0')).toBe(false);
        transport.accept();
        transport.end('ended');
      },
    });
    await client.closed;
    expect(client.audio).toEqual([]);
    expect(client.messages.map((message) => message['type'])).toEqual(['started', 'stop']);
  });
});

describe('audio rules', () => {
  it('1: audio reaches the engine byte by byte as it was sent', async () => {
    const client = await open();
    const audio = Buffer.from(Array.from({ length: 1_280 }, (_, index) => index % 251));
    client.ws.send(audio);
    await server.until(() => server.call.audio.length === 1);
    expect(server.call.audio[0]).toEqual(audio);
  });

  it('2: a frame holds any amount up to the limit, an empty one is ignored', async () => {
    const client = await open({}, { ...startMessage, encoding: 'mulaw' });
    for (const size of [0, 1, 65_536, 0, 3]) client.ws.send(Buffer.alloc(size));
    await server.until(() => server.call.log.includes('audio 3'));
    expect(server.call.log).toEqual(['started', 'audio 1', 'audio 65536', 'audio 3']);
  });

  it('2: a fragmented frame is one frame', async () => {
    const client = await open();
    client.ws.send(Buffer.alloc(321), { fin: false });
    client.ws.send(Buffer.alloc(319), { fin: true });
    await server.until(() => server.call.log.length === 2);
    expect(server.call.log[1]).toBe('audio 640');
  });

  it('3: audio at another rate is dropped, with one notice per call', async () => {
    const client = await open();
    for (let count = 0; count < 40; count += 1) server.call.transport.sendAudio(Buffer.alloc(480), 24_000);
    server.call.transport.sendAudio(Buffer.alloc(640), 16_000);
    await client.until(() => client.audio.length === 1);
    expect(client.audio[0]).toHaveLength(640);
    expect(client.messages.slice(1)).toMatchObject([{ code: 'output_rate_mismatch', fatal: false }]);
  });
});

describe('the conversation, where a client follows it', () => {
  const told: readonly ConversationEvent[] = [
    { type: 'turn.user_started', epoch: 1 },
    { type: 'user.transcript', text: 'Hel', final: false },
    { type: 'user.text', epoch: 1, text: 'Hello' },
    { type: 'fault.noticed', stage: 'llm', what: 'failed', cause: 'rejected 401' },
    { type: 'node.entered', node: 'secret' },
    { type: 'agent.changed', agent: 'billing' },
    { type: 'turn.measured', epoch: 1, times },
  ];

  it('sends what start.events names, in the order in which it happened', async () => {
    const events = [
      'turn.metrics',
      'user.text',
      'user.transcript',
      'stage.failed',
      'agent.changed',
      'of.tomorrow',
      'node.entered',
    ];
    const client = await open({}, { ...startMessage, events });
    for (const event of told) server.call.transport.tell(event);
    await client.received('turn.metrics');
    expect(client.messages.slice(1)).toEqual([
      { type: 'user.transcript', text: 'Hel', final: false },
      { type: 'user.text', epoch: 1, text: 'Hello' },
      { type: 'stage.failed', stage: 'llm', reason: 'rejected 401' },
      { type: 'agent.changed', agent: 'billing' },
      {
        type: 'turn.metrics',
        epoch: 1,
        metrics: {
          end_of_turn_ms: 501,
          stt_final_ms: 40,
          llm_ttft_ms: 300,
          tts_ttfb_ms: 120,
          response_ms: 966,
        },
      },
    ]);
  });

  it('sends nothing new to a client that does not ask', async () => {
    const client = await open();
    for (const event of told) server.call.transport.tell(event);
    server.call.transport.sendClear(1);
    await client.received('clear');
    expect(client.messages.map(({ type }) => type)).toEqual(['started', 'clear']);
  });
});

describe('metadata set by the server', () => {
  it('strips what only signed values may set, and signed values win', async () => {
    const metadata = {
      plain: 'kept',
      session_id: 'forged',
      'session.agent': 'forged',
      'session.meta.plan': 'forged',
      sessions: 'kept too',
      sample_rate: '1',
      input_sample_rate: '2',
      output_sample_rate: '3',
    };
    await open(
      { signedMetadata: { session_id: 's1', 'session.agent': 'a1', 'session.max_s': '60' } },
      { ...startMessage, metadata },
    );
    expect(server.call.starts[0]?.metadata).toEqual({
      plain: 'kept',
      sessions: 'kept too',
      sample_rate: '16000',
      session_id: 's1',
      'session.agent': 'a1',
      'session.max_s': '60',
    });
  });

  it('strips forged keys also when nothing is signed', async () => {
    await open({}, { ...startMessage, metadata: { session_id: 'forged', 'session.': 'forged' } });
    expect(server.call.starts[0]?.metadata).toEqual({ sample_rate: '16000' });
  });

  it('keeps a key that is called like a prototype from becoming one', async () => {
    const start = JSON.parse(
      '{"type":"start","version":1,"sample_rate":16000,"metadata":{"__proto__":"x"}}',
    ) as {
      readonly metadata: unknown;
    };
    await open({}, start);
    const metadata = server.call.starts[0]!.metadata;
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  });
});

describe('subprotocol', () => {
  it('is svc when offered, and a token entry is never echoed', async () => {
    server = await new CallServer({}).listen();
    const { WebSocket } = await import('ws');
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}/`, ['svc-token.v1.abc.def', 'svc']);
    await new Promise((resolve) => ws.on('open', resolve));
    expect(ws.protocol).toBe('svc');
    ws.terminate();
  });
});
