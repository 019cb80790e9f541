/** Other servers with the protocol of OpenAI: where they are reached, and how they want to be spoken to. */
import { afterEach, describe, expect, it } from 'vitest';
import { newRealtimeOpenAi } from '../../../worker/stages/realtime/openai/adapter.ts';
import { writtenStt } from '../../../worker/stages/realtime/written-stt.ts';
import type { SttEvent } from '../../../worker/stages/stage.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { FakeOpenAiRealtime, FlatRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, takeTurn, told } from './openai-driver.ts';

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
