/** Other servers with the protocol of OpenAI: where they are reached, and how they want to be spoken to. */
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterEach, describe, expect, it } from 'vitest';
import { newRealtimeOpenAi } from '../../../worker/stages/realtime/openai/adapter.ts';
import { writtenStt } from '../../../worker/stages/realtime/written-stt.ts';
import type { SttEvent } from '../../../worker/stages/stage.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { decodeMulaw } from '../../../shared/audio/g711.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, takeTurn, told } from './openai-driver.ts';

/** The shape before the present one: everything at the top of the session, and other names of messages. */
class FlatRealtime extends FakeOpenAiRealtime {
  override judge(session: Readonly<Record<string, unknown>>): undefined | { code: string; message: string } {
    const unknown = ['type', 'audio', 'output_modalities', 'max_output_tokens'].find((key) => key in session);
    if (unknown === undefined) return undefined;
    return { code: 'unknown_parameter', message: `Unknown parameter: 'session.${unknown}'.` };
  }

  override shown(event: RealtimeServerEvent): unknown {
    const type = event.type
      .replace(/^response[.]output_(audio|text)/, 'response.$1')
      .replace('conversation.item.added', 'conversation.item.created');
    return { ...event, type };
  }
}

let server: FakeOpenAiRealtime;
const start = async (one: FakeOpenAiRealtime): Promise<void> => {
  server = one;
  await server.start();
};
afterEach(() => server.close());

const answer = [
  'text 1 item_3 Hello ',
  'text 1 item_3 there.',
  'audio 1 item_3 200 ms',
  'audio 1 item_3 200 ms',
];

describe('Azure', () => {
  it('names a deployment and takes its key in a header of its own', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, {
      dialect: dialects.azure,
      model: 'my-deployment',
      apiKey: 'key-1',
    });
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    expect(server.last.url.pathname + server.last.url.search).toBe('/openai/v1/realtime?model=my-deployment');
    expect(server.last.headers['api-key']).toBe('key-1');
    expect(server.last.headers).not.toHaveProperty('authorization');
    expect(told(events)).toEqual([...answer, 'item-done 1 item_3', 'done 1 completed']);
  });

  it('has an older shape with a version in its address', async () => {
    await start(new FlatRealtime());
    server.transcripts.push('hello');
    const { session, events } = await openReady(server, {
      dialect: dialects.azure_preview,
      model: 'my-deployment',
      voice: 'alloy',
      maxOutputTokens: 100,
    });
    expect(server.last.of('session.update')[0]!.session).toEqual({
      modalities: ['audio', 'text'],
      input_audio_format: 'pcm16',
      output_audio_format: 'pcm16',
      turn_detection: null,
      input_audio_transcription: { model: 'whisper-1', language: 'tr' },
      voice: 'alloy',
      max_response_output_tokens: 100,
      instructions: 'Be brief.',
      tools: [],
      tool_choice: 'auto',
    });
    takeTurn(session, 1);
    session.append([{ role: 'assistant', text: 'A line.' }]);
    session.respond(1);
    await events.seen('done');
    expect(server.last.url.pathname + server.last.url.search).toBe(
      '/openai/realtime?api-version=2024-10-01-preview&deployment=my-deployment',
    );
    expect(server.last.of('response.create')).toEqual([{ type: 'response.create', event_id: 'answer_1' }]);
    expect(server.last.of('conversation.item.create')[0]!.item).toEqual({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'A line.' }],
    });
    expect(events.of('user-text').at(-1)).toEqual({ type: 'user-text', turn: 1, text: 'hello', final: true });
    expect(told(events).at(-1)).toBe('done 1 completed');
    expect(events.of('audio')).toHaveLength(2);
  });

  it('changes a session of the older shape without naming its kind', async () => {
    await start(new FlatRealtime());
    const { session, events } = await openReady(server, { dialect: dialects.azure_preview });
    session.update({ instructions: 'Be long.', tools: [] });
    session.respond(1);
    await events.seen('done');
    expect(server.last.of('session.update')[1]!.session).toEqual({ instructions: 'Be long.', tools: [] });
  });
});

it.each(['openai', 'azure_preview', 'speaches'] as const)(
  '%s writes down what nobody asks it to answer',
  async (name) => {
    await start(dialects[name].shape === 'flat' ? new FlatRealtime() : new FakeOpenAiRealtime());
    server.transcripts.push('stop', 'I mean it');
    const model = newRealtimeOpenAi({
      dialect: dialects[name],
      baseUrl: server.baseUrl,
      model: 'm',
      ...{ language: 'en', output: 'audio', words: 'vendor' },
    });
    const events = new Events<SttEvent>();
    const ears = writtenStt(model).open(newStageContext(), events.sink);
    for (let stretch = 0; stretch < 2; stretch += 1) {
      ears.audio(new Int16Array(4_800).fill(1_000));
      ears.finalize();
    }
    await events.seen('finalized', 2);
    expect(events.of('transcript').map(({ text }) => text)).toEqual(['stop', 'I mean it']);
    expect(server.last.of('response.create')).toEqual([]);
    ears.close();
  },
);

