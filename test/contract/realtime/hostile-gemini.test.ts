/**
 * The known complaints of docs/realtime.md once more, with worse inputs: calls over the real adapter and the fake of Gemini Live, by the numbers of that table.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newGeminiLive } from '../../../worker/stages/realtime/gemini/adapter.ts';
import type { ChatMessage, ToolDeclaration } from '../../../worker/stages/stage.ts';
import { agent, newCallOf, sound } from '../../support/core/realtime-call.ts';
import { patientClock } from '../../support/core/stage-context.ts';
import { audio, FakeGeminiLive, words } from '../../support/fakes/fake-gemini-live.ts';
import { newest, readyGemini, speak, voice, wordsOf } from './gemini-session.ts';

let server: FakeGeminiLive;
let call: ReturnType<typeof newCallOf> | undefined;
beforeEach(async () => {
  server = new FakeGeminiLive();
  await server.start();
});
afterEach(() => {
  call?.mind.close();
  call = undefined;
  return server.close();
});

type Call = ReturnType<typeof newCallOf>;

/** A call whose first session is ready. */
async function newSpeakingCall(): Promise<Call> {
  const model = newGeminiLive({ ...newest, words: 'own', baseUrl: server.baseUrl });
  call = newCallOf(model, patientClock);
  await ready(1);
  return call;
}

const ready = (sessions: number): Promise<void> =>
  server.until(() => server.connections.length === sessions && server.last.setup !== undefined);

function says(given: Call, text: string): ChatMessage {
  for (let at = 0; at < 15; at += 1) given.ears.audio(sound(7, 320));
  return given.says(text);
}

const ends = ({ said }: Call): number =>
  said.filter(({ type }) => type === 'done' || type === 'error').length;
const answered = (given: Call, count: number): Promise<void> => given.until(() => ends(given) === count);
const textSaid = ({ said }: Call): string =>
  said.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');

it('1: a service that goes away at once, in the middle of an answer, is followed by one that knows it', async () => {
  const given = await newSpeakingCall();
  server.replies.push({ speech: 'It is noon, and the sun', holds: true });
  const question = says(given, 'what time is it');
  given.start(question);
  await given.until(() => textSaid(given).endsWith('sun'));
  server.last.say({ goAway: { timeLeft: '0s' } });
  server.last.end(1001, 'going away');
  await answered(given, 1);
  await ready(2);
  server.replies.push({ speech: 'You are welcome.' });
  given.start(question, agent('It is noon,'), says(given, 'thanks'));
  await answered(given, 2);
  expect(JSON.stringify(server.last.heard)).toContain('It is noon,');
  expect(JSON.stringify(server.last.heard)).not.toContain('the sun');
});

it('4: a call that is told in both places, and again behind its result, is told once', async () => {
  const { session, events } = await readyGemini(server);
  const pay = { id: 'a', name: 'pay', args: { amount: 5 } };
  server.replies.push({ calls: [pay] });
  speak(session, 1);
  await events.seen('done');
  server.last.content({ modelTurn: { role: 'model', parts: [{ functionCall: pay }] } });
  session.append([{ role: 'tool', callId: 'a', name: 'pay', text: '{"paid":true}' }]);
  session.respond(2);
  await server.until(() => server.last.kinds.includes('toolResponse'));
  server.last.say({ toolCall: { functionCalls: [pay] } });
  server.last.content(audio(100), words('Paid.'), { generationComplete: true }, { turnComplete: true });
  await events.seen('done', 2);
  expect(events.of('tool-call')).toHaveLength(1);
  expect(wordsOf(events, 2)).toBe('Paid.');
});

describe('6: text in place of sound', () => {
  it('is spoken by the TTS', async () => {
    const given = await newSpeakingCall();
    server.replies.push({ text: 'It is noon.' });
    given.start(says(given, 'what time is it'));
    await answered(given, 1);
    expect(textSaid(given)).toBe('It is noon.');
    given.voice.speak(1, 'It is noon.');
    given.voice.flush(1);
    await server.until(() => true);
    expect(given.tts.sessions[0]?.asked).toEqual(['speak 1 It is noon.', 'flush 1']);
  });

  it('that stands beside sound is not said', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    const text = { modelTurn: { role: 'model', parts: [{ text: 'Stage direction.' }] } };
    server.last.content(text, audio(100), words('Noon.'), text, { generationComplete: true });
    await events.seen('done');
    expect(wordsOf(events, 1)).toBe('Noon.');
  });

  it('before a call of a tool is a thought of the model', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    const parts = [{ text: 'I will look that up.' }, { functionCall: { id: 'a', name: 'look_up' } }];
    server.last.content({ modelTurn: { role: 'model', parts } });
    await events.seen('done');
    expect(wordsOf(events, 1)).toBe('');
    expect(events.of('tool-call')).toHaveLength(1);
  });
});

it('8: a turn that is complete without a word is asked about once more', async () => {
  const given = await newSpeakingCall();
  given.start(says(given, 'what time is it'));
  await server.until(() => server.last.kinds.includes('activityEnd'));
  server.replies.push({ speech: 'It is noon.' });
  server.last.content({ turnComplete: true });
  await answered(given, 1);
  expect(textSaid(given).trim()).toBe('It is noon.');
});

