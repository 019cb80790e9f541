/**
 * The known complaints of docs/realtime.md once more, with worse inputs: calls over the real adapter and the fake of OpenAI, by the numbers of that table.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { unwritten } from '../../../worker/core/unwritten.ts';
import { newRealtimeOpenAi } from '../../../worker/stages/realtime/openai/adapter.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { agent, newCallOf, sound, user } from '../../support/core/realtime-call.ts';
import { newStageContext, patientClock } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, speak as speakTo, takeTurn, told } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
let call: ReturnType<typeof newCallOf>;
beforeEach(async () => {
  server = new FakeOpenAiRealtime();
  await server.start();
});
afterEach(() => {
  call?.mind.close();
  return server.close();
});

/** A call whose first session is ready, with a voice of 300 ms for each thing that the caller says. */
async function newSpeakingCall(words: 'own' | 'vendor' = 'own', clock: Clock = patientClock): Promise<void> {
  const model = newRealtimeOpenAi({
    dialect: dialects.openai,
    baseUrl: server.baseUrl,
    model: 'm',
    ...{ language: 'en', output: 'audio', words },
  });
  call = newCallOf(model, clock, { words });
  await ready(1);
}

const ready = (sessions: number): Promise<void> =>
  server.until(
    () =>
      server.sessions.length === sessions && server.last.said.some(({ type }) => type === 'session.updated'),
  );

function says(text: string): ChatMessage {
  for (let at = 0; at < 15; at += 1) call.ears.audio(sound(7, 320));
  return call.says(text);
}

const ends = (): number => call.said.filter(({ type }) => type === 'done' || type === 'error').length;
const answered = (count: number): Promise<void> => call.until(() => ends() === count);
const textSaid = (): string =>
  call.said.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');

describe('1: the limit of a session', () => {
  it('that comes between the end of a turn and its answer loses neither', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [], holds: true });
    call.start(says('what time is it'));
    await server.until(() => server.last.of('response.create').length === 1);
    const [heardMs] = server.last.turnsMs;
    server.last.refuse({ code: 'session_expired', message: 'Your session hit the maximum duration.' });
    server.last.end(1001, 'expired');
    await answered(1);
    expect(server.sessions).toHaveLength(2);
    expect(server.last.turnsMs).toEqual([heardMs]);
    expect(textSaid().trim()).toBe('Hello there.');
  });

  it('that is told as a date long past is not followed by one session after another', async () => {
    server.known = { id: 'sess_1', expires_at: 1 };
    await newSpeakingCall();
    call.start(says('what time is it'));
    await answered(1);
    expect(server.sessions).toHaveLength(1);
  });
});

