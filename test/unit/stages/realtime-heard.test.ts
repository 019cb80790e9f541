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

it('is told to a model that cannot forget where it was stopped, and may have made more', () => {
  call = newCall({ caps: { truncates: false, removes: false } });
  const story = call.says('tell me a story');
  const round = call.start(story);
  modelSays('Once upon a time', 8_000);
  round.cancel();
  call.start(story, agent('Once upon a time'), call.says('stop'));
  expect(call.model.last.told.join()).toContain(
    'system: Of your last answer the caller heard only: Once upon a time',
  );
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

const clock = { id: 'c1', name: 'clock', arguments: '{}' };
/** The answer called a tool, and this is what it said before. */
const calling = (text: string): ChatMessage[] => [
  { role: 'assistant', text, toolCalls: [clock] },
  { role: 'tool', callId: 'c1', name: 'clock', text: 'noon' },
];

describe('what the model says before a tool', () => {
  const question = (): ChatMessage => {
    const asked = call.says('what time is it');
    call.start(asked);
    modelSays('One moment, let me look.', 8_000);
    call.model.last.say({ type: 'tool-call', answer: 1, ...clock });
    done();
    return asked;
  };

  it('is cut where the caller stopped hearing it, however much the model was told meanwhile', () => {
    const asked = question();
    call.start(asked, ...calling('One moment, let me look.'));
    call.model.last.say({ type: 'done', answer: 2, finish: 'cancelled' });
    call.start(asked, ...calling('One moment,'), call.says('stop', 9));
    expect(call.model.last.told.slice(4)).toEqual([
      'tool: noon',
      'respond 2',
      'begin',
      'audio 9',
      'truncate a 500',
      'end',
      'respond 3',
    ]);
  });

  it('is replaced in a new session where it cannot be cut where it stands', () => {
    call = newCall({ caps: { truncates: false, updates: false } });
    const asked = question();
    call.start(asked, ...calling('One moment, let me look.'));
    call.model.last.say({ type: 'done', answer: 2, finish: 'cancelled' });
    const heard = calling('One moment,');
    call.start(asked, ...heard, call.says('stop', 9));
    expect(call.model.last.seed.history).toEqual([asked, ...heard]);
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 3']);
  });

  it('in a session that is lost is no part of the answer in the next one', () => {
    const asked = question();
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    call.start(asked, ...calling(''));
    call.model.last.say({ type: 'text', answer: 2, item: 'b', text: 'It is noon.' });
    call.model.last.say({ type: 'done', answer: 2, finish: 'completed' });
    call.start(asked, ...calling(''), call.hears('It is noon.'), call.says('thanks', 9));
    expect(call.model.last.told.slice(-5)).toEqual(['respond 2', 'begin', 'audio 9', 'end', 'respond 3']);
  });
});

it('an answer that broke off and was gone on with is told anew where not even its beginning was heard', () => {
  const asked = call.says('what time is it');
  call.start(asked);
  modelSays('It is noon here', 8_000);
  call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
  call.start(asked, agent('It is noon here'), { role: 'system', text: 'Go on.' });
  call.model.last.say({ type: 'text', answer: 2, item: 'b', text: 'and in Rome.' });
  call.model.last.say({ type: 'done', answer: 2, finish: 'completed' });
  const heard = agent('It is');
  call.start(asked, heard, call.says('stop', 9));
  expect(call.model.sessions).toHaveLength(3);
  expect(call.model.last.seed.history).toEqual([asked, heard]);
  expect(call.model.last.told).toEqual(['begin', 'audio 9', 'end', 'respond 3']);
});
