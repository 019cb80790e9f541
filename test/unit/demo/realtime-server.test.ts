/**
 * The demo's speaking model on real sockets, spoken to by the vendor's own client and by the service's adapter; recognizer and synthesizer are
 * stand-ins with known answers.
 */
import { createConnection } from 'node:net';
import type { AddressInfo } from 'node:net';
import { OpenAI } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeClientEvent, RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterEach, describe, expect, it } from 'vitest';
import { To16k } from '../../../examples/demo/audio.ts';
import { startRealtimeServer } from '../../../examples/demo/realtime-server.ts';
import { QueueFull } from '../../../examples/demo/thread-pool.ts';
import type { Speak } from '../../../examples/demo/tts-server.ts';
import { newRealtimeOpenAi } from '../../../worker/stages/realtime/openai/adapter.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import type { RealtimeEvent } from '../../../worker/stages/realtime/contract.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { Observed } from '../../support/process/observed.ts';
import { speak, takeTurn, told } from '../../contract/realtime/openai-driver.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Stand {
  /** What the recognizer hears, turn by turn. */
  readonly hears?: string[];
  readonly speak?: Speak;
}

/** Twenty milliseconds of sound for each character. */
const saying: Speak = ({ text }) => Promise.resolve(new Int16Array(text.length * 480).fill(7));

async function start({ hears = [], speak = saying }: Stand): Promise<number> {
  const transcribe = () => {
    const words = hears.shift();
    return words === undefined ? Promise.reject(new QueueFull()) : Promise.resolve(words);
  };
  const now = (): Date => new Date(2026, 4, 7, 15, 30);
  const server = await startRealtimeServer({ transcribe, speak, now }, { host: '127.0.0.1', port: 0 });
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The vendor's client, which insists on TLS; the connection below it does not. */
async function connect(stand: Stand) {
  const port = await start(stand);
  const client = new OpenAI({ apiKey: 'none', baseURL: `https://127.0.0.1:${port}/v1` });
  const options = { createConnection: () => createConnection(port, '127.0.0.1') };
  const socket = new OpenAIRealtimeWS({ model: 'demo-rules', options }, client);
  closers.push(() => socket.close());
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
  const of = <T extends RealtimeServerEvent['type']>(type: T) =>
    events.filter(
      (event): event is Extract<RealtimeServerEvent, { readonly type: T }> => event.type === type,
    );
  const until = (type: RealtimeServerEvent['type'], count = 1) => seen.until(() => of(type).length >= count);
  const send = (...messages: RealtimeClientEvent[]): void => {
    for (const message of messages) socket.send(message);
  };
  await until('session.created');
  return { send, events, errors, of, until, seen };
}

const update = (session: Readonly<Record<string, unknown>> = {}) =>
  ({ type: 'session.update', session: { type: 'realtime', ...session } }) as RealtimeClientEvent;
const append = (ms: number): RealtimeClientEvent => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.from(new Int16Array(ms * 24).buffer).toString('base64'),
});
const commit: RealtimeClientEvent = { type: 'input_audio_buffer.commit' };
const create: RealtimeClientEvent = { type: 'response.create' };

const transcripts = (events: readonly RealtimeServerEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === 'response.output_audio_transcript.done' ? [event.transcript] : [],
  );

