/** The fake of the OpenAI protocol and the adapter, judged by the vendor's own client and the vendor's own types. */
import { createConnection } from 'node:net';
import { OpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeClientEvent, RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { Observed } from '../../support/process/observed.ts';
import { typeErrors } from '../../support/typed-messages.ts';
import { openReady, speak, takeTurn } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
beforeEach(async () => {
  server = new FakeOpenAiRealtime();
  await server.start();
});
afterEach(() => server.close());

const ofClient = { module: 'openai/resources/realtime/realtime', type: 'RealtimeClientEvent' } as const;
const second = Buffer.from(new Int16Array(24_000).fill(7).buffer).toString('base64');

/** The vendor's client, which insists on TLS; the connection below it does not. */
function newClient() {
  const port = Number(server.baseUrl.split(':').at(-1));
  const client = new OpenAI({ apiKey: 'key-1', baseURL: `https://127.0.0.1:${port}/v1` });
  const options = { createConnection: () => createConnection(port, '127.0.0.1') };
  const socket = new OpenAIRealtimeWS({ model: 'gpt-realtime-2.1', options }, client);
  const seen = new Observed();
  const events: RealtimeServerEvent[] = [];
  const errors: string[] = [];
  socket.on('event', (event) => {
    events.push(event);
    seen.changed();
  });
  socket.on('error', (error) => {
    errors.push(error.error?.code ?? error.message);
    seen.changed();
  });
  const of = (type: RealtimeServerEvent['type']) => events.filter((event) => event.type === type);
  const until = (type: RealtimeServerEvent['type'], count = 1) => seen.until(() => of(type).length >= count);
  return { socket, events, errors, of, until, seen };
}

describe("the vendor's own client", () => {
  it('holds a conversation with the fake', async () => {
    server.transcripts.push('book a table');
    server.replies.push(
      { items: [{ speech: 'One moment.' }, { call: 'call_1', name: 'book', args: '{"seats":2}' }] },
      { items: [{ speech: 'It is booked.', ms: 400 }] },
    );
    const { socket, events, errors, of, until } = newClient();
    await until('session.created');
    socket.send({
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['audio'], audio: { input: { turn_detection: null } } },
    });
    await until('session.updated');
    socket.send({ type: 'input_audio_buffer.append', audio: second });
    socket.send({ type: 'input_audio_buffer.commit' });
    socket.send({ type: 'response.create' });
    await until('response.done');
    socket.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_1', output: '{"booked":true}' },
    });
    socket.send({ type: 'response.create' });
    await until('response.done', 2);
    const spoken = events.findLast((event) => event.type === 'response.output_audio.delta');
    socket.send({
      type: 'conversation.item.truncate',
      item_id: spoken?.item_id ?? '',
      content_index: 0,
      audio_end_ms: 150,
    });
    await until('conversation.item.truncated');
    expect(errors).toEqual([]);
    expect(of('response.output_audio.delta')).toHaveLength(4);
    expect(of('response.function_call_arguments.delta')).toHaveLength(2);
    expect(of('conversation.item.input_audio_transcription.completed')).toHaveLength(1);
    expect(server.last.headers.authorization).toBe('Bearer key-1');
    socket.close();
  });

  it('is refused what the service refuses', async () => {
    server.replies.push({ items: [{ text: 'Written.' }] }, { items: [], holds: true });
    const { socket, errors, until, seen } = newClient();
    await until('session.created');
    const sends: [RealtimeClientEvent, string][] = [
      [
        { type: 'session.update', session: { type: 'realtime', output_modalities: ['audio', 'text'] } },
        'invalid_value',
      ],
      [{ type: 'input_audio_buffer.commit' }, 'input_audio_buffer_commit_empty'],
      [{ type: 'response.cancel' }, 'response_cancel_not_active'],
      [{ type: 'conversation.item.delete', item_id: 'none' }, 'item_delete_invalid_item_id'],
      [
        { type: 'conversation.item.truncate', item_id: 'none', content_index: 0, audio_end_ms: 1 },
        'item_truncate_invalid_item_id',
      ],
    ];
    for (const [event] of sends) socket.send(event);
    await seen.until(() => errors.length === sends.length);
    expect(errors).toEqual(sends.map(([, code]) => code));
    socket.send({ type: 'response.create' });
    await until('response.done');
    socket.send({ type: 'conversation.item.truncate', item_id: 'item_2', content_index: 0, audio_end_ms: 1 });
    socket.send({ type: 'response.create' });
    socket.send({ type: 'response.create', event_id: 'second' });
    await seen.until(() => errors.length === sends.length + 2);
    expect(errors.slice(-2)).toEqual([
      'unsupported_content_type',
      'conversation_already_has_active_response',
    ]);
    socket.close();
  });
});

describe('what the adapter sends', () => {
  it('is what the vendor’s types allow, message by message', async () => {
    const tools = [{ name: 'book', description: 'Books.', parameters: { type: 'object', properties: {} } }];
    server.replies.push(
      { items: [{ call: 'call_1', name: 'book', args: '{}' }] },
      { items: [{ speech: 'One.', ms: 400 }], holds: true },
      { items: [{ speech: 'Two.', ms: 400 }] },
    );
    const { session, events } = await openReady(server, {
      apiKey: 'key-1',
      voice: 'marin',
      speed: 1.1,
      reasoningEffort: 'low',
      maxOutputTokens: 100,
      seed: { tools, history: [{ role: 'user', text: 'Hello.' }] },
    });
    session.beginTurn();
    speak(session, 200);
    session.abandonTurn();
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    session.append([
      { role: 'tool', callId: 'call_1', name: 'book', text: '{}' },
      { role: 'tool', callId: 'call_0', name: 'book', text: '{}' },
      { role: 'user', text: 'Five.' },
      { role: 'assistant', text: 'A line.', toolCalls: [{ id: 'call_0', name: 'book', arguments: '{}' }] },
      { role: 'system', text: 'A note.' },
    ]);
    session.respond(2);
    await events.seen('audio', 2);
    session.cancel();
    await events.seen('done', 2);
    const [first] = events.of('audio');
    session.truncate(first!.item, 120);
    session.update({ instructions: 'Be long.', tools });
    session.respond(3);
    await events.seen('done', 3);
    session.truncate(events.of('audio').at(-1)!.item, 0);
    await server.until(() => server.last.of('conversation.item.delete').length === 1);
    const types = new Set(server.last.heard.map(({ type }) => type));
    expect([...types].toSorted()).toEqual([
      'conversation.item.create',
      'conversation.item.delete',
      'conversation.item.truncate',
      'input_audio_buffer.append',
      'input_audio_buffer.clear',
      'input_audio_buffer.commit',
      'response.cancel',
      'response.create',
      'session.update',
    ]);
    expect(events.of('error')).toEqual([]);
    expect(typeErrors(ofClient, server.last.heard)).toEqual([]);
  });

  it('would be noticed if it were not', () => {
    const wrong = { type: 'session.update', session: { type: 'realtime', temperature: 0.8 } };
    expect(typeErrors(ofClient, [wrong, { type: 'input_audio_buffer.commit' }])).toEqual([
      expect.stringContaining('temperature'),
    ]);
  });
});
