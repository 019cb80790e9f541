/** An STT beside a speaking model that is slow or gone: the model hears the caller all the same, and answers. */
import { beforeEach, describe, expect, it } from 'vitest';
import { unwritten } from '../../../worker/core/unwritten.ts';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { newCall, sound, user } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;

beforeEach(() => {
  call = newCall();
});

/** The caller speaks for so long, and STT is asked for the words. */
function speaks(ms: number, first = 7): void {
  call.ears.audio(sound(first, ms * 16));
  call.ears.finalize();
}

const stt = () => call.stt.sessions.at(-1);
const writes = (text: string, isFinal = true): void =>
  stt()?.say({ type: 'transcript', text, isFinal, speechFinal: isFinal, fromFinalize: isFinal });
const told = (): string[] =>
  call.heard.map((event) => (event.type === 'transcript' ? event.text : event.type));
const written = (): string[] => call.heard.flatMap((event) => (event.type === 'written' ? [event.text] : []));
const note = (text: string = unwritten): ChatMessage => user(text);

describe('words that are late', () => {
  it('keep no answer waiting, and are told when they come', () => {
    speaks(1_200);
    call.clock.advance(499);
    expect(told()).toEqual([]);
    call.clock.advance(2);
    expect(told()).toEqual([unwritten, 'finalized']);
    call.start(note());
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 1']);
    writes('what time is it');
    stt()?.say({ type: 'finalized' });
    call.clock.advance(1);
    expect(told().slice(2)).toEqual(['written']);
    expect(written()).toEqual(['what time is it']);
  });

  it('are the last guess where STT tells no more of them', () => {
    call.ears.audio(sound(7, 16_000));
    writes('what time', false);
    call.ears.finalize();
    call.clock.advance(501);
    call.start(note());
    stt()?.say({ type: 'finalized' });
    call.clock.advance(1);
    expect(written()).toEqual(['what time']);
  });

  it('stay with their turn where the caller goes on', () => {
    speaks(1_200);
    call.clock.advance(501);
    writes('what time');
    stt()?.say({ type: 'finalized' });
    speaks(1_200, 8);
    call.clock.advance(501);
    call.start(note(`${unwritten} ${unwritten}`));
    call.clock.advance(1);
    expect(written()).toEqual([]);
    writes('is it');
    stt()?.say({ type: 'finalized' });
    expect(written()).toEqual(['what time is it']);
  });

  it('add nothing where all that was said is known', () => {
    call.ears.audio(sound(7, 16_000));
    writes('what time is it');
    call.ears.finalize();
    call.clock.advance(501);
    expect(told()).toEqual(['what time is it', 'finalized']);
    call.start(user('what time is it'));
    writes('');
    stt()?.say({ type: 'finalized' });
    call.clock.advance(5_000);
    expect(told()).toEqual(['what time is it', 'finalized']);
  });

  it('are waited for where a tool asks for a yes', () => {
    call.start(user('book a table'));
    call.model.last.say({ type: 'tool-call', answer: 1, id: 'c1', name: 'book', arguments: '{}' });
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed' });
    speaks(1_200);
    call.clock.advance(1_400);
    expect(told()).toEqual([]);
    writes('yes');
    stt()?.say({ type: 'finalized' });
    expect(told()).toEqual(['yes', 'finalized']);
  });

  it('are none of what was said over the agent', () => {
    call.start(call.says('tell me a story'));
    const before = call.heard.length;
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'Once upon a time.' });
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: new Int16Array(80_000) });
    call.voice.speak(1, 'Once upon a time.');
    call.clock.advance(100);
    speaks(1_200);
    call.clock.advance(600);
    expect(call.heard.slice(before)).toEqual([]);
    stt()?.say({ type: 'finalized' });
    expect(call.heard.slice(before)).toEqual([{ type: 'finalized' }]);
    // An STT that tells nothing at all is not waited for until the call takes it for broken.
    speaks(1_200);
    call.clock.advance(1_301);
    expect(call.heard.slice(before + 1)).toEqual([{ type: 'finalized' }]);
  });

  it('of a session that the call replaced are asked again, and the model hears the turn once', () => {
    call.ears.audio(sound(7, 16_000));
    const ears = call.hearsAnew();
    ears.audio(sound(7, 16_000));
    expect(stt()?.asked).toEqual(['audio 7 x16000']);
    call.clock.advance(1);
    ears.audio(sound(8, 160));
    expect(call.model.last.told).toEqual(['begin', 'audio 7,8']);
  });
});

describe('an STT that is gone', () => {
  const dies = (): void => stt()?.say({ type: 'error', error: { kind: 'disconnected' } });

  it('takes no turn with it: the model hears it once, and answers', () => {
    call.ears.audio(sound(7, 16_000));
    dies();
    call.ears.finalize();
    call.clock.advance(1);
    expect(told()).toEqual([unwritten, 'finalized']);
    call.start(note());
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 1']);
    call.clock.advance(3_001);
    expect(written()).toEqual(['[inaudible]']);
  });

  it('while words are asked of it owes nothing', () => {
    speaks(1_200);
    dies();
    expect(told()).toEqual([unwritten, 'finalized']);
  });

  it('is followed by another, after pauses that grow', () => {
    dies();
    call.ears.audio(sound(7));
    expect(call.stt.sessions).toHaveLength(1);
    call.clock.advance(1_001);
    call.ears.audio(sound(8));
    expect(call.stt.sessions).toHaveLength(2);
    dies();
    call.clock.advance(1_001);
    call.ears.audio(sound(9));
    expect(call.stt.sessions).toHaveLength(2);
    call.clock.advance(1_000);
    call.ears.audio(sound(10));
    expect(call.stt.sessions).toHaveLength(3);
    writes('hello');
    dies();
    call.clock.advance(1_001);
    call.ears.audio(sound(11));
    expect(call.stt.sessions).toHaveLength(4);
  });

  it('is told to the call where the model is gone as well', () => {
    call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 401 } });
    dies();
    expect(told()).toEqual(['error']);
  });
});