describe('2: cuts', () => {
  it('of a whole age and of a part of a sample are whole milliseconds of what came', async () => {
    server.replies.push({ items: [{ speech: 'It is noon.', ms: 333, pieceMs: 37 }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    const [{ item } = { item: '' }] = events.of('audio');
    for (const ms of [Infinity, 1e300, 332.99999, Number.MIN_VALUE]) session.truncate(item, ms);
    session.respond(2);
    await events.seen('done', 2);
    const cuts = server.last.of('conversation.item.truncate').map(({ audio_end_ms }) => audio_end_ms);
    expect(cuts).toEqual([333, 333, 332]);
    expect(events.of('error')).toEqual([]);
  });

  it('of what was deleted, in whatever order, leave the next answer alone', async () => {
    server.replies.push({ items: [{ speech: 'It is noon.', ms: 400 }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    const [{ item } = { item: '' }] = events.of('audio');
    for (const ms of [0, 200, 0, 400]) session.truncate(item, ms);
    takeTurn(session, 1);
    session.respond(2);
    await events.seen('done', 2);
    expect(told(events).at(-1)).toBe('done 2 completed');
    expect(events.of('error')).toEqual([]);
  });
});

describe('3: an answer at a time', () => {
  it('where the server begins one by itself in the same moment, ours alone is told, once', async () => {
    server.replies.push({ items: [{ speech: 'Unasked.' }], holds: true }, { items: [{ speech: 'Asked.' }] });
    const { session, events } = await openReady(server);
    takeTurn(session, 1);
    server.last.begin();
    session.respond(1);
    await events.seen('done');
    expect(told(events).join('|')).toContain('Asked.');
    expect(told(events).join('|')).not.toContain('Unasked');
    expect(events.of('done')).toHaveLength(1);
  });

  it('where the end of the other never comes, ours is asked for again', async () => {
    const busy = { code: 'conversation_already_has_active_response', message: 'busy' };
    server.refusals.set('response.create', [busy, busy]);
    const clock = newVirtualClock();
    const { session, events } = await openReady(server, { context: newStageContext(clock) });
    session.respond(1);
    for (const refused of [1, 2]) {
      // The words of a turn come behind the refusal.
      server.transcripts.push('hello');
      takeTurn(session, refused);
      await events.until(() => events.of('user-text').filter(({ final }) => final).length === refused);
      clock.advance(1_000);
    }
    await events.seen('done');
    expect(told(events).at(-1)).toBe('done 1 completed');
    expect(server.last.of('response.create')).toHaveLength(3);
  });
});

describe('4: a tool', () => {
  const pay = { call: 'call_1', name: 'pay', args: '{"amount": 5}' } as const;
  const callsTold = (): number => call.said.filter(({ type }) => type === 'tool-call').length;
  const messages = (question: ChatMessage): ChatMessage[] => [
    question,
    { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'pay', arguments: pay.args }] },
    { role: 'tool', callId: 'call_1', name: 'pay', text: 'paid' },
  ];

  it('whose call the next session makes once more has its result given, and does not run again', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [pay] });
    const question = says('pay my bill');
    call.start(question);
    await answered(1);
    server.last.vanish();
    await ready(2);
    server.replies.push({ items: [pay] }, { items: [{ speech: 'It is paid.' }] });
    call.start(...messages(question));
    await answered(2);
    expect(callsTold()).toBe(1);
    expect(textSaid().trim()).toBe('It is paid.');
  });

  it('whose call the next session makes once more with other spaces does not run again', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [pay] });
    const question = says('pay my bill');
    call.start(question);
    await answered(1);
    server.last.vanish();
    await ready(2);
    server.replies.push(
      { items: [{ ...pay, args: '{"amount":5}' }] },
      { items: [{ speech: 'It is paid.' }] },
    );
    call.start(...messages(question));
    await answered(2);
    expect(callsTold()).toBe(1);
  });
});

describe('5: words of the caller', () => {
  it('that come behind the session of their turn do not become those of another turn', async () => {
    const clock = newVirtualClock();
    await newSpeakingCall('vendor', clock);
    server.transcribesLate = true;
    const first = sayAloud();
    clock.advance(1);
    call.start(first);
    await answered(1);
    const former = server.last;
    former.vanish();
    await ready(2);
    clock.advance(2_000);
    const second = sayAloud();
    clock.advance(1);
    call.start(first, agent('Hello there.'), second);
    await answered(2);
    clock.advance(1_000);
    server.transcripts.push('second');
    server.last.transcribe();
    await call.until(() => call.heard.filter(({ type }) => type === 'written').length === 2);
    const written = call.heard.flatMap((event) => (event.type === 'written' ? [event.text] : []));
    expect(written).toEqual(['[inaudible]', 'second']);
  });

  it('that a dead worker was owed are owed to nobody, and the turn is heard by the next', async () => {
    await newSpeakingCall('vendor');
    server.transcripts.push('what time is it');
    // The worker before it died behind the commit: this one is given the turn again, and the core knows no words of it.
    for (let at = 0; at < 45; at += 1) call.ears.audio(sound(7, 320));
    call.start(user('[the caller said something]'));
    await answered(1);
    await server.until(() => server.last.said.some(({ type }) => type.endsWith('transcription.completed')));
    expect(server.last.turnsMs).toHaveLength(1);
    expect(call.heard.filter(({ type }) => type === 'written')).toEqual([]);
    const next = sayAloud();
    server.transcripts.push('and tomorrow');
    call.start(user('[the caller said something]'), agent('Hello there.'), next);
    await call.until(() => call.heard.some(({ type }) => type === 'written'));
    expect(call.heard.at(-1)).toEqual({ type: 'written', text: 'and tomorrow' });
  });

  /** A turn whose words nobody knows yet. */
  function sayAloud(): ChatMessage {
    for (let at = 0; at < 45; at += 1) call.ears.audio(sound(7, 320));
    call.ears.finalize();
    return user(unwritten);
  }
});

