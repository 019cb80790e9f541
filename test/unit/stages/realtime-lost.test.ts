/** Sessions that are lost while an answer is being heard: the next one is told what the caller heard, and nothing that nobody heard. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { newCall, sound } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;
beforeEach(() => {
  call = newCall();
});

describe('a session that is lost while its answer is being heard', () => {
  let question: ChatMessage;
  beforeEach(() => {
    question = call.says('tell me a story');
    call.start(question);
    const text = 'Once upon a time there was a king.';
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1, 80_000) });
    call.voice.speak(1, text);
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    call.voice.flush(1);
    call.clock.advance(500);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    call.model.ready();
  });

  it('is followed by one that is told nothing of it, and with the next question what was heard', () => {
    expect(call.model.last.seed.history).toEqual([question]);
    call.voice.cancel(1);
    call.start(question, call.hears('Once upon'), call.says('stop', 9));
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'assistant: Once upon', 'end', 'respond 2']);
  });

  it('and of which nothing was heard is followed by one that never knew of it', () => {
    call.voice.cancel(1);
    call.start(question, call.says('stop', 9));
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 2']);
  });

  it('is followed twice, and each is told what was heard by then', () => {
    const heard = call.hears('Once upon a time there was a king.');
    call.clock.advance(12_000);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed.history).toEqual([question, heard]);
    call.start(question, heard, call.says('more', 9));
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 2']);
  });

  it('may be lost with a turn whose words are known and not asked about: the next one has it as sound', () => {
    call.voice.cancel(1);
    const heard = call.hears('Once upon');
    const stop = call.says('stop', 9);
    call.knows(stop);
    call.clock.advance(11_000);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed.history).toEqual([question, heard]);
    call.start(question, heard, stop);
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 2']);
  });
});
