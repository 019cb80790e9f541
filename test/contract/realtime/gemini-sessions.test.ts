/** The adapter of Gemini Live: what a session begins with, how it is gone on with, and how it ends. */
import type { LiveClientMessage } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { causeOf } from '../../../worker/stages/failure.ts';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { audio, FakeGeminiLive, words } from '../../support/fakes/fake-gemini-live.ts';
import { older, openGemini, readyGemini, speak, wordsOf } from './gemini-session.ts';

let server: FakeGeminiLive;
beforeEach(async () => {
  server = new FakeGeminiLive();
  await server.start();
});
afterEach(() => server.close());

const restart = async (options: ConstructorParameters<typeof FakeGeminiLive>[0]): Promise<void> => {
  await server.close();
  server = new FakeGeminiLive(options);
  await server.start();
};

const contents = (): LiveClientMessage[] =>
  server.last.heard.filter(({ clientContent }) => clientContent !== undefined);

const history: ChatMessage[] = [
  { role: 'assistant', text: 'Hello.' },
  { role: 'user', text: 'Where is my order?' },
  {
    role: 'assistant',
    text: '',
    toolCalls: [
      { id: 'c1', name: 'look_up', arguments: '{"id":1}' },
      { id: 'c2', name: 'pay', arguments: '{}' },
    ],
  },
  { role: 'tool', callId: 'c1', name: 'look_up', text: '{"at":"sea"}' },
  { role: 'system', text: 'the caller heard only "It is"' },
  { role: 'assistant', text: 'It is at sea.' },
];
const seeded = [
  { role: 'model', parts: [{ text: 'Hello.' }] },
  {
    role: 'user',
    parts: [
      {
        text: 'Where is my order?\n[Note, not said by the caller: the tool look_up was called with {"id":1}, and its result is {"at":"sea"}]\n[Note, not said by the caller: the caller heard only "It is"]',
      },
    ],
  },
  { role: 'model', parts: [{ text: 'It is at sea.' }] },
  {
    role: 'user',
    parts: [
      {
        text: '[Note, not said by the caller: the tool pay was called with {}, and its result is not known]',
      },
    ],
  },
];
const goesOn =
  'The call has been under way for a while. Go on with it, do not greet again, and keep to its language (en-US).';