describe('6 and 7: pieces of an answer', () => {
  /** The core gives back the words that it was told, to be spoken. */
  async function speakAll(): Promise<void> {
    call.start(says('what time is it'));
    await answered(1);
    for (const event of call.said) if (event.type === 'text') call.voice.speak(1, event.text);
    call.voice.flush(1);
  }
  const spokenByTts = (): string => call.tts.sessions.flatMap(({ asked }) => asked).join('|');
  const samples = (): number =>
    call.spoken.reduce((sum, event) => sum + (event.type === 'audio' ? event.pcm.length : 0), 0);

  it('6: one in text before another in sound is spoken, and the other heard behind it', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ text: 'Let me see.' }, { speech: 'It is noon.', ms: 400 }] });
    await speakAll();
    await call.until(() => spokenByTts() !== '' || samples() > 0);
    expect(spokenByTts()).toContain('Let me see.');
  });

  it('6: one in text behind another in sound is spoken, too', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'It is noon.', ms: 400 }, { text: 'Anything else?' }] });
    await speakAll();
    await call.until(() => samples() > 0);
    expect(spokenByTts()).toContain('Anything else?');
    expect(spokenByTts()).not.toContain('noon');
  });

  it('7: before and behind a call of a tool are all heard, and the tool is called once', async () => {
    await newSpeakingCall();
    const tool = { call: 'call_1', name: 'clock', args: '{}' } as const;
    server.replies.push({
      items: [{ speech: 'Let me see.', ms: 100 }, tool, { speech: 'One moment.', ms: 200 }],
    });
    await speakAll();
    await call.until(() => call.spoken.some(({ type }) => type === 'flushed'));
    expect(samples()).toBe(300 * 8);
    expect(call.said.filter(({ type }) => type === 'tool-call')).toHaveLength(1);
    expect(call.said.at(-1)).toMatchObject({ type: 'done', finish: 'tool_calls' });
  });

  it('7: three of which one is empty are all heard, in their order', async () => {
    await newSpeakingCall();
    server.replies.push({
      items: [
        { speech: 'One.', ms: 100 },
        { speech: '', ms: 0 },
        { speech: 'Three.', ms: 300 },
      ],
    });
    await speakAll();
    await call.until(() => call.spoken.some(({ type }) => type === 'flushed'));
    expect(samples()).toBe(400 * 8);
    expect(spokenByTts()).toBe('');
  });
});

describe('8: a model that has nothing to say', () => {
  it('is asked once more, and its second answer is heard', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [] }, { items: [{ speech: 'It is noon.' }] });
    call.start(says('what time is it'));
    await answered(1);
    expect(textSaid().trim()).toBe('It is noon.');
    expect(call.llm.rounds).toHaveLength(0);
  });

  it('twice is followed by the others', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [] }, { items: [] });
    call.start(says('what time is it'));
    // And the next turn has another session.
    await ready(2);
    expect(call.llm.rounds).toHaveLength(1);
    expect(ends()).toBe(0);
  });
});

