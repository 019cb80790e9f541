/** The adapter of Gemini Live: tools, whose calls are told once, and usage. */
import { Behavior, MediaModality } from '@google/genai';
import type { FunctionCall, LiveClientMessage } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { audio, FakeGeminiLive, words } from '../../support/fakes/fake-gemini-live.ts';
import { lookUp, openGemini, readyGemini, shapes, speak, voice, wordsOf } from './gemini-session.ts';

let server: FakeGeminiLive;
beforeEach(async () => {
  server = new FakeGeminiLive();
  await server.start();
});
afterEach(() => server.close());

const result = (callId: string, text: string): ChatMessage => ({
  role: 'tool',
  callId,
  name: 'look_up',
  text,
});
const call = (id: number, more: Partial<FunctionCall> = {}): FunctionCall => ({
  id: `fc_${id}`,
  name: 'look_up',
  args: { id },
  ...more,
});
const responses = (): unknown[] => server.last.heard.flatMap(({ toolResponse }) => toolResponse ?? []);

describe('tools of Gemini Live', () => {
  it('are called once, however often and in whatever place the service says so', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    speak(session, 1);
    await server.heard(3);
    const twice = { modelTurn: { parts: [{ functionCall: call(1) }, { functionCall: call(2) }] } };
    server.last.say(
      { serverContent: twice, toolCall: { functionCalls: [call(1)] } },
      { toolCall: { functionCalls: [call(2)] } },
    );
    await events.seen('done');
    session.append([result('fc_1', '{"open":true}'), result('fc_2', 'gone')]);
    session.respond(2);
    await server.heard(4);
    server.last.say({ toolCall: { functionCalls: [call(1)] } });
    server.last.content(audio(20), words(' Both.'), { generationComplete: true });
    await events.seen('done', 2);
    expect(events.of('tool-call')).toEqual([
      { type: 'tool-call', answer: 1, id: 'fc_1', name: 'look_up', arguments: '{"id":1}' },
      { type: 'tool-call', answer: 1, id: 'fc_2', name: 'look_up', arguments: '{"id":2}' },
    ]);
    expect(responses()).toEqual([
      {
        functionResponses: [
          { id: 'fc_1', name: 'look_up', response: { output: { open: true } } },
          { id: 'fc_2', name: 'look_up', response: { output: 'gone' } },
        ],
      },
    ]);
    expect(wordsOf(events, 2)).toBe('Both.');
    expect(server.last.texts).toEqual([]);
  });

  it('that come without an id get one here, and their results go back without', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    const { id: _, ...nameless } = call(7);
    server.replies.push({ calls: [nameless, { ...nameless, args: { id: 8 } }] }, { speech: 'Done.' });
    speak(session, 1);
    await events.seen('done');
    const [first, second] = events.of('tool-call');
    expect(new Set([first?.id, second?.id]).size).toBe(2);
    session.append([result(first?.id ?? '', 'one')]);
    session.append([result(second?.id ?? '', 'two')]);
    session.respond(2);
    await events.seen('done', 2);
    expect(responses()).toEqual([
      {
        functionResponses: [
          { name: 'look_up', response: { output: 'one' } },
          { name: 'look_up', response: { output: 'two' } },
        ],
      },
    ]);
  });

  it('that come with an id behind the same without one are one', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    speak(session, 1);
    await server.heard(3);
    const { id: _, ...nameless } = call(7);
    server.last.say({
      serverContent: { modelTurn: { parts: [{ functionCall: nameless }] } },
      toolCall: { functionCalls: [call(7)] },
    });
    await events.seen('done');
    const [only, other] = events.of('tool-call');
    expect(other).toBeUndefined();
    session.append([result(only?.id ?? '', 'one')]);
    session.respond(2);
    await server.heard(4);
    expect(responses()).toEqual([
      { functionResponses: [{ id: 'fc_7', name: 'look_up', response: { output: 'one' } }] },
    ]);
  });

  it('keep the digits of their numbers', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    speak(session, 1);
    await server.heard(3);
    const frame =
      '{"toolCall":{"functionCalls":[{"id":"a","name":"look_up","args":{"id":12345678901234567890}}]}}';
    server.last.waiting.set('a', 'look_up');
    server.last.socket.send(Buffer.from(frame));
    await events.seen('tool-call');
    expect(events.of('tool-call')[0]?.arguments).toBe('{"id":12345678901234567890}');
    session.append([result('a', '{"number":98765432109876543210}')]);
    await server.heard(4);
  });

  it('give what is nested too deeply for the service as a text', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    speak(session, 1);
    await server.heard(3);
    server.last.waiting.set('a', 'look_up');
    server.last.socket.send(
      Buffer.from('{"toolCall":{"functionCalls":[{"id":"a","name":"look_up","args":{}}]}}'),
    );
    await events.seen('tool-call');
    const deep = '['.repeat(100) + ']'.repeat(100);
    session.append([result('a', deep)]);
    await server.heard(4);
    expect(JSON.stringify(responses())).toContain(`"output":"${deep}"`);
  });

  it('are told as not wanted, and what they found is told in words', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    server.replies.push({ calls: [call(1), call(2)] });
    speak(session, 1);
    await events.seen('done');
    session.beginTurn();
    session.audio(voice(200));
    server.last.say({ toolCallCancellation: { ids: ['fc_1', 'fc_2', 'fc_99'] } });
    await events.seen('tool-cancelled');
    expect(events.of('tool-cancelled')).toEqual([{ type: 'tool-cancelled', ids: ['fc_1', 'fc_2'] }]);
    session.append([result('fc_1', 'paid')]);
    session.endTurn(2);
    server.replies.push({ speech: 'Yes.' });
    session.respond(2);
    await events.seen('done', 2);
    speak(session, 3);
    await server.until(() => server.last.texts.length === 1);
    expect(responses()).toEqual([]);
    expect(server.last.texts).toEqual([
      '[Note, not said by the caller: the tool look_up was called, and its result is paid]',
    ]);
  });

  it('that were never answered are answered with an error, because the model waits for ever', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    server.replies.push({ calls: [call(1), call(2)] }, { speech: 'One.' });
    speak(session, 1);
    await events.seen('done');
    session.append([result('fc_2', 'gone')]);
    session.respond(2);
    await events.seen('done', 2);
    expect(responses()).toEqual([
      {
        functionResponses: [
          { id: 'fc_1', name: 'look_up', response: { error: 'The tool was not run.' } },
          { id: 'fc_2', name: 'look_up', response: { output: 'gone' } },
        ],
      },
    ]);
  });

  it('go on at once, and what the model then says is kept until it is asked for', async () => {
    const { session, events } = await readyGemini(server, {}, { tools: [lookUp] });
    server.replies.push({ calls: [call(1)] }, { speech: 'At once.' });
    speak(session, 1);
    await events.seen('done');
    session.append([result('fc_1', 'gone')]);
    await server.heard(4);
    server.last.say({ goAway: { timeLeft: '50s' } });
    await events.seen('expiring');
    expect(events.of('text')).toEqual([]);
    session.respond(2);
    await events.seen('done', 2);
    expect(wordsOf(events, 2)).toBe('At once.');
    expect(server.last.texts).toEqual([]);
  });

  it('have names that the service takes, and their own here', async () => {
    const tools = [{ ...lookUp, name: '3d-view' }];
    const { session, events } = await readyGemini(server, {}, { tools });
    server.replies.push({ calls: [call(1, { name: '_3d-view' })] });
    speak(session, 1);
    await events.seen('done');
    expect(events.of('tool-call')[0]?.name).toBe('3d-view');
    session.append([{ role: 'tool', callId: 'fc_1', name: '3d-view', text: 'ok' }]);
    await server.heard(4);
    expect(responses()).toMatchObject([{ functionResponses: [{ name: '_3d-view' }] }]);
  });

  it('of a model that does not wait are called while it speaks on', async () => {
    const { session, events } = await readyGemini(
      server,
      { model: 'gemini-3.8-live-extended-thinking', behavior: Behavior.NON_BLOCKING },
      { tools: [lookUp] },
    );
    speak(session, 1);
    await server.heard(3);
    server.last.say({ toolCall: { functionCalls: [call(1)] } });
    server.last.content(audio(20), words(' One moment.'), { generationComplete: true });
    await events.seen('done');
    expect(shapes(events).slice(1)).toEqual(['tool-call 1', 'audio 1', 'text 1', 'item-done 1', 'done 1']);
  });

  it('do not lose the words that come behind a call', async () => {
    const { session, events } = await readyGemini(server, { clock: newVirtualClock() }, { tools: [lookUp] });
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' Let me have a look at'));
    server.last.say({ toolCall: { functionCalls: [call(1)] } });
    server.last.content(words(' that.'));
    await events.seen('done');
    expect(wordsOf(events, 1)).toBe('Let me have a look at that.');
    expect(events.of('done')[0]?.finish).toBe('completed');
  });

  it('are changed within a session by models that can', async () => {
    const { session } = await readyGemini(server);
    session.update({ instructions: 'Be kind.', tools: [] });
    await server.heard(2);
    expect(server.last.heard[1]).toEqual({
      contextUpdate: { systemInstruction: { parts: [{ text: 'Be kind.' }] }, tools: { tools: [] } },
    } satisfies LiveClientMessage);
  });

  it('are those that came last, where they change before the session begins', async () => {
    const { session, events } = openGemini(server, { contextUpdate: false }, { tools: [lookUp] });
    session.update({ instructions: 'Be kind.', tools: [] });
    await events.seen('ready');
    expect(server.last.setup?.systemInstruction).toEqual({ parts: [{ text: 'Be kind.' }] });
    expect(server.last.setup?.tools).toBeUndefined();
  });

  it('end a session that can neither go on with others nor be told of them', async () => {
    const { session, events } = await readyGemini(server, { contextUpdate: false });
    session.update({ instructions: 'Be kind.', tools: [] });
    await events.seen('error');
    expect(events.of('error')[0]?.error).toEqual({
      kind: 'protocol',
      rule: 'a session keeps its instructions',
    });
  });
});