describe('a session of Gemini Live that goes on with a call', () => {
  it('is given the history as its own, which makes the model say nothing', async () => {
    const { session, events } = await readyGemini(server, {}, { history });
    server.replies.push({ speech: 'Anything else?' });
    speak(session, 1);
    await events.seen('done');
    expect(server.last.setup?.historyConfig).toEqual({ initialHistoryInClientContent: true });
    expect(server.last.setup?.systemInstruction).toEqual({ parts: [{ text: `Be brief.\n\n${goesOn}` }] });
    expect(server.last.kinds).toEqual(['setup', 'clientContent', 'activityStart', 'activityEnd']);
    expect(contents()).toEqual([{ clientContent: { turns: seeded, turnComplete: true } }]);
    expect(wordsOf(events, 1)).toBe('Anything else?');
  });

  it('is given it as content, and once more in its instructions, where the model is an older one', async () => {
    await restart({ takesContent: true });
    await readyGemini(server, older, { history: history.slice(0, 2).reverse() });
    await server.heard(2);
    expect(server.last.setup?.historyConfig).toBeUndefined();
    expect(server.last.setup?.systemInstruction).toEqual({
      parts: [
        { text: `Be brief.\n\n${goesOn}\n\nWhat was said last:\nCaller: Where is my order?\nYou: Hello.` },
      ],
    });
    expect(contents()).toEqual([
      {
        clientContent: {
          turns: [
            { role: 'user', parts: [{ text: 'Where is my order?' }] },
            { role: 'model', parts: [{ text: 'Hello.' }] },
            { role: 'user', parts: [{ text: '[Note, not said by the caller: the call goes on]' }] },
          ],
          turnComplete: false,
        },
      },
    ] satisfies LiveClientMessage[]);
  });

  it('tells the handle of a point that covers all that was sent', async () => {
    const { session, events } = await readyGemini(server);
    const handle = (newHandle: string, resumable = true): void =>
      server.last.say({ sessionResumptionUpdate: { newHandle, resumable } });
    handle('h1');
    await events.seen('resumable');
    speak(session, 1);
    await server.heard(3);
    handle('h2');
    server.last.content(audio(20), words(' Yes.'));
    handle('', false);
    server.last.content({ generationComplete: true });
    handle('h3');
    await events.seen('resumable', 2);
    session.append([{ role: 'system', text: 'not sent yet' }]);
    handle('h4');
    server.last.say({ goAway: { timeLeft: '9.5s' } });
    await events.seen('expiring');
    expect(events.of('resumable').map((event) => event.handle)).toEqual(['h1', 'h3']);
    expect(events.of('expiring')).toEqual([{ type: 'expiring', inMs: 9_500 }]);
  });

  it('takes a handle up, and tells what came behind it with the next turn', async () => {
    server.handles.add('h1');
    const { session, events } = await readyGemini(server, {}, { resume: 'h1', history: history.slice(1, 2) });
    expect(server.last.setup?.sessionResumption).toEqual({ handle: 'h1' });
    expect(server.last.setup?.historyConfig).toBeUndefined();
    server.replies.push({ speech: 'At sea.' });
    speak(session, 5);
    await events.seen('done');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'text', 'activityEnd']);
    expect(server.last.texts).toEqual(['Where is my order?']);
  });

  it('tells what is added between turns in words, and never as content that models of today refuse', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'One.' }, { speech: 'Two.' }, { speech: 'Three.' });
    speak(session, 1);
    await events.seen('done');
    session.append([{ role: 'assistant', text: 'This call is recorded.' }]);
    session.append([{ role: 'system', text: 'the caller is Ada' }]);
    speak(session, 2);
    await events.seen('done', 2);
    session.append([{ role: 'user', text: 'I typed this.' }]);
    session.respond(3);
    await events.seen('done', 3);
    expect(server.last.kinds.slice(3)).toEqual(['activityStart', 'text', 'activityEnd', 'text']);
    expect(server.last.texts).toEqual([
      '[Note, not said by the caller: you have just said to the caller, word for word: This call is recorded.]\n[Note, not said by the caller: the caller is Ada]',
      'I typed this.',
    ]);
    expect(wordsOf(events, 3)).toBe('Three.');
  });

  it('tells older models as content what they are to answer', async () => {
    await restart({ takesContent: true });
    const { session, events } = await readyGemini(server, older);
    server.replies.push({ speech: 'One.' }, { speech: 'Two.' }, { speech: 'Three.' });
    session.append([{ role: 'assistant', text: 'Welcome.' }]);
    speak(session, 1);
    await events.seen('done');
    session.append([{ role: 'user', text: 'I typed this.' }]);
    session.respond(2);
    await events.seen('done', 2);
    session.respond(3);
    await events.seen('done', 3);
    expect(
      contents().map(({ clientContent }) => [clientContent?.turns?.at(-1), clientContent?.turnComplete]),
    ).toEqual([
      [{ role: 'user', parts: [{ text: 'I typed this.' }] }, true],
      [{ role: 'user', parts: [{ text: '[Note, not said by the caller: it is your turn to speak]' }] }, true],
    ]);
  });

  it('stops what runs before typed words are answered', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long', holds: true }, { speech: 'Sure.' });
    speak(session, 1);
    await events.seen('audio', 2);
    session.cancel();
    session.append([{ role: 'user', text: 'Stop.' }]);
    session.respond(2);
    await events.seen('done', 2);
    expect(server.last.kinds.slice(3)).toEqual(['activityStart', 'text', 'activityEnd']);
    expect(wordsOf(events, 2)).toBe('Sure.');
  });

  it('goes to Vertex AI with a token', async () => {
    await restart({ takesContent: true });
    await readyGemini(server, {
      ...older,
      path: '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent',
      vertex: { project: 'p-1', location: 'europe-west4' },
      contextTokens: 32_000,
    });
    expect(server.last.path).toBe('/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent');
    expect(server.last.headers.authorization).toBe('Bearer key-1');
    expect(server.last.headers['x-goog-api-key']).toBeUndefined();
    expect(server.last.setup?.model).toBe(
      'projects/p-1/locations/europe-west4/publishers/google/models/gemini-2.5-flash-native-audio-preview-12-2025',
    );
    expect(server.last.setup?.contextWindowCompression).toEqual({
      triggerTokens: '32000',
      slidingWindow: { targetTokens: '16000' },
    });
  });
});