describe('the speaking model', () => {
  it('hears, answers and speaks, sentence by sentence', async () => {
    const { send, of, until, errors } = await connect({ hears: ['what time is it'] });
    send(update({ audio: { input: { transcription: { model: 'any' }, turn_detection: null } } }));
    send(append(500), commit, create);
    await until('response.done');
    expect(errors).toEqual([]);
    expect(
      of('conversation.item.input_audio_transcription.completed').map(({ transcript }) => transcript),
    ).toEqual(['what time is it']);
    const words = of('response.output_audio_transcript.delta').map(({ delta }) => delta);
    expect(words).toEqual(['It is 3:30 PM.']);
    const bytes = of('response.output_audio.delta').map(({ delta }) => Buffer.from(delta, 'base64').length);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBe('It is three 30 p m.'.length * 960);
    expect(Math.max(...bytes)).toBe(9_600);
    const { response } = of('response.done')[0]!;
    expect(response).toMatchObject({
      status: 'completed',
      usage: { input_token_details: { audio_tokens: 5 } },
    });
  });

  it('calls a tool and says what it found', async () => {
    const tool = {
      type: 'function',
      name: 'get_weather',
      description: 'The weather.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    };
    const { send, of, until, events } = await connect({ hears: ["what's the weather like in paris"] });
    send(update({ tools: [tool] }), append(300), commit, create);
    await until('response.done');
    const [call] = of('response.function_call_arguments.done');
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"city":"Paris"}' });
    const output = {
      type: 'function_call_output',
      call_id: call!.call_id,
      output: '{"text":"It is sunny."}',
    } as const;
    send({ type: 'conversation.item.create', item: output }, create);
    await until('response.done', 2);
    expect(transcripts(events)).toEqual(['It is sunny.']);
  });

  it('goes on with a conversation that is told in its instructions', async () => {
    const { send, until, events } = await connect({ hears: ['for four'] });
    const history = ['Caller: I would like to book a table.', 'You: For how many people?'].join('\n');
    send(update({ instructions: `Be brief.\n${history}` }), append(300), commit, create);
    await until('response.done');
    expect(transcripts(events)).toEqual(['On which day?']);
  });

  it('writes where text is asked for', async () => {
    const { send, of, until } = await connect({});
    send(update({ output_modalities: ['text'] }));
    const content = [{ type: 'input_text', text: 'what time is it' }] as const;
    send(
      { type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [...content] } },
      create,
    );
    await until('response.done');
    expect(of('response.output_text.done').map(({ text }) => text)).toEqual(['It is 3:30 PM.']);
    expect(of('response.output_audio.delta')).toEqual([]);
  });

  it('stops when it is told to, and forgets what was not heard', async () => {
    const asked: string[] = [];
    const hangs: Speak = ({ text }, signal) => {
      asked.push(text);
      if (asked.length === 1) return saying({ text, voice: 'slt', speed: 1 }, signal);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    };
    const { send, of, until, errors, seen } = await connect({ hears: ['xyzzy'], speak: hangs });
    send(update(), append(300), commit, create);
    await seen.until(() => asked.length === 2);
    send({ type: 'response.cancel' });
    await until('response.done');
    expect(of('response.done')[0]!.response.status).toBe('cancelled');
    const item_id = of('response.output_audio.delta')[0]!.item_id;
    send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 100 });
    await until('conversation.item.truncated');
    send({ type: 'conversation.item.delete', item_id });
    await until('conversation.item.deleted');
    expect(errors).toEqual([]);
    expect(of('response.output_item.done')).toEqual([]);
  });

  it('refuses what the real one refuses', async () => {
    const held: Speak = () => new Promise(() => undefined);
    const { send, errors, seen } = await connect({ hears: ['hello'], speak: held });
    send(
      { type: 'session.update', session: {} } as RealtimeClientEvent,
      update({ output_modalities: ['audio', 'text'] }),
      update({ audio: { input: { turn_detection: { type: 'server_vad' } } } }),
      update({ audio: { output: { format: { type: 'audio/pcmu' } } } }),
      append(50),
      commit,
      { type: 'response.cancel' },
      { type: 'conversation.item.delete', item_id: 'none' },
      { type: 'conversation.item.truncate', item_id: 'none', content_index: 0, audio_end_ms: 1 },
      { type: 'output_audio_buffer.clear' },
      append(100),
      commit,
      create,
      create,
    );
    await seen.until(() => errors.length === 10);
    expect(errors).toEqual([
      'missing_required_parameter',
      'invalid_value',
      'invalid_value',
      'invalid_value',
      'input_audio_buffer_commit_empty',
      'response_cancel_not_active',
      'item_delete_invalid_item_id',
      'item_truncate_invalid_item_id',
      'invalid_value',
      'conversation_already_has_active_response',
    ]);
  });

  it('fails an answer to words that its recognizer cannot take', async () => {
    const { send, of, until } = await connect({});
    send(update({ audio: { input: { transcription: {} } } }), append(300), commit, create);
    await until('response.done');
    expect(of('conversation.item.input_audio_transcription.failed')).toHaveLength(1);
    expect(of('response.done')[0]!.response.status).toBe('failed');
  });

  it('holds a call of the service', async () => {
    const port = await start({ hears: ['book a table', 'for two people'] });
    const model = newRealtimeOpenAi({
      dialect: dialects.openai,
      baseUrl: `ws://127.0.0.1:${port}`,
      model: 'demo-rules',
      language: 'en',
      output: 'audio',
      words: 'vendor',
    });
    const events = new Events<RealtimeEvent>();
    const seed = { instructions: 'Be brief.', tools: [], history: [] };
    const session = model.open(newStageContext(), seed, events.sink);
    closers.push(() => session.close());
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    session.beginTurn();
    speak(session, 100);
    session.abandonTurn();
    takeTurn(session, 2);
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('user-text').map(({ turn, text }) => [turn, text])).toEqual([
      [1, 'book a table'],
      [2, 'for two people'],
    ]);
    expect(events.of('text').map(({ text }) => text)).toEqual(['For how many people?', 'On which day?']);
    expect(told(events).at(-1)).toBe('done 2 completed');
    expect(events.of('done')[0]!.usage!.outputAudioTokens).toBeGreaterThan(0);
    expect(events.of('ready')[0]!.expiresInMs).toBeGreaterThan(3_500_000);
  });
});

describe('sound for the recognizer', () => {
  const tone = Int16Array.from({ length: 24_000 }, (_, at) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * 1_000 * at) / 24_000)),
  );

  it('keeps a tone as loud and as high as it was', () => {
    const out = new To16k().take(tone);
    expect(out.length).toBeGreaterThan(15_950);
    const loud = Math.max(...out.subarray(1_000, 15_000));
    expect(loud).toBeGreaterThan(9_800);
    expect(loud).toBeLessThan(10_200);
    const crossings = out
      .subarray(1_000, 9_000)
      .filter((sample, at, all) => at > 0 && sample >= 0 && all[at - 1]! < 0);
    expect(crossings.length).toBeCloseTo(500, -1);
  });

  it('is the same however it was cut', () => {
    const whole = new To16k().take(tone);
    const pieces = new To16k();
    const parts: number[] = [];
    for (let at = 0, size = 1; at < tone.length; at += size, size = (size * 7) % 997 || 1)
      parts.push(...pieces.take(tone.subarray(at, at + size)));
    expect(parts).toEqual([...whole].slice(0, parts.length));
    expect(whole.length - parts.length).toBeLessThan(2);
  });
});