describe('usage of Gemini Live', () => {
  it('is told once for each answer, by what it is made of', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    const details = (
      modality: MediaModality,
      tokenCount: number,
    ): { modality: MediaModality; tokenCount: number } => ({ modality, tokenCount });
    server.last.say(
      { usageMetadata: { promptTokenCount: 100, responseTokenCount: 5 } },
      { serverContent: { ...audio(20), ...words(' One.') } },
      {
        serverContent: { generationComplete: true },
        usageMetadata: {
          promptTokenCount: 100,
          promptTokensDetails: [details(MediaModality.AUDIO, 60), details(MediaModality.TEXT, 40)],
          toolUsePromptTokenCount: 10,
          cachedContentTokenCount: 30,
          cacheTokensDetails: [details(MediaModality.AUDIO, 20), details(MediaModality.TEXT, 10)],
          responseTokenCount: 50,
          responseTokensDetails: [details(MediaModality.AUDIO, 45), details(MediaModality.TEXT, 5)],
          thoughtsTokenCount: 7,
          totalTokenCount: 160,
        },
      },
      {
        serverContent: { turnComplete: true },
        usageMetadata: { promptTokenCount: 100, responseTokenCount: 52, thoughtsTokenCount: 7 },
      },
    );
    await events.seen('done');
    server.last.isSpeaking = false;
    speak(session, 2);
    await server.heard(5);
    server.last.say({
      serverContent: { ...audio(20), ...words(' Two.'), generationComplete: true },
      usageMetadata: { promptTokenCount: 150, responseTokenCount: 3 },
    });
    await events.seen('done', 2);
    expect(events.of('done').map(({ usage }) => usage)).toEqual([
      {
        inputTokens: 110,
        outputTokens: 57,
        cachedTokens: 30,
        inputAudioTokens: 60,
        outputAudioTokens: 45,
        cachedAudioTokens: 20,
        reasoningTokens: 7,
      },
      // Two more that the service told behind the end of the first.
      {
        inputTokens: 150,
        outputTokens: 5,
        cachedTokens: 0,
        inputAudioTokens: 0,
        outputAudioTokens: 0,
        cachedAudioTokens: 0,
        reasoningTokens: 0,
      },
    ]);
  });

  it('of an answer that was cancelled counts as well', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.say({
      serverContent: audio(20),
      usageMetadata: { promptTokenCount: 10, responseTokenCount: 5 },
    });
    await events.seen('audio');
    session.cancel();
    await events.seen('done');
    expect(events.of('done')[0]).toMatchObject({
      finish: 'cancelled',
      usage: { inputTokens: 10, outputTokens: 5 },
    });
  });
});
