/** A conversation over `openai_realtime`: what is sent, and what is told of what comes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, openSession, speak, takeTurn, told } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
beforeEach(async () => {
  server = new FakeOpenAiRealtime();
  await server.start();
});
afterEach(() => server.close());

const weather = {
  name: 'weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: {} },
};

describe('a session', () => {
  it('is configured before anything else is sent, and takes what was said before that in order', async () => {
    server.updates = false;
    const { session, events } = openSession(server, { apiKey: 'key-1', voice: 'marin', speed: 1.1 });
    takeTurn(session, 1);
    session.respond(1);
    await server.until(() => server.sessions[0]?.heard.length === 1);
    expect(events.all).toEqual([]);
    expect(server.last.heard).toEqual([
      {
        type: 'session.update',
        event_id: 'update_1',
        session: {
          type: 'realtime',
          output_modalities: ['audio'],
          audio: {
            input: {
              format: { type: 'audio/pcm', rate: 24_000 },
              transcription: { model: 'gpt-4o-mini-transcribe', language: 'tr' },
              turn_detection: null,
            },
            output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin', speed: 1.1 },
          },
          instructions: 'Be brief.',
          tools: [],
          tool_choice: 'auto',
        },
      },
    ]);
    server.last.send({ type: 'session.updated', session: { type: 'realtime' } });
    await events.seen('done');
    const types = server.last.heard.map(({ type }) => type);
    expect([...new Set(types)]).toEqual([
      'session.update',
      'input_audio_buffer.append',
      'input_audio_buffer.commit',
      'response.create',
    ]);
    expect(server.last.headers.authorization).toBe('Bearer key-1');
    expect(server.last.headers).not.toHaveProperty('openai-beta');
    expect(server.last.url.pathname).toBe('/v1/realtime');
    expect([...server.last.url.searchParams]).toEqual([['model', 'gpt-realtime-2.1']]);
  });

  it('tells its name, what it can do and how long it lasts', async () => {
    server.known = { id: 'sess_7', expires_at: Math.floor(Date.now() / 1000) + 1800 };
    const { events } = await openReady(server);
    const [ready] = events.of('ready');
    expect(ready).toMatchObject({
      session: 'sess_7',
      caps: {
        truncates: true,
        removes: true,
        answersTurns: false,
        answersTools: false,
        updates: true,
        cancels: true,
      },
    });
    expect(ready!.expiresInMs).toBeGreaterThan(1_700_000);
    expect(ready!.expiresInMs).toBeLessThanOrEqual(1_800_000);
  });

  it.each([undefined, 0, 12])('that tells %s as its end lasts an hour', async (expires_at) => {
    server.known = { id: 's', expires_at };
    const { events } = await openReady(server);
    expect(events.of('ready')[0]!.expiresInMs).toBe(3_600_000);
  });

  it('has nobody write down what the caller says where an STT does', async () => {
    server.transcripts.push('hello there');
    const { session, events } = await openReady(server, { words: 'own' });
    expect(server.last.session).toHaveProperty('audio.input', {
      format: { type: 'audio/pcm', rate: 24_000 },
      turn_detection: null,
    });
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    expect(events.of('user-text')).toEqual([]);
  });

  it('thinks as long as the file says, and answers no longer', async () => {
    await openReady(server, { reasoningEffort: 'low', maxOutputTokens: 512 });
    expect(server.last.session).toMatchObject({ reasoning: { effort: 'low' }, max_output_tokens: 512 });
  });

  it('changes instructions and tools, and keeps what it was told of the call', async () => {
    const history = [{ role: 'user', text: 'Hello.' }] as const;
    const { session, events } = await openReady(server, { seed: { history } });
    session.update({ instructions: 'Be long.', tools: [weather] });
    session.respond(1);
    await events.seen('done');
    const { instructions, ...rest } = server.last.of('session.update')[1]!.session as {
      instructions?: string;
    };
    expect(instructions).toMatch(/^Be long\.\n\n[^]*Caller: Hello\.$/);
    expect(rest).toEqual({
      type: 'realtime',
      tools: [{ type: 'function', ...weather }],
    });
  });

  it('goes on with a history that is told in its instructions, never as items', async () => {
    const history = [
      { role: 'assistant', text: 'Welcome.' },
      { role: 'user', text: 'How is the weather?' },
      {
        role: 'assistant',
        text: 'Let me see.',
        toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"in":"Izmir"}' }],
      },
      { role: 'tool', callId: 'call_1', name: 'weather', text: '{"sun":true}' },
      { role: 'system', text: 'The caller interrupted.' },
    ] as const;
    const { session, events } = await openReady(server, { seed: { history, tools: [weather] } });
    session.respond(1);
    await events.seen('done');
    expect(server.last.of('conversation.item.create')).toEqual([]);
    expect(server.last.session['instructions']).toBe(
      [
        'Be brief.',
        '',
        'The conversation so far. It goes on from here: do not greet again, and keep to its language.',
        'You: Welcome.',
        'Caller: How is the weather?',
        'You: Let me see.',
        'You called weather with {"in":"Izmir"}',
        'Result of weather: {"sun":true}',
        'Note: The caller interrupted.',
      ].join('\n'),
    );
  });

  it('adds typed words, notes and lines to the conversation', async () => {
    const { session, events } = await openReady(server);
    session.append([
      { role: 'user', text: 'Five.' },
      { role: 'system', text: 'A note.' },
      { role: 'assistant', text: 'This call is recorded.' },
    ]);
    session.respond(1);
    await events.seen('done');
    expect(server.last.of('conversation.item.create').map(({ item }) => item)).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Five.' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'A note.' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'This call is recorded.' }],
      },
    ]);
  });
});

describe('a turn of the caller', () => {
  it('reaches the server whole, at its rate', async () => {
    const { session, events } = await openReady(server);
    takeTurn(session, 1, 1_230);
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs).toEqual([expect.closeTo(1_230, -1.5)]);
    expect(server.last.of('input_audio_buffer.append')).toHaveLength(13);
    expect(server.last.of('input_audio_buffer.clear')).toEqual([]);
  });

  it.each([0, 20, 80, 100])('of %i ms is long enough for the server', async (ms) => {
    const { session, events } = await openReady(server);
    takeTurn(session, 1, ms);
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs).toHaveLength(1);
    expect(server.last.turnsMs[0]).toBeGreaterThanOrEqual(100);
    expect(server.last.turnsMs[0]).toBeLessThan(130);
  });

  it('that was none is forgotten', async () => {
    const { session, events } = await openReady(server);
    session.beginTurn();
    speak(session, 500);
    session.abandonTurn();
    speak(session, 500);
    takeTurn(session, 1, 200);
    session.beginTurn();
    speak(session, 50);
    takeTurn(session, 2, 300);
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs).toEqual([expect.closeTo(200, -1.5), expect.closeTo(300, -1.5)]);
    expect(server.last.of('input_audio_buffer.clear')).toHaveLength(1);
  });

  it('has its words by its number, however late they come', async () => {
    server.transcribesLate = true;
    const { session, events } = await openReady(server);
    takeTurn(session, 3);
    session.respond(1);
    await events.seen('done');
    takeTurn(session, 4);
    session.respond(2);
    await events.seen('done', 2);
    const committed = server.last.said.flatMap((event) =>
      event.type === 'input_audio_buffer.committed' ? [event.item_id] : [],
    );
    server.transcripts.push('and this', 'this first', 'this first');
    server.last.transcribe(committed[1]);
    server.last.transcribe(committed[0]);
    server.last.transcribe(committed[0]);
    await events.seen('user-text', 6);
    expect(events.of('user-text').map(({ turn, text, final }) => [turn, text, final])).toEqual([
      [4, 'and', false],
      [4, 'and this', false],
      [4, 'and this', true],
      [3, 'this', false],
      [3, 'this first', false],
      [3, 'this first', true],
    ]);
  });

  it('of which nothing can be written down has no words', async () => {
    const { session, events } = await openReady(server);
    takeTurn(session, 5);
    await server.until(() => server.last.turnsMs.length === 1);
    server.last.send({
      type: 'conversation.item.input_audio_transcription.failed',
      item_id: [...server.last.items.keys()][0]!,
      content_index: 0,
      error: { type: 'transcription_error', code: 'audio_unintelligible', message: 'no' },
    });
    await events.seen('user-text');
    expect(events.of('user-text')).toEqual([{ type: 'user-text', turn: 5, text: '', final: true }]);
  });

  it('that the server does not take has no words, and those of the next are its own', async () => {
    server.refusals.set('input_audio_buffer.commit', [
      { code: 'input_audio_buffer_commit_empty', message: 'small' },
    ]);
    server.transcripts.push('yes');
    const { session, events } = await openReady(server);
    takeTurn(session, 6);
    takeTurn(session, 7);
    await events.seen('user-text', 3);
    expect(events.of('user-text').filter(({ final }) => final)).toEqual([
      { type: 'user-text', turn: 6, text: '', final: true },
      { type: 'user-text', turn: 7, text: 'yes', final: true },
    ]);
  });

  it('before the session is ready keeps its newest quarter of a minute', async () => {
    server.updates = false;
    const { session, events } = openSession(server);
    takeTurn(session, 1, 60_000);
    await server.until(() => server.sessions[0]?.heard.length === 1);
    server.last.send({ type: 'session.updated', session: { type: 'realtime' } });
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs).toEqual([expect.closeTo(15_000, -2.5)]);
  });
});

describe('an answer', () => {
  it('is told with its sound, its words, its end and what it cost', async () => {
    server.replies.push({ items: [{ speech: 'Good morning.', ms: 500 }] });
    const { session, events } = await openReady(server);
    takeTurn(session, 1);
    session.respond(9);
    await events.seen('done');
    expect(session.outputRate).toBe(24_000);
    expect(told(events)).toEqual([
      'text 9 item_3 Good ',
      'text 9 item_3 morning.',
      'audio 9 item_3 200 ms',
      'audio 9 item_3 200 ms',
      'audio 9 item_3 100 ms',
      'item-done 9 item_3',
      'done 9 completed',
    ]);
    expect([...events.of('audio')[0]!.pcm.subarray(0, 3)]).toEqual([0, 1, 2]);
    expect(events.of('done')[0]!.usage).toEqual({
      inputTokens: 132,
      outputTokens: 121,
      cachedTokens: 64,
      inputAudioTokens: 13,
      outputAudioTokens: 91,
      cachedAudioTokens: 12,
      reasoningTokens: 0,
    });
  });

  it('may have several items, and all of them are told', async () => {
    server.replies.push({
      items: [
        { speech: 'One moment.', ms: 200 },
        { speech: 'It is open.', ms: 300 },
      ],
    });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    const order = told(events).filter((line) => /^(audio|item-done)/.test(String(line)));
    expect(order).toEqual([
      'audio 1 item_2 200 ms',
      'item-done 1 item_2',
      'audio 1 item_3 200 ms',
      'audio 1 item_3 100 ms',
      'item-done 1 item_3',
    ]);
  });

  it('may come as text where sound was asked for', async () => {
    server.replies.push({ items: [{ text: 'I would rather write.' }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    expect(events.of('audio')).toEqual([]);
    expect(
      events
        .of('text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('I would rather write.');
  });

  it('is text where text is asked for', async () => {
    server.replies.push({ items: [{ text: 'In writing.' }] });
    const { session, events } = await openReady(server, { output: 'text' });
    expect(server.last.session['output_modalities']).toEqual(['text']);
    expect(events.of('ready')[0]!.caps).toMatchObject({ truncates: false, removes: true });
    session.respond(1);
    await events.seen('done');
    expect(told(events)).toEqual([
      'text 1 item_2 In ',
      'text 1 item_2 writing.',
      'item-done 1 item_2',
      'done 1 completed',
    ]);
  });

  it('may come in one message of two megabytes', async () => {
    server.replies.push({ items: [{ speech: 'Long.', ms: 32_000, pieceMs: 32_000 }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    expect(events.of('audio').map(({ pcm }) => pcm.length)).toEqual([768_000]);
  });

  it('whose words come whole has them once', async () => {
    const { session, events } = await openReady(server);
    server.replies.push({ items: [], holds: true });
    session.respond(1);
    await server.until(() => server.last.of('response.create').length === 1);
    const place = { response_id: 'resp_1', item_id: 'item_9', output_index: 0, content_index: 0 };
    server.last.send({ type: 'response.output_audio_transcript.done', ...place, transcript: 'All at once.' });
    server.last.send({
      type: 'response.output_item.done',
      response_id: 'resp_1',
      output_index: 0,
      item: {
        id: 'item_9',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_audio', transcript: 'All at once.' }],
      },
    });
    server.last.release();
    await events.seen('done');
    expect(told(events)).toEqual(['text 1 item_9 All at once.', 'item-done 1 item_9', 'done 1 completed']);
  });

  it.each([
    ['incomplete', 'max_output_tokens', 'length'],
    ['incomplete', 'content_filter', 'content_filter'],
  ] as const)('that is %s by %s ends as %s, and runs no tool', async (status, reason, finish) => {
    server.replies.push({
      items: [
        { speech: 'Well', ms: 100 },
        { call: 'c1', name: 'weather', args: '{"in":"Iz' },
      ],
      status,
      details: { type: status, reason },
    });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    expect(events.of('done')[0]!.finish).toBe(finish);
    expect(events.of('tool-call')).toEqual([]);
  });

  it('that failed for its limits says when to ask again, and the session goes on', async () => {
    server.replies.push({
      status: 'failed',
      details: { type: 'failed', error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
    });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    expect(events.of('done')[0]).toMatchObject({
      finish: 'failed',
      failed: { kind: 'rejected', status: 429, retryAfterMs: 2_500 },
    });
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('done')[1]!.finish).toBe('completed');
  });

  it('of a server that answers by itself is stopped and not told', async () => {
    const { session, events } = await openReady(server);
    server.replies.push({ items: [{ speech: 'By myself.' }], holds: true });
    server.last.begin();
    await server.until(() => server.last.of('response.cancel').length === 1);
    expect(server.last.of('response.cancel')[0]).toMatchObject({ response_id: 'resp_1' });
    session.respond(1);
    await events.seen('done');
    expect(events.of('text').map(({ text }) => text)).toEqual(['Hello ', 'there.']);
  });
});

describe('a tool', () => {
  const call = { call: 'call_1', name: 'weather', args: '{"in":"Izmir"}' } as const;

  it('is called once, with complete arguments, beside what is said before it', async () => {
    server.replies.push({ items: [{ speech: 'Let me see.', ms: 100 }, call] });
    const { session, events } = await openReady(server, { seed: { tools: [weather] } });
    expect(server.last.session['tools']).toEqual([{ type: 'function', ...weather }]);
    session.respond(1);
    await events.seen('done');
    expect(told(events).slice(-2)).toEqual(['tool-call 1 call_1 weather {"in":"Izmir"}', 'done 1 completed']);
  });

  it('has its result given back to the call, and is not called again when the call comes again', async () => {
    server.replies.push({ items: [call] }, { items: [call, { speech: 'It is sunny.', ms: 100 }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    session.append([{ role: 'tool', callId: 'call_1', name: 'weather', text: '{"sun":true}' }]);
    session.respond(2);
    await events.seen('done', 2);
    expect(server.last.of('conversation.item.create').map(({ item }) => item)).toEqual([
      { type: 'function_call_output', call_id: 'call_1', output: '{"sun":true}' },
    ]);
    expect(events.of('tool-call')).toHaveLength(1);
  });

  it('that another session called has its call and its result told in words', async () => {
    const { session, events } = await openReady(server);
    session.append([
      { role: 'assistant', text: '', toolCalls: [{ id: 'old', name: 'weather', arguments: '{}' }] },
      { role: 'tool', callId: 'old', name: 'weather', text: 'sunny' },
    ]);
    session.respond(1);
    await events.seen('done');
    expect(server.last.of('conversation.item.create').map(({ item }) => item)).toEqual([
      {
        type: 'message',
        role: 'system',
        content: [{ type: 'input_text', text: 'You called weather with {}' }],
      },
      {
        type: 'message',
        role: 'system',
        content: [{ type: 'input_text', text: 'Result of weather: sunny' }],
      },
    ]);
  });

  it('of an answer that was cancelled is not called', async () => {
    server.replies.push({ items: [call], holds: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    await server.until(() => server.last.of('response.create').length === 1);
    session.cancel();
    await events.seen('done');
    expect(told(events)).toEqual(['done 1 cancelled']);
  });
});