describe('9: an answer that ends early', () => {
  it('because the server cancelled it by itself is told as broken off, to be gone on with', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'You owe us four' }], holds: true });
    call.start(says('how much'));
    await call.until(() => textSaid().endsWith('four'));
    const { response_id: id } = server.last.said.findLast(
      ({ type }) => type === 'response.output_audio.delta',
    ) as { response_id: string };
    const status_details = { type: 'cancelled', reason: 'turn_detected' } as const;
    server.last.send({
      type: 'response.done',
      response: { id, object: 'realtime.response', status: 'cancelled', status_details, output: [] },
    });
    await answered(1);
    expect(call.said.at(-1)?.type).toBe('error');
    expect(call.llm.rounds).toEqual([]);
  });

  it('with its connection behind the last sound is told as broken off, and its sound is heard', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'You owe us four.', ms: 400 }], holds: true });
    call.start(says('how much'));
    await call.until(() => textSaid().endsWith('four.'));
    for (const event of call.said) if (event.type === 'text') call.voice.speak(1, event.text);
    server.last.vanish();
    await answered(1);
    expect(call.said.at(-1)?.type).toBe('error');
    await call.until(() => call.spoken.some(({ type }) => type === 'audio'));
  });
});

describe('10 and 11: voices and noises', () => {
  it("that the server ends turns by in spite of what it was told are nobody's turns", async () => {
    const { session, events } = await openReady(server);
    session.beginTurn();
    speakTo(session, 300);
    await server.until(() => server.last.bufferMs > 250);
    server.last.send({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: 'own_1' });
    server.last.send({ type: 'input_audio_buffer.committed', item_id: 'own_1', previous_item_id: null });
    server.last.bufferMs = 0;
    server.replies.push({ items: [{ speech: 'Unasked.' }], holds: true }, { items: [{ speech: 'Asked.' }] });
    server.last.begin();
    session.endTurn(1);
    session.respond(1);
    await events.seen('done');
    expect(told(events).join('|')).toContain('Asked.');
    expect(told(events).join('|')).not.toContain('Unasked');
    expect(events.of('error')).toEqual([]);
  });

  it('over an answer tell the server nothing, and the next turn has none of them', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'It is noon, and the sun is out.', ms: 3_000 }] });
    const question = says('what time is it');
    call.start(question);
    await answered(1);
    for (const event of call.said) if (event.type === 'text') call.voice.speak(1, event.text);
    await call.until(() => call.spoken.some(({ type }) => type === 'audio'));
    const before = server.last.heard.length;
    for (let noise = 0; noise < 3; noise += 1) {
      for (let at = 0; at < 15; at += 1) call.ears.audio(sound(9, 320));
      call.says('', 9);
    }
    expect(server.last.heard).toHaveLength(before);
    call.voice.cancel(1);
    const [firstMs = 0] = server.last.turnsMs;
    call.start(question, agent('It is noon,'), says('thanks'));
    await answered(2);
    expect(server.last.turnsMs[1]).toBeCloseTo(firstMs, -1);
  });
});

describe('12: the three stages', () => {
  it('that take over while a tool runs know the call of it, its result and the turn', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ call: 'call_1', name: 'pay', args: '{}' }] });
    const question = says('pay my bill');
    call.start(question);
    await answered(1);
    server.last.end(1008, 'policy');
    const messages: ChatMessage[] = [
      question,
      { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'pay', arguments: '{}' }] },
      { role: 'tool', callId: 'call_1', name: 'pay', text: 'paid' },
    ];
    server.refuseWith = 401;
    await server.until(() => server.last.closed !== undefined);
    call.start(...messages);
    await call.until(() => call.llm.rounds.length === 1);
    expect(call.llm.rounds[0]?.request.messages.slice(1)).toEqual(messages);
  });
});

