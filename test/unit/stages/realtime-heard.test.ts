/** What a caller heard of an answer is what the model remembers, in the session that made it and in those that follow. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { agent, newCall, sound } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;
beforeEach(() => {
  call = newCall();
});

/** The model says these words with this sound in answer 1. */
function modelSays(text: string, samples: number): void {
  call.model.last.say({ type: 'text', answer: 1, item: 'a', text });
  call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1, samples) });
}
const done = (): void => call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });

describe('what the caller heard', () => {
  let story: ChatMessage;
  beforeEach(() => {
    story = call.says('tell me a story');
    call.start(story);
    modelSays('Once upon a time there was a king.', 8_000);
    call.voice.speak(1, 'Once upon a time there was a king.');
    done();
    call.clock.advance(10_000);
  });

  it('is all that the model remembers of its answer', () => {
    call.start(story, agent('Once upon a time'), call.says('stop'));
    expect(call.model.last.told.slice(4)).toContain('truncate a 500');
  });

  it('was nothing', () => {
    call.start(story, call.says('stop'));
    expect(call.model.last.told.slice(4)).toContain('truncate a 0');
  });

  it('was all of it: nothing is cut', () => {
    call.start(story, agent('Once upon a time there was a king.'), call.says('more'));
    expect(call.model.last.told.join()).not.toContain('truncate');
  });

  it('is told in words to a model that cannot forget', () => {
    call = newCall({ caps: { truncates: false, removes: false } });
    story = call.says('tell me a story');
    call.start(story);
    modelSays('Once upon a time there was a king.', 8_000);
    done();
    call.start(story, agent('Once upon a time'), call.says('stop'));
    expect(call.model.last.told.join()).toContain(
      'system: Of your last answer the caller heard only: Once upon a time',
    );
  });
});

it('takes the place of an answer that cannot be cut', () => {
  call = newCall({ caps: { truncates: false }, modelSpeaks: false });
  const story = call.says('tell me a story');
  call.start(story);
  call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once upon a time ' });
  call.model.last.say({ type: 'text', answer: 1, item: 'b', text: 'there was a king.' });
  done();
  call.start(story, agent('Once upon a time there'), call.says('stop'));
  expect(call.model.last.told.slice(6)).toEqual([
    'truncate a 0',
    'truncate b 0',
    'assistant: Once upon a time there',
    'end',
    'respond 2',
  ]);
});

describe('a session that is lost while its answer is being heard', () => {
  let question: ChatMessage;
  beforeEach(() => {
    question = call.says('tell me a story');
    call.start(question);
    const text = 'Once upon a time there was a king.';
    modelSays(text, 80_000);
    call.voice.speak(1, text);
    done();
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
