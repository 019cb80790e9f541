/** The adapter of Gemini Live: turns, answers, tools, and the order in which the service says things. */
import { ActivityHandling, Behavior, Modality, TurnCompleteReason, TurnCoverage, Type } from '@google/genai';
import type { LiveClientMessage } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { audio, FakeGeminiLive, words } from '../../support/fakes/fake-gemini-live.ts';
import {
  lookUp,
  millisOf,
  readyGemini,
  openGemini,
  shapes,
  speak,
  voice,
  wordsOf,
} from './gemini-session.ts';

let server: FakeGeminiLive;
beforeEach(async () => {
  server = new FakeGeminiLive();
  await server.start();
});
afterEach(() => server.close());

const aWhile = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a session of Gemini Live', () => {
  it('begins with a setup that leaves the turns to us, and the key in a header', async () => {
    const { events } = await readyGemini(server, { voice: 'Kore', temperature: 0.5 }, { tools: [lookUp] });
    expect(server.last.path).toBe(
      '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    );
    expect(server.last.headers['x-goog-api-key']).toBe('key-1');
    expect(server.last.heard).toEqual([
      {
        setup: {
          model: 'models/gemini-3.8-live',
          generationConfig: {
            responseModalities: [Modality.AUDIO],
            temperature: 0.5,
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
          },
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          tools: [
            {
              functionDeclarations: [
                {
                  name: 'look_up',
                  description: 'Looks up.',
                  parameters: {
                    type: Type.OBJECT,
                    properties: { id: { type: Type.INTEGER } },
                    required: ['id'],
                  },
                  behavior: Behavior.BLOCKING,
                },
              ],
            },
          ],
          realtimeInputConfig: {
            automaticActivityDetection: { disabled: true },
            activityHandling: ActivityHandling.START_OF_ACTIVITY_INTERRUPTS,
            turnCoverage: TurnCoverage.TURN_INCLUDES_ONLY_ACTIVITY,
          },
          inputAudioTranscription: { languageCodes: ['en-US'] },
          outputAudioTranscription: { languageCodes: ['en-US'] },
          sessionResumption: {},
          contextWindowCompression: { slidingWindow: {} },
        },
      },
    ] satisfies LiveClientMessage[]);
    const [ready] = events.of('ready');
    expect(ready?.session).toBe('session_1');
    expect(ready?.expiresInMs).toBe(600_000);
    expect(ready?.caps).toEqual({
      truncates: false,
      removes: false,
      answersTurns: false,
      answersTools: true,
      updates: true,
      cancels: false,
    });
  });

  it('sends a turn between the marks of an activity, and tells its answer', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ heard: 'Are you open?', speech: 'We are open.' });
    speak(session, 1);
    await events.seen('done');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'activityEnd']);
    expect(server.last.activities).toEqual([4_800]);
    expect(events.of('user-text').at(-1)).toEqual({
      type: 'user-text',
      turn: 1,
      text: 'Are you open?',
      final: true,
    });
    expect(wordsOf(events, 1)).toBe('We are open.');
    expect(millisOf(events, 1)).toBe(300);
    expect(events.all.slice(-2)).toEqual([
      { type: 'item-done', answer: 1, item: '1' },
      { type: 'done', answer: 1, finish: 'completed' },
    ]);
  });

  it('takes what several keys of one frame say in the order in which it happened', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.say({
      serverContent: {
        turnComplete: true,
        generationComplete: true,
        ...audio(20),
        outputTranscription: { text: ' Yes.' },
        inputTranscription: { text: ' Well?', finished: true },
      },
      usageMetadata: { promptTokenCount: 10, responseTokenCount: 4 },
    });
    await events.seen('done');
    expect(events.all.slice(1)).toEqual([
      { type: 'user-text', turn: 1, text: 'Well?', final: true },
      { type: 'text', answer: 1, item: '1', text: 'Yes.' },
      { type: 'audio', answer: 1, item: '1', pcm: new Int16Array(480).fill(7) },
      { type: 'item-done', answer: 1, item: '1' },
      expect.objectContaining({
        type: 'done',
        answer: 1,
        finish: 'completed',
        usage: expect.objectContaining({ inputTokens: 10, outputTokens: 4 }) as unknown,
      }),
    ]);
  });

  it('drops thoughts, and text beside sound that is not said', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    const parts = [{ text: 'Hm, what now?', thought: true }, { text: 'Not said.' }];
    server.last.content({ modelTurn: { parts } }, audio(20), words(' Hello.'), { generationComplete: true });
    await events.seen('done');
    expect(wordsOf(events, 1)).toBe('Hello.');
  });

  it('ends an answer when all of it was made, and not by the turn that is complete much later', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' One.'), { generationComplete: true });
    await events.seen('done');
    server.last.isSpeaking = false;
    speak(session, 2);
    await server.heard(5);
    server.last.content({ turnComplete: true }, { interrupted: true }, audio(20), words(' Two.'), {
      generationComplete: true,
    });
    await events.seen('done', 2);
    expect(events.of('done').map(({ answer, finish }) => [answer, finish])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(wordsOf(events, 2)).toBe('Two.');
  });

  it('drops what comes behind the end of an answer instead of taking it for the next one', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' One.'), { generationComplete: true }, audio(40), words(' Late.'));
    await events.seen('done');
    server.replies.push({ speech: 'Two.' });
    session.respond(2);
    await events.seen('done', 2);
    expect(wordsOf(events, 2)).toBe('Two.');
    expect(millisOf(events, 2)).toBe(100);
  });

  it('tells what is interrupted as cancelled, and takes the next turn', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long', holds: true }, { speech: 'Sure.' });
    speak(session, 1);
    await events.seen('audio', 2);
    session.cancel();
    session.beginTurn();
    session.audio(voice(200));
    server.last.content(audio(500), words(' never heard'));
    session.endTurn(2);
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('done').map(({ answer, finish }) => [answer, finish])).toEqual([
      [1, 'cancelled'],
      [2, 'completed'],
    ]);
    expect(wordsOf(events, 1)).toBe('A long');
    expect(wordsOf(events, 2)).toBe('Sure.');
    expect(millisOf(events, 2)).toBe(100);
  });

  it('leaves an answer alone that is not over, because the caller may only have coughed', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'We are', holds: true });
    speak(session, 1);
    await events.seen('audio', 2);
    session.beginTurn();
    session.audio(voice(200));
    session.abandonTurn();
    server.last.content(audio(20), words(' open.'), { generationComplete: true });
    await events.seen('done');
    expect(events.of('done')).toEqual([{ type: 'done', answer: 1, finish: 'completed' }]);
    expect(wordsOf(events, 1)).toBe('We are open.');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'activityEnd']);
  });

  it.each([
    ['is cancelled', 'cancelled'],
    ['is over', 'completed'],
  ] as const)('lets the caller be heard from the beginning when the answer %s', async (_, finish) => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'We are', holds: true }, { speech: 'Yes.' });
    speak(session, 1);
    await events.seen('audio', 2);
    session.beginTurn();
    session.audio(voice(200));
    if (finish === 'cancelled') session.cancel();
    else server.last.content(words(' open.'), { generationComplete: true });
    await events.seen('done');
    session.audio(voice(300, 6));
    session.endTurn(2);
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('done').map((event) => event.finish)).toEqual([finish, 'completed']);
    expect(server.last.activities).toEqual([4_800, 8_000]);
    expect(wordsOf(events, 2)).toBe('Yes.');
  });

  it('tells the service once what it is given again of a turn whose end was a noise', async () => {
    const { session, events } = await readyGemini(server);
    session.beginTurn();
    const said = [voice(40, 1), voice(40, 2), voice(40, 3)];
    for (const pcm of said) session.audio(pcm);
    session.audio(voice(40, 99));
    session.abandonTurn();
    session.beginTurn();
    for (const pcm of said) session.audio(pcm);
    session.audio(voice(40, 4));
    session.endTurn(1);
    server.replies.push({ speech: 'Yes.' });
    session.respond(1);
    await events.seen('done');
    expect([...new Set(server.last.samples)]).toEqual([1, 2, 3, 99, 4]);
    expect(server.last.activities).toEqual([5 * 640]);
  });

  it('tells what is to be known for an answer within the turn, before and behind its end', async () => {
    const { session, events } = await readyGemini(server);
    session.beginTurn();
    session.audio(voice(200));
    session.append([{ role: 'system', text: 'one' }]);
    session.endTurn(1);
    session.append([{ role: 'system', text: 'two' }]);
    server.replies.push({ speech: 'Yes.' });
    session.respond(1);
    await events.seen('done');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'text', 'activityEnd']);
    expect(server.last.texts).toEqual([
      '[Note, not said by the caller: one]\n[Note, not said by the caller: two]',
    ]);
  });

  it('writes down what the caller said as soon as no more words come', async () => {
    const clock = newVirtualClock();
    const { session, events } = await readyGemini(server, { clock });
    speak(session, 1);
    await server.heard(3);
    server.last.content(
      { inputTranscription: { text: ' Are you' } },
      { inputTranscription: { text: ' open?' } },
    );
    await events.seen('user-text', 2);
    clock.advance(900);
    expect(events.of('user-text').map(({ text, final }) => [text, final])).toEqual([
      ['Are you', false],
      ['Are you open?', false],
      ['Are you open?', true],
    ]);
    server.last.content({ inputTranscription: { text: ' Late.' } }, audio(20), words(' Yes.'), {
      generationComplete: true,
    });
    await events.seen('done');
    expect(events.of('user-text')).toHaveLength(3);
  });

  it('tells an interruption that nobody made, and answers when it is asked again', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long', holds: true }, { speech: 'Here I am.' });
    speak(session, 1);
    await events.seen('audio', 2);
    server.last.content({ interrupted: true }, { turnComplete: true });
    await events.seen('done');
    expect(events.of('done')).toEqual([{ type: 'done', answer: 1, finish: 'cancelled' }]);
    session.respond(2);
    await events.seen('done', 2);
    expect(wordsOf(events, 2)).toBe('Here I am.');
    expect(server.last.texts).toEqual(['[Note, not said by the caller: it is your turn to speak]']);
  });

  it('does not take the interruption of what was still played for one of the answer that is awaited', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content({ interrupted: true }, { turnComplete: true }, audio(20), words(' Yes.'), {
      generationComplete: true,
    });
    await events.seen('done');
    expect(events.of('done')).toEqual([{ type: 'done', answer: 1, finish: 'completed' }]);
  });

  it('nudges a model that stays silent', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    session.cancel();
    server.replies.push({ speech: 'Sorry.' });
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('done').map(({ answer, finish }) => [answer, finish])).toEqual([
      [1, 'cancelled'],
      [2, 'completed'],
    ]);
    expect(wordsOf(events, 2)).toBe('Sorry.');
  });

  it('says that an answer was cut where the turn is complete before all of it was made', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' You owe us four'), { turnComplete: true });
    await events.seen('done');
    expect(events.of('done')).toEqual([{ type: 'done', answer: 1, finish: 'length' }]);
    server.replies.push({ speech: 'hundred.' });
    session.respond(2);
    await events.seen('done', 2);
    expect(server.last.texts).toEqual([
      '[Note, not said by the caller: you were cut off; go on exactly where you stopped]',
    ]);
    expect(wordsOf(events, 2)).toBe('hundred.');
  });

  it('says that an answer was cut that ends in mid-sentence, unless its words come late', async () => {
    const clock = newVirtualClock();
    const { session, events } = await readyGemini(server, { clock });
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' You owe us four hundred'), { generationComplete: true });
    server.last.say({ goAway: { timeLeft: '50s' } });
    await events.seen('expiring');
    expect(events.of('done')).toEqual([]);
    clock.advance(400);
    await events.seen('done');
    speak(session, 2);
    await server.heard(5);
    server.last.content(audio(20), words(' You owe us four hundred'), { generationComplete: true });
    server.last.content(words(' and two.'));
    await events.seen('done', 2);
    expect(events.of('done').map(({ finish }) => finish)).toEqual(['length', 'completed']);
    expect(wordsOf(events, 2)).toBe('You owe us four hundred and two.');
  });

  it.each([
    [TurnCompleteReason.MALFORMED_FUNCTION_CALL, 'failed'],
    [TurnCompleteReason.RESPONSE_REJECTED, 'content_filter'],
    [TurnCompleteReason.PROHIBITED_INPUT_CONTENT, 'content_filter'],
    [TurnCompleteReason.GENERATED_AUDIO_SAFETY, 'content_filter'],
    [TurnCompleteReason.NEED_MORE_INPUT, 'completed'],
    [undefined, 'completed'],
  ] as const)('ends an answer without a word by its reason: %s is %s', async (turnCompleteReason, finish) => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content({ turnComplete: true, ...(turnCompleteReason && { turnCompleteReason }) });
    await events.seen('done');
    expect(events.of('done')[0]).toMatchObject({ answer: 1, finish });
    expect(events.of('item-done')).toEqual([]);
  });

  it('keeps an abandoned turn to itself, and has the model speak when it is asked to', async () => {
    const { session, events } = await readyGemini(server);
    session.beginTurn();
    session.audio(voice(50));
    session.abandonTurn();
    session.audio(voice(500));
    session.beginTurn();
    session.audio(voice(200));
    session.abandonTurn();
    server.replies.push({ speech: 'Are you there?' });
    session.respond(1);
    await events.seen('done');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'text', 'activityEnd']);
    expect(wordsOf(events, 1)).toBe('Are you there?');
  });

  it('fills up a turn that is too short to be heard', async () => {
    const { session } = await readyGemini(server);
    session.beginTurn();
    session.audio(voice(20));
    session.endTurn(1);
    session.respond(1);
    await server.heard(3);
    expect(server.last.activities).toEqual([1_600]);
  });

  it('sends what was said before it was ready behind it, in order and with the newest sound', async () => {
    server.isSlow = true;
    const { session, events } = openGemini(server);
    session.append([{ role: 'system', text: 'The caller is Ada.' }]);
    session.beginTurn();
    for (let second = 0; second < 30; second += 1) session.audio(voice(1_000, second + 1));
    session.endTurn(1);
    session.respond(1);
    await server.heard(1);
    server.replies.push({ speech: 'Hello.' });
    server.last.say({ setupComplete: {} });
    await events.seen('done');
    expect(server.last.kinds).toEqual(['setup', 'activityStart', 'text', 'activityEnd']);
    expect(server.last.activities).toEqual([15 * 16_000]);
    expect(server.last.samples[0]).toBe(16);
    expect(server.last.samples.at(-1)).toBe(30);
  });

  it('tells nothing from inside a method, and nothing behind a close', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long', holds: true });
    speak(session, 1);
    await events.seen('audio', 2);
    const before = events.all.length;
    session.cancel();
    expect(events.all.length).toBe(before);
    session.close();
    server.last.content(audio(20), { generationComplete: true });
    await server.until(() => server.last.closed !== undefined);
    await aWhile();
    expect(events.all.length).toBe(before);
    session.respond(2);
    session.beginTurn();
    session.audio(voice(20));
    session.append([{ role: 'system', text: 'x' }]);
    await aWhile();
    expect(events.all.length).toBe(before);
  });
});

describe('a model that writes', () => {
  it('is asked for text alone, and its text is what is to be spoken', async () => {
    const { session, events } = await readyGemini(server, { output: 'text', words: 'own', voice: 'Kore' });
    expect(server.last.setup?.generationConfig).toEqual({ responseModalities: [Modality.TEXT] });
    expect(server.last.setup?.outputAudioTranscription).toBeUndefined();
    expect(server.last.setup?.inputAudioTranscription).toBeUndefined();
    server.replies.push({ heard: 'Well?', text: 'We are open.' });
    speak(session, 1);
    await events.seen('done');
    expect(shapes(events)).toEqual(['ready', 'text 1', 'item-done 1', 'done 1']);
    expect(wordsOf(events, 1)).toBe('We are open.');
  });

  it('may be cut as well', async () => {
    const { session, events } = await readyGemini(server, { output: 'text' });
    server.replies.push({ text: 'We are open until half' });
    speak(session, 1);
    await events.seen('done');
    expect(events.of('done')[0]?.finish).toBe('length');
  });
});
