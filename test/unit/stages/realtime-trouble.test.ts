/** Faults around a speaking model that works: nobody in the call notices them. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { newCall, sound } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;
beforeEach(() => {
  call = newCall();
});

it('gives the result of a call that another session tells once more again, and no tool runs', () => {
  const question = call.says('what time is it');
  const clock = { id: 'c1', name: 'clock', arguments: '{}' };
  call.start(question);
  call.model.last.say({ type: 'tool-call', answer: 1, ...clock });
  call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  call.model.ready();
  const past: ChatMessage[] = [
    { role: 'assistant', text: '', toolCalls: [clock] },
    { role: 'tool', callId: 'c1', name: 'clock', text: 'noon' },
  ];
  const before = call.said.length;
  call.start(question, ...past, call.says('and now', 9));
  for (const answer of [2, 3]) {
    call.model.last.say({ type: 'tool-call', answer, ...clock });
    call.model.last.say({ type: 'done', answer, finish: 'completed' });
    expect(call.model.last.told.filter((one) => one === 'tool: noon')).toHaveLength(answer - 1);
  }
  // A model that asks for nothing else is not asked for ever.
  expect(call.said.slice(before)).toEqual([{ type: 'done', finish: 'stop', usage: undefined }]);
  // One with other arguments is another call.
  call.start(question, ...past, call.says('in Rome', 9));
  call.model.last.say({ type: 'tool-call', answer: 4, ...clock, arguments: '{"in":"Rome"}' });
  expect(call.said.at(-1)).toMatchObject({ type: 'tool-call', arguments: '{"in":"Rome"}' });
});

describe('a TTS that fails', () => {
  const fails = (): void => call.tts.sessions.at(-1)?.say({ type: 'error', error: { kind: 'disconnected' } });
  const sounds = (): number[] =>
    call.spoken.flatMap((event) => (event.type === 'audio' ? [event.pcm[0] ?? 0] : []));
  const errors = (): number => call.spoken.filter(({ type }) => type === 'error').length;

  it('while the model speaks is noticed by nobody, and the next line has another session', () => {
    call.start(call.says('tell me a story'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once upon a time.' });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1) });
    call.voice.speak(1, 'Once upon a time.');
    fails();
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(2) });
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    call.voice.flush(1);
    call.clock.advance(1);
    expect([sounds(), errors()]).toEqual([[1, 2], 0]);
    expect(call.tts.sessions).toHaveLength(1);
    call.voice.pause();
    call.voice.speak(2, 'Goodbye.');
    expect(call.tts.sessions[1]?.asked).toEqual(['pause', 'speak 1 Goodbye.']);
  });

  it('before anybody spoke is noticed by nobody', () => {
    fails();
    fails();
    expect([errors(), call.tts.sessions.length]).toEqual([0, 1]);
  });

  it('in a line before the answer costs the line alone: the answer is heard in the voice of the model', () => {
    call.start(call.says('what time is it'));
    call.voice.speak(1, 'One moment. ');
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon' });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1) });
    call.voice.speak(1, 'It is noon');
    fails();
    call.voice.close();
    const voice = call.openVoice();
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: ' in Rome.' });
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    voice.speak(2, 'It is noon in Rome.');
    voice.flush(2);
    call.clock.advance(1);
    expect([sounds(), call.tts.sessions.at(-1)?.asked]).toEqual([[1], []]);
  });

  it('behind a line whose sound has come is noticed by nobody', () => {
    call.start(call.says('what time is it'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon.' });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1) });
    call.voice.speak(1, 'It is noon.');
    call.voice.speak(1, ' Goodbye.');
    call.voice.flush(1);
    const tts = call.tts.sessions[0];
    tts?.say({ type: 'audio', context: 1, pcm: sound(2) });
    tts?.say({ type: 'flushed', context: 1 });
    fails();
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    call.clock.advance(1);
    expect([sounds(), errors()]).toEqual([[1, 2], 0]);
  });

  it('in a line is told', () => {
    call.voice.speak(1, 'This call is recorded.');
    fails();
    expect(errors()).toBe(1);
  });

  it('in words of a model that does not speak is told', () => {
    call = newCall({ modelSpeaks: false });
    call.start(call.says('tell me a story'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once upon a time.' });
    call.voice.speak(1, 'Once upon a time.');
    fails();
    expect(errors()).toBe(1);
  });
});

describe('an LLM that answers in place of the model', () => {
  const texts = (): string[] => call.said.flatMap((event) => (event.type === 'text' ? [event.text] : []));
  const writes = (...parts: readonly string[]): void => {
    call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 401 } });
    call.start(call.says('what time is it'));
    for (const text of parts) call.llm.rounds[0]?.say({ type: 'text', text });
  };

  it('is heard by the sentence, not by the word', () => {
    writes('It', ' is', ' noon.', ' Dr.', ' No', ' will', ' see', ' you', ' soon');
    call.llm.rounds[0]?.say({ type: 'done', finish: 'stop', usage: undefined });
    expect(texts()).toEqual(['It is noon. ', 'Dr. No will see you soon']);
    expect(call.said.at(-1)?.type).toBe('done');
  });

  it('and breaks off leaves no half sentence behind', () => {
    writes('It', ' is', ' noon.', ' The', ' do');
    call.llm.rounds[0]?.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(texts()).toEqual(['It is noon. ']);
  });
});

describe('a session at its end', () => {
  const says = (answer: number, text: string): void => {
    call.model.last.say({ type: 'text', answer, item: `item ${answer}`, text });
    call.model.last.say({ type: 'audio', answer, item: `item ${answer}`, pcm: sound(1, 8_000) });
    call.voice.speak(1, text);
  };
  const dies = (): void => call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });

  it('that says so again and again is followed by one', () => {
    const [first] = call.model.sessions;
    for (let times = 0; times < 3; times += 1) {
      first?.say({ type: 'expiring', inMs: 10_000 });
      call.clock.advance(1);
    }
    expect(call.model.sessions).toHaveLength(2);
    first?.say({ type: 'expiring', inMs: 5_000 });
    call.model.ready();
    call.clock.advance(1_000);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  it('in the moment of an interruption is followed by one that hears it and knows what was heard', () => {
    const question = call.says('tell me a story');
    const round = call.start(question);
    says(1, 'Once upon a time there was');
    call.ears.audio(sound(9));
    round.cancel();
    call.voice.cancel(1);
    dies();
    const heard = call.hears('Once upon');
    const stop = call.says('stop', 8);
    call.start(question, heard, stop);
    const { seed, told } = call.model.last;
    expect(seed.history).toEqual([question]);
    expect(told).toEqual(['begin', 'audio 9,8', 'assistant: Once upon', 'end', 'respond 2']);
  });

  it('while a tool runs is followed by one that is told the result in words', () => {
    const question = call.says('what time is it');
    const clock = { id: 'c1', name: 'clock', arguments: '{}' };
    call.start(question);
    call.model.last.say({ type: 'tool-call', answer: 1, ...clock });
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    dies();
    call.model.ready();
    call.start(
      question,
      { role: 'assistant', text: '', toolCalls: [clock] },
      { role: 'tool', callId: 'c1', name: 'clock', text: 'noon' },
    );
    expect(call.model.last.told.slice(-2)).toEqual([
      'system: An earlier call of clock gave: noon',
      'respond 2',
    ]);
  });

  it('that speaks on behind a cancel is heard by nobody', () => {
    const question = call.says('tell me a story');
    const round = call.start(question);
    says(1, 'Once upon');
    round.cancel();
    call.voice.cancel(1);
    call.clock.advance(1);
    const before = [...call.spoken.filter(({ type }) => type === 'audio'), ...call.said];
    says(1, ' a time');
    call.model.last.say({ type: 'tool-call', answer: 1, id: 'c1', name: 'pay', arguments: '{}' });
    call.model.last.say({ type: 'done', answer: 1, finish: 'cancelled' });
    call.clock.advance(1);
    expect([...call.spoken.filter(({ type }) => type === 'audio'), ...call.said]).toEqual(before);
  });
});

it.each([
  [2_500, ['begin', 'audio 7', 'abandon', 'begin', 'audio 8']],
  [10_000, ['begin', 'audio 7,8']],
])('a turn whose pauses may last for %i ms is heard with all of them', (maxSilenceMs, told) => {
  call = newCall({ maxSilenceMs });
  call.ears.audio(sound(7));
  call.clock.advance(8_000);
  call.ears.audio(sound(8));
  expect(call.model.last.told).toEqual(told);
});