it('8: an interruption that nobody made is no end of the answer', async () => {
  const given = await newSpeakingCall();
  server.replies.push({ speech: 'You owe us four', holds: true });
  given.start(says(given, 'how much'));
  await given.until(() => textSaid(given).endsWith('four'));
  server.last.content({ interrupted: true }, { turnComplete: true });
  await answered(given, 1);
  // The core has it gone on with.
  expect(given.said.at(-1)?.type).toBe('error');
});

describe('9: an answer that ends early', () => {
  it('because it was blocked is said to have been', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words('I think that'));
    server.last.content({ turnComplete: true, turnCompleteReason: 'PROHIBITED_INPUT_CONTENT' as never });
    await events.seen('done');
    expect(events.of('done')[0]?.finish).toBe('content_filter');
  });

  it('with the connection, before anything said that it was over, is told as broken off', async () => {
    const given = await newSpeakingCall();
    server.replies.push({ speech: 'You owe us four', holds: true });
    given.start(says(given, 'how much'));
    await given.until(() => textSaid(given).endsWith('four'));
    server.last.end(1011, 'Internal error encountered.');
    await answered(given, 1);
    expect(given.said.at(-1)?.type).toBe('error');
  });
});

describe('10 and 11: noises', () => {
  it('over an answer tell the service nothing, and the next turn has none of them', async () => {
    const given = await newSpeakingCall();
    server.replies.push({ speech: 'It is noon, and the sun is out.' }, { speech: 'Bye.' });
    const question = says(given, 'what time is it');
    given.start(question);
    await answered(given, 1);
    given.voice.speak(1, 'It is noon, and the sun is out.');
    await given.until(() => given.spoken.some(({ type }) => type === 'audio'));
    const before = server.last.kinds.length;
    for (let noise = 0; noise < 3; noise += 1) {
      for (let at = 0; at < 15; at += 1) given.ears.audio(sound(9, 320));
      given.says('', 9);
    }
    expect(server.last.kinds).toHaveLength(before);
    given.voice.cancel(1);
    given.start(question, agent('It is noon,'), says(given, 'thanks'));
    await answered(given, 2);
    expect(server.last.samples.filter((one) => one === 9)).toEqual([]);
    expect(server.last.samples.filter((one) => one === 7).length).toBeGreaterThan(4_000);
  });

  it("of a service that speaks of voices by itself are nobody's turn", async () => {
    const { session, events } = await readyGemini(server);
    server.last.say({ voiceActivityDetectionSignal: { vadSignalType: 'VAD_SIGNAL_TYPE_SOS' } } as never);
    server.last.content({ interrupted: true }, { turnComplete: true }, { waitingForInput: true });
    server.replies.push({ speech: 'It is noon.' });
    speak(session, 1);
    await events.seen('done');
    expect(events.of('done').map(({ finish }) => finish)).toEqual(['completed']);
    expect(wordsOf(events, 1)).toBe('It is noon.');
  });
});

describe('14: usage', () => {
  it('is split over what it is made of, however often and in whatever parts it is told', async () => {
    const { session, events } = await readyGemini(server);
    const usageMetadata = {
      promptTokenCount: 100,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 40 },
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'VIDEO', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 20 },
      ],
      responseTokenCount: 50,
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
      thoughtsTokenCount: 7,
      cachedContentTokenCount: 60,
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 15 }, { modality: 'TEXT' }, null],
    } as never;
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(100), words('Noon.'));
    server.last.say({ usageMetadata }, { usageMetadata });
    server.last.content({ generationComplete: true });
    await events.seen('done');
    expect(events.of('done')[0]?.usage).toEqual({
      ...{ inputTokens: 100, inputAudioTokens: 50, cachedTokens: 60, cachedAudioTokens: 15 },
      ...{ outputTokens: 57, outputAudioTokens: 50, reasoningTokens: 7 },
    });
  });
});

describe('15: a session', () => {
  const choose: ToolDeclaration = {
    name: 'choose',
    description: 'Chooses.',
    parameters: {
      type: 'object',
      properties: {
        room: { type: 'integer', enum: [101, 102] },
        price: { type: ['number', 'null'], enum: [9.5, null] },
        note: { enum: ['', 'late'] },
        kind: { const: 2 },
      },
    },
  };

  it('is not refused for a tool whose values are numbers, or empty', async () => {
    const { events } = await readyGemini(server, {}, { tools: [choose] });
    expect(events.of('error')).toEqual([]);
    expect(JSON.stringify(server.last.setup)).toContain('One of: 101, 102.');
  });

  it('whose handle is refused in mid-call is followed by one that is told everything', async () => {
    const given = await newSpeakingCall();
    const question = says(given, 'what time is it');
    server.replies.push({ speech: 'It is noon.' });
    given.start(question);
    await answered(given, 1);
    server.last.say({ sessionResumptionUpdate: { newHandle: 'h', resumable: true } });
    given.hears('It is noon.');
    server.last.say({ goAway: { timeLeft: 'nonsense' } });
    server.last.end(1008, 'policy');
    await server.until(() => server.connections.length === 3);
    server.replies.push({ speech: 'Good.' });
    given.start(question, agent('It is noon.'), says(given, 'and tomorrow'));
    await answered(given, 2);
    expect(JSON.stringify(server.last.heard)).toContain('It is noon.');
    expect(given.llm.rounds).toEqual([]);
  });

  it('that went says nothing more to the call', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    session.audio(voice(100));
    session.close();
    server.last.content(audio(100), words('A ghost.'), { generationComplete: true });
    await server.until(() => server.last.closed !== undefined);
    expect(events.of('text')).toEqual([]);
  });
});
