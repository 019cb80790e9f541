/**
 * What users of other services complain of in calls of speaking models, one test for each, in the order of docs/realtime.md. Those about
 * calls are held with a scripted model, those about wires with the vendors' fakes.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agent, newCall, sound, user } from '../../support/core/realtime-call.ts';
import { audio, FakeGeminiLive, words } from '../../support/fakes/fake-gemini-live.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { readyGemini, speak, voice, wordsOf } from './gemini-session.ts';
import { openReady, takeTurn, told } from './openai-driver.ts';

type Call = ReturnType<typeof newCall>;

/** The model says these words in answer `answer`, with sound behind them. */
function modelSays(call: Call, answer: number, text: string, item = `item ${answer}`): void {
  call.model.last.say({ type: 'text', answer, item, text });
  call.model.last.say({ type: 'audio', answer, item, pcm: sound(1, 8_000) });
}
const done = (call: Call, answer: number): void =>
  call.model.last.say({ type: 'done', answer, finish: 'completed' });

describe('in a call', () => {
  it('1: a session ends, and the call goes dead', () => {
    const call = newCall();
    call.model.ready(3_600_000);
    const question = call.says('what time is it');
    call.start(question);
    modelSays(call, 1, 'It is noon.');
    done(call, 1);
    const answer = call.hears('It is noon.');
    // Long before its limit the next one is there, and only then the old one goes.
    call.clock.advance(3_400_000);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([false, false]);
    call.model.ready(3_600_000);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    // One that is lost in the middle of a turn: the next one hears the turn from its beginning.
    call.ears.audio(sound(3));
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed.history).toEqual([question, answer]);
    const thanks = call.says('thanks', 4);
    call.start(question, answer, thanks);
    expect(call.model.last.told).toEqual(['begin', 'audio 3,4', 'end', 'respond 2']);
  });

  it('5: words of the caller come late, twice or in the wrong order', () => {
    const call = newCall({ words: 'vendor' });
    for (const turn of [1, 2]) {
      call.ears.audio(sound(7, 14_400));
      call.ears.finalize();
      call.clock.advance(1);
      call.start(...Array.from({ length: turn }, () => user('spoken words that are not written down yet')));
      done(call, turn);
    }
    for (const [turn, text] of [
      [2, 'second'],
      [1, 'first'],
      [1, 'first again'],
    ] as const)
      call.model.last.say({ type: 'user-text', turn, text, final: true });
    expect(call.heard.flatMap((event) => (event.type === 'written' ? [event.text] : []))).toEqual([
      'first',
      'second',
    ]);
  });

  it('6: a model that was given a history answers in text, and nobody hears it', () => {
    const call = newCall();
    call.start(agent('Hello.'), call.says('what time is it'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon.' });
    call.voice.speak(1, 'It is noon.');
    done(call, 1);
    call.voice.flush(1);
    call.clock.advance(1);
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 It is noon.', 'flush 1']);
  });

  it('7: of several pieces of an answer one alone is played', () => {
    const call = newCall();
    const question = call.says('what time is it');
    call.start(question);
    for (const [item, text] of [
      ['a', 'Let me see. '],
      ['b', 'It is noon.'],
    ] as const) {
      modelSays(call, 1, text, item);
      call.voice.speak(1, text);
    }
    done(call, 1);
    call.voice.flush(1);
    call.clock.advance(1);
    const samples = call.spoken.flatMap((event) => (event.type === 'audio' ? [event.pcm.length] : []));
    expect(samples).toEqual([8_000, 8_000]);
    // What was not heard is cut from the piece that it was in.
    call.clock.advance(5_000);
    call.start(question, agent('Let me see. It'), call.says('stop'));
    expect(call.model.last.told.join()).toContain('truncate b');
    expect(call.model.last.told.join()).not.toContain('truncate a');
  });

  it('8: a model is silent for ever', () => {
    const call = newCall();
    call.start(call.says('what time is it'));
    call.clock.advance(5_200);
    expect(call.model.sessions[0]?.told.slice(-3)).toEqual(['respond 1', 'cancel', 'respond 2']);
    // The others answer this turn, and another session the next.
    expect(call.llm.rounds).toHaveLength(1);
    expect(call.model.sessions).toHaveLength(2);
  });

  it('10: the vendor takes a pause for the end of a turn', () => {
    const call = newCall();
    call.says('I would like');
    call.clock.advance(2_000);
    expect(call.model.last.told).toEqual(['begin', 'audio 7']);
    call.start(call.says('a table for two', 8));
    expect(call.model.last.told).toEqual(['begin', 'audio 7,8', 'end', 'respond 1']);
  });

  it('11: noise and echo make the agent interrupt itself', () => {
    const call = newCall();
    const question = call.says('what time is it');
    call.start(question);
    modelSays(call, 1, 'It is noon, and the sun is out.');
    call.voice.speak(1, 'It is noon, and the sun is out.');
    call.clock.advance(1);
    const before = call.model.last.told.length;
    call.says('', 9);
    call.clock.advance(300);
    expect(call.model.last.told.slice(before)).toEqual([]);
  });

  it('12: a call that goes from the model to the three stages loses what was said', () => {
    const call = newCall();
    const question = call.says('what time is it');
    call.start(question);
    modelSays(call, 1, 'It is noon.');
    done(call, 1);
    const tools = agent('');
    const next = call.says('and tomorrow');
    call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 401 } });
    call.start(question, agent('It is noon.'), tools, next);
    expect(call.llm.rounds[0]?.request.messages.slice(1)).toEqual([
      question,
      agent('It is noon.'),
      tools,
      next,
    ]);
  });

  it('13: a greeting or a legal sentence is not said word for word', () => {
    const call = newCall();
    call.voice.speak(1, 'This call is recorded.');
    call.voice.flush(1);
    call.start(agent('This call is recorded.'), call.says('fine'));
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 This call is recorded.', 'flush 1']);
    expect(call.model.last.told[0]).toBe('begin');
    expect(call.model.last.told).toContain('assistant: This call is recorded.');
  });
});

