/** A model that writes down what it hears, and an STT that judges what is said over the agent. */
import { beforeEach, describe, expect, it } from 'vitest';
import { unwritten } from '../../../worker/core/unwritten.ts';
import { newCall, sound, user } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;
const stt = (): string[] => call.stt.sessions.flatMap(({ asked }) => asked);
const told = (): string[] => call.heard.map((event) => ('text' in event ? event.text : event.type));

const speaks = (ms: number, first = 7): void => {
  call.ears.audio(sound(first, ms * 16));
  call.ears.finalize();
  call.clock.advance(1);
};

/** STT tells these words of the stretch that it was asked for. */
const writes = (text: string): void => {
  const [session] = call.stt.sessions;
  if (text !== '')
    session?.say({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
  session?.say({ type: 'finalized' });
};

/** The caller asks, and hears a long answer. */
function hearsAnswer(): void {
  speaks(900);
  call.start(user(unwritten));
  call.model.last.say({ type: 'user-text', turn: 1, text: 'tell me a story', final: true });
  call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once upon a time.' });
  call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1, 80_000) });
  call.voice.speak(1, 'Once upon a time.');
  call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
  call.voice.flush(1);
  call.clock.advance(1_000);
  call.heard.length = 0;
}

beforeEach(() => {
  call = newCall({ words: 'vendor', hasStt: true });
});

describe('what is said over the agent', () => {
  it('is heard by the STT, whose words interrupt however short they are', () => {
    hearsAnswer();
    expect(stt()).toEqual([]);
    call.ears.audio(sound(7, 4_800));
    call.stt.sessions[0]?.say({
      type: 'transcript',
      text: 'stop',
      isFinal: false,
      speechFinal: false,
      fromFinalize: false,
    });
    expect(told()).toEqual(['stop']);
    call.ears.finalize();
    writes('stop');
    expect(stt()).toEqual(['audio 7 x4800', 'finalize']);
    expect(told()).toEqual(['stop', 'stop', 'finalized']);
  });

  it('is a noise where the STT has no words for it, and the model never hears of it', () => {
    hearsAnswer();
    const before = call.model.last.told.length;
    speaks(900);
    writes('');
    expect(told()).toEqual(['finalized']);
    call.clock.advance(20_000);
    expect(call.model.last.told.slice(before)).toEqual([]);
  });

  it('goes on being heard by the STT until the turn is asked about, and its words are told once', () => {
    hearsAnswer();
    speaks(300);
    writes('stop');
    call.voice.cancel(1);
    call.voice.silenced?.();
    speaks(900, 8);
    writes('what about Friday');
    expect(told()).toEqual(['stop', 'finalized', 'what about Friday', 'finalized']);
    call.start(user('stop what about Friday'));
    call.model.last.say({ type: 'user-text', turn: 2, text: 'Stop! What about Friday?', final: true });
    call.model.last.say({ type: 'done', answer: 2, finish: 'completed' });
    expect(told()).not.toContain('Stop! What about Friday?');
    call.clock.advance(9_000);
    const before = stt().length;
    speaks(900, 9);
    expect(told().slice(-2)).toEqual([unwritten, 'finalized']);
    expect(stt()).toHaveLength(before);
  });

  it('is what began before the agent could be heard, too', () => {
    speaks(900);
    call.start(user(unwritten));
    call.ears.audio(sound(5, 1_600));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once.' });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1, 80_000) });
    call.voice.speak(1, 'Once.');
    call.clock.advance(1);
    call.ears.audio(sound(6, 1_600));
    expect(stt()).toEqual(['audio 5 x1600', 'audio 6 x1600']);
  });

  it('whose words come late has them from the STT alone', () => {
    hearsAnswer();
    call.ears.audio(sound(7, 14_400));
    call.voice.cancel(1);
    call.voice.silenced?.();
    call.ears.finalize();
    call.clock.advance(600);
    expect(told()).toEqual([unwritten, 'finalized']);
    call.start(user(unwritten));
    call.model.last.say({ type: 'user-text', turn: 2, text: 'Stop that, and more.', final: true });
    writes('stop that');
    call.clock.advance(1);
    expect(told().at(-1)).toBe('stop that');
  });
});

it('an STT that is not there is not asked', () => {
  call = newCall({ words: 'vendor' });
  hearsAnswer();
  speaks(900);
  expect(told()).toEqual(['finalized']);
  expect(call.stt.sessions).toEqual([]);
});