describe('the sound of telephones', () => {
  const g711 = { inputRate: 8_000, outputRate: 8_000, encoding: 'mulaw' } as const;

  it('is asked for both ways, and reaches the server as G.711', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.openai, ...g711 } });
    expect(server.last.of('session.update')[0]!.session).toMatchObject({
      audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
    });
    takeTurn(session, 1, 460);
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs[0]).toBeCloseTo(460, -1);
    const [, second] = server.last
      .of('input_audio_buffer.append')
      .map(({ audio }) => Buffer.from(audio, 'base64'));
    const pcm = new Int16Array(second!.length);
    decodeMulaw(second!, pcm);
    // The sound of `takeTurn` is 1000 throughout, and mu-law keeps that to within 32.
    expect(pcm.every((sample) => Math.abs(sample - 1_000) <= 32)).toBe(true);
  });

  it('reaches a telephone as the bytes that the server sent', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.openai, ...g711 } });
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    const sent = server.last.said.flatMap((event) =>
      event.type === 'response.output_audio.delta' ? [Buffer.from(event.delta, 'base64')] : [],
    );
    const out = new OutboundAudio({ fromRate: session.outputRate, toRate: 8_000, encoding: 'mulaw' });
    out.open(1);
    for (const { pcm } of events.of('audio')) out.write(1, pcm);
    const heard: Buffer[] = [];
    while (out.ready) heard.push(out.takeFrame());
    // Mu-law has two zeros, of which one comes back.
    const zeros = (bytes: Buffer): number[] => [...bytes].map((byte) => (byte === 0x7f ? 0xff : byte));
    expect(zeros(Buffer.concat(heard))).toEqual(zeros(Buffer.concat(sent)));
  });

  it('has another name in the older shape', async () => {
    await start(new FlatRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.azure_preview, ...g711 } });
    expect(server.last.of('session.update')[0]!.session).toMatchObject({
      input_audio_format: 'g711_ulaw',
      output_audio_format: 'g711_ulaw',
    });
    takeTurn(session, 1, 60);
    session.respond(1);
    await events.seen('done');
    // A turn that is shorter than servers take is filled up.
    expect(server.last.turnsMs).toEqual([100]);
    expect(events.of('audio').map(({ pcm }) => pcm.length)).toEqual([1_600, 1_600]);
  });

  it('is cut at the milliseconds that it has', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.openai, ...g711 } });
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    const { item } = events.of('audio')[0]!;
    session.truncate(item, 5_000);
    session.truncate(item, 150);
    await server.until(() => server.last.of('conversation.item.truncate').length === 2);
    const cuts = server.last.of('conversation.item.truncate').map(({ audio_end_ms }) => audio_end_ms);
    expect(cuts).toEqual([400, 150]);
  });
});

describe('xAI', () => {
  it('takes the sound as calls have it, and voice and turns at the top of the session', async () => {
    await start(new FakeOpenAiRealtime());
    server.greets = 'conversation.created';
    const { session, events } = await openReady(server, {
      dialect: dialects.xai,
      model: 'grok-voice-latest',
      voice: 'ara',
    });
    expect(server.last.of('session.update')[0]!.session).toEqual({
      type: 'realtime',
      output_modalities: ['audio'],
      audio: {
        input: { format: { type: 'audio/pcm', rate: 16_000 } },
        output: { format: { type: 'audio/pcm', rate: 24_000 } },
      },
      turn_detection: null,
      voice: 'ara',
      instructions: 'Be brief.',
      tools: [],
      tool_choice: 'auto',
    });
    server.last.sendText('{"type":"ping","timestamp":1}');
    takeTurn(session, 1, 600);
    session.respond(1);
    await events.seen('done');
    // The fake counts 24 kHz.
    expect(server.last.turnsMs).toEqual([expect.closeTo(400)]);
    expect(told(events).at(-1)).toBe('done 1 completed');
  });

  it('says again and again all that it has understood, and completes it twice', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: dialects.xai });
    takeTurn(session, 1);
    await server.until(() => server.last.items.size === 1);
    const [item_id] = [...server.last.items.keys()];
    const say = (step: string, transcript: string): void =>
      server.last.sendText(
        JSON.stringify({ type: `conversation.item.input_audio_transcription.${step}`, item_id, transcript }),
      );
    say('updated', 'book');
    say('updated', 'book a table');
    say('completed', 'Book a table.');
    say('completed', 'Book a table.');
    say('updated', 'book a');
    session.respond(1);
    await events.seen('done');
    expect(events.of('user-text').map(({ text, final }) => [text, final])).toEqual([
      ['book', false],
      ['book a table', false],
      ['Book a table.', true],
    ]);
  });

  it('is told no more of the history than its instructions hold', async () => {
    await start(new FakeOpenAiRealtime());
    const history = Array.from(
      { length: 300 },
      (_, at) => ({ role: 'user', text: `${at} ${'x'.repeat(95)}` }) as const,
    );
    await openReady(server, { dialect: dialects.xai, seed: { history } });
    const { instructions } = server.last.session;
    expect(String(instructions).length).toBeLessThanOrEqual(16_384);
    expect(instructions).toContain('Caller: 299 ');
    expect(instructions).not.toContain('Caller: 0 ');
  });
});

describe('a server of one’s own', () => {
  it.each(['localai', 'speaches'] as const)(
    '%s writes down what it hears, whoever wants the words',
    async (name) => {
      await start(name === 'speaches' ? new FlatRealtime() : new FakeOpenAiRealtime());
      const { events } = await openReady(server, {
        dialect: dialects[name],
        words: 'own',
        transcriptionModel: 'whisper-small',
      });
      expect(JSON.stringify(server.last.session)).toContain('"model":"whisper-small"');
      expect(events.of('ready')[0]).toMatchObject({ caps: { truncates: name === 'localai' } });
      expect(events.of('ready')[0]).not.toHaveProperty('expiresInMs');
    },
  );

  it('is asked at the path and with the query that the file says', async () => {
    await start(new FakeOpenAiRealtime());
    await openReady(server, { dialect: dialects.localai, pathAndQuery: '/models/v1/realtime?model=a&x=1' });
    expect(server.last.url.pathname + server.last.url.search).toBe('/models/v1/realtime?model=a&x=1');
  });
});