describe('on the wire of OpenAI', () => {
  let server: FakeOpenAiRealtime;
  beforeEach(async () => {
    server = new FakeOpenAiRealtime();
    await server.start();
  });
  afterEach(() => server.close());
  const tool = { call: 'call_1', name: 'pay', args: '{}' } as const;

  it('2: a cut beyond the end, of nothing or of text silences the model', async () => {
    server.replies.push({ items: [{ speech: 'It is noon.', ms: 500 }] }, { items: [{ text: 'Noon.' }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    session.respond(2);
    await events.seen('done', 2);
    const [speech = '', text = ''] = [...new Set(events.of('text').map(({ item }) => item))];
    session.truncate(speech, 9_999.7);
    session.truncate(text, 100);
    session.truncate('never there', 100);
    session.truncate(speech, 0);
    session.respond(3);
    await events.seen('done', 3);
    expect(events.of('error')).toEqual([]);
    for (const { audio_end_ms } of server.last.of('conversation.item.truncate')) {
      expect(audio_end_ms).toBeLessThanOrEqual(500);
      expect(Number.isInteger(audio_end_ms)).toBe(true);
    }
    expect(server.last.said.filter(({ type }) => type === 'error')).toEqual([]);
  });

  it('3: two answers at once are refused, and the second is lost', async () => {
    server.replies.push({ items: [{ speech: 'One.' }], holds: true }, { items: [{ speech: 'Two.' }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('audio');
    session.cancel();
    session.respond(2);
    await events.seen('done', 2);
    expect(told(events).slice(-1)).toEqual(['done 2 completed']);
    expect(server.last.said.filter(({ type }) => type === 'error')).toEqual([]);
  });

  it('4: a tool runs twice', async () => {
    server.replies.push({ items: [tool, tool] }, { items: [tool, { speech: 'Paid.', ms: 100 }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    session.append([{ role: 'tool', callId: 'call_1', name: 'pay', text: 'paid' }]);
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('tool-call')).toHaveLength(1);
  });

  it('14: cost is wrong, or nobody knows it', async () => {
    server.replies.push({ items: [{ speech: 'One.' }], holds: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('audio');
    session.cancel();
    await events.seen('done');
    const [cancelled] = events.of('done');
    expect(cancelled?.finish).toBe('cancelled');
    // Parts are inside the totals.
    expect(cancelled?.usage).toEqual({
      ...{ inputTokens: 132, inputAudioTokens: 13, cachedTokens: 64, cachedAudioTokens: 12 },
      ...{ outputTokens: 121, outputAudioTokens: 91, reasoningTokens: 0 },
    });
  });

  it('15: a session that goes on greets again, or is refused a result of another', async () => {
    const { session, events } = await openReady(server, {
      seed: { history: [{ role: 'user', text: 'Pay my bill.' }] },
    });
    session.append([
      { role: 'assistant', text: '', toolCalls: [{ id: 'old', name: 'pay', arguments: '{}' }] },
      { role: 'tool', callId: 'old', name: 'pay', text: 'paid' },
    ]);
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    expect(JSON.stringify(server.last.session)).toContain('do not greet again, and keep to its language');
    const types = server.last.of('conversation.item.create').map(({ item }) => item.type);
    expect(types).toEqual(['message', 'message']);
    expect(events.of('error')).toEqual([]);
  });
});

describe('on the wire of Gemini', () => {
  let server: FakeGeminiLive;
  beforeEach(async () => {
    server = new FakeGeminiLive();
    await server.start();
  });
  afterEach(() => server.close());

  it('9: an answer ends early, in the middle of a sentence', async () => {
    const { session, events } = await readyGemini(server);
    speak(session, 1);
    await server.heard(3);
    server.last.content(audio(20), words(' You owe us four'), { turnComplete: true });
    await events.seen('done');
    expect(events.of('done')[0]?.finish).toBe('length');
    server.replies.push({ speech: 'hundred.' });
    session.respond(2);
    await events.seen('done', 2);
    expect(server.last.texts.join()).toContain('go on exactly where you stopped');
    expect(wordsOf(events, 2)).toBe('hundred.');
  });

  it('8: a phantom interruption leaves the model silent', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long', holds: true }, { speech: 'Here I am.' });
    speak(session, 1);
    await events.seen('audio');
    server.last.content({ interrupted: true }, { turnComplete: true });
    await events.seen('done');
    session.respond(2);
    await events.seen('done', 2);
    expect(wordsOf(events, 2)).toBe('Here I am.');
  });

  it('10: a cough kills the answer at the vendor', async () => {
    const { session, events } = await readyGemini(server);
    server.replies.push({ speech: 'A long story.', holds: true });
    speak(session, 1);
    await events.seen('audio');
    // Sound that is no turn reaches nobody.
    session.audio(voice(300));
    expect(server.last.kinds.at(-1)).toBe('activityEnd');
    expect(events.of('done')).toEqual([]);
  });
});