describe('13: lines', () => {
  it('that begin as the answer does are spoken by the TTS, and the answer by the model', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'One moment, please.', ms: 400 }] });
    call.voice.speak(1, 'One moment.');
    call.voice.flush(1);
    call.start(says('what time is it'));
    await answered(1);
    for (const event of call.said) if (event.type === 'text') call.voice.speak(2, event.text);
    call.voice.flush(2);
    for (const event of [{ type: 'flushed', context: 1 } as const]) call.tts.sessions[0]?.say(event);
    await call.until(() => call.spoken.filter(({ type }) => type === 'flushed').length === 2);
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 One moment.', 'flush 1']);
    const samples = call.spoken.reduce(
      (sum, event) => sum + (event.type === 'audio' && event.context === 2 ? event.pcm.length : 0),
      0,
    );
    expect(samples).toBe(400 * 8);
  });

  it('without a letter do not take the words of the model', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'It is noon.', ms: 400 }] });
    call.start(says('what time is it'));
    await answered(1);
    call.voice.speak(1, '…');
    for (const event of call.said) if (event.type === 'text') call.voice.speak(1, event.text);
    call.voice.flush(1);
    await call.until(() => call.spoken.some(({ type }) => type === 'flushed'));
    const samples = call.spoken.reduce(
      (sum, event) => sum + (event.type === 'audio' ? event.pcm.length : 0),
      0,
    );
    expect(samples).toBe(400 * 8);
    expect(call.tts.sessions[0]?.asked).toEqual([]);
  });
});

describe('14: usage', () => {
  it('of nonsense is never less than nothing, and never more in a part than in the whole', async () => {
    const usage = {
      input_tokens: 10,
      output_tokens: '7',
      input_token_details: { audio_tokens: 90, cached_tokens: -5, cached_tokens_details: null },
      output_token_details: 'none',
    } as never;
    await newSpeakingCall();
    server.replies.push({ items: [{ speech: 'It is noon.' }], usage });
    call.start(says('what time is it'));
    await answered(1);
    const amounts = call.figures.filter((one) => /tokens/.test(one)).map((one) => Number(one.split(' ')[1]));
    expect(amounts.every((one) => Number.isInteger(one) && one >= 0)).toBe(true);
    const of = (unit: string): number =>
      Number(call.figures.find((one) => one.startsWith(`${unit} `))?.split(' ')[1] ?? 0);
    expect(of('audio_input_tokens') + of('text_input_tokens')).toBe(of('input_tokens'));
  });

  it('that is told twice is counted once', async () => {
    await newSpeakingCall();
    call.start(says('what time is it'));
    await answered(1);
    const done = server.last.said.findLast(({ type }) => type === 'response.done');
    const before = call.figures.length;
    server.last.sendText(JSON.stringify(done));
    call.start(says('what time is it'));
    await answered(2);
    const counted = (unit: string): number => call.figures.filter((one) => one.startsWith(`${unit} `)).length;
    expect(before).toBeGreaterThan(0);
    expect(counted('input_tokens')).toBe(2);
  });
});

describe('15: a session', () => {
  it('that is greeted and configured again and again is set up once', async () => {
    const { session, events } = await openReady(server);
    for (let again = 0; again < 3; again += 1) {
      server.last.greet();
      server.last.send({ type: 'session.updated', session: { type: 'realtime' } });
    }
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    expect(server.last.of('session.update')).toHaveLength(1);
    expect(events.of('ready')).toHaveLength(1);
    expect(told(events).at(-1)).toBe('done 1 completed');
  });

  it('that follows another in mid-turn hears nothing of what the other says late', async () => {
    await newSpeakingCall();
    server.replies.push({ items: [], holds: true }, { items: [{ speech: 'It is noon.' }] });
    call.start(says('what time is it'));
    await server.until(() => server.last.of('response.create').length === 1);
    const former = server.last;
    former.refuse({ code: 'session_expired', message: 'expired' });
    former.release();
    await answered(1);
    expect(textSaid().trim()).toBe('It is noon.');
    expect(call.said.filter(({ type }) => type === 'done')).toHaveLength(1);
  });
});