describe('the end of a session of Gemini Live', () => {
  it.each([
    [1000, '', { kind: 'disconnected' }],
    [1001, '', { kind: 'disconnected' }],
    [1007, 'Request contains an invalid argument.', { kind: 'rejected', status: 400 }],
    [
      1008,
      'Operation is not implemented, or supported, or enabled.',
      { kind: 'rejected', status: 400, retryable: true },
    ],
    [1009, 'too long', { kind: 'rejected', status: 413 }],
    [1011, 'Internal error encountered.', { kind: 'rejected', status: 503 }],
    [1011, 'Deadline expired before operation could complete.', { kind: 'rejected', status: 503 }],
    [1011, 'You exceeded your current quota', { kind: 'rejected', status: 429 }],
  ] as const)('by a close with %i "%s" means %j', async (code, reason, error) => {
    const { events } = await readyGemini(server);
    server.last.end(code, reason);
    await events.seen('error');
    expect(events.all.slice(1)).toEqual([{ type: 'error', error }]);
    const [told] = events.of('error');
    expect(told && causeOf(told.error, [])).toEqual({ code: String(code) });
  });

  it('before it began tells the words of a server that has nothing of the caller', async () => {
    const { events } = openGemini(server, { model: 'retired' });
    await events.seen('error');
    const [told] = events.of('error');
    expect(told?.error).toEqual({ kind: 'rejected', status: 404 });
    expect(told && causeOf(told.error, [])).toMatchObject({
      code: '1008',
      text: expect.stringContaining('not found') as unknown,
    });
  });

  it.each([400, 401, 403, 404, 429, 503])(
    'is a refusal where the upgrade is answered with %i',
    async (status) => {
      server.refuseWith = status;
      const { events } = openGemini(server);
      await events.seen('error');
      expect(events.of('error')[0]?.error).toMatchObject({ kind: 'rejected', status });
    },
  );

  it('is a refusal where the handle is not known, and a fault of the service where its session lives', async () => {
    const first = openGemini(server, {}, { resume: 'unknown' });
    await first.events.seen('error');
    expect(first.events.of('error')[0]?.error).toEqual({ kind: 'rejected', status: 400 });
    server.handles.add('h1');
    const living = await readyGemini(server);
    const second = openGemini(server, {}, { resume: 'h1' });
    await second.events.seen('error');
    expect(second.events.of('error')[0]?.error).toEqual({ kind: 'rejected', status: 503 });
    living.session.close();
  });

  it('is a breach of the protocol where it says what is no JSON, or sounds otherwise than it must', async () => {
    const first = await readyGemini(server);
    server.last.socket.send('not JSON');
    await first.events.seen('error');
    expect(first.events.of('error')[0]?.error).toEqual({
      kind: 'protocol',
      rule: 'a message is a JSON object',
    });
    const second = await readyGemini(server);
    speak(second.session, 1);
    await server.heard(3);
    const inlineData = { mimeType: 'audio/pcm;rate=16000', data: 'AAAA' };
    server.last.content({ modelTurn: { parts: [{ inlineData }] } }, { generationComplete: true });
    await second.events.seen('error');
    expect(second.events.all.at(-1)).toEqual({
      type: 'error',
      error: { kind: 'protocol', rule: 'audio has 24000 samples a second' },
    });
  });

  it('is told once, and nothing behind it', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20));
    server.last.socket.terminate();
    await events.seen('error');
    const before = events.all.length;
    expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'disconnected' } });
    session.respond(2);
    session.cancel();
    session.close();
    expect(events.all.length).toBe(before);
  });

  it('is a limit of time where the service never takes the setup', async () => {
    server.isSlow = true;
    const clock = newVirtualClock();
    const { events } = openGemini(server, { clock });
    await server.heard(1);
    clock.advance(5_000);
    await events.seen('error');
    expect(events.of('error')[0]?.error).toEqual({ kind: 'timeout', what: 'connect' });
  });

  it('is a limit of time where the service shows no sign of life, not even to a ping', async () => {
    const clock = newVirtualClock();
    const { events } = await readyGemini(server, { clock });
    clock.advance(20_000);
    await server.until(() => server.last.pings > 0);
    expect(events.of('error')).toEqual([]);
    server.last.socket.pause();
    clock.advance(80_000);
    await events.seen('error');
    expect(events.of('error')[0]?.error).toEqual({ kind: 'timeout', what: 'progress' });
  });
});
