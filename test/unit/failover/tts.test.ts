import { describe, expect, it } from 'vitest';
import type { TtsEvent } from '../../../worker/stages/stage.ts';
import { openVoices } from '../../support/core/failover-voices.ts';

const lost: TtsEvent = { type: 'error', error: { kind: 'disconnected' } };
const audio = (context: number, ms: number): TtsEvent => ({
  type: 'audio',
  context,
  pcm: new Int16Array(ms * 8).fill(900),
});
const word = (context: number, chars: number, startMs: number): TtsEvent => ({
  type: 'word',
  context,
  chars,
  startMs,
});

describe('a voice with a secondary', () => {
  it('goes on at the first word that was not said, and counts on from there', () => {
    const { primary, secondary, events, session } = openVoices();
    session.speak(3, 'One two three. ');
    session.speak(3, 'Four five.');
    session.flush(3);
    session.speak(4, 'Next.');
    const first = primary.sessions[0]!;
    for (const [chars, startMs] of [
      [0, 0],
      [4, 300],
      [8, 600],
    ] as const)
      first.say(word(3, chars, startMs));
    first.say(audio(3, 700));
    first.say(lost);
    const second = secondary.sessions[0]!;
    expect(second.asked).toEqual(['speak 3 three. ', 'speak 3 Four five.', 'flush 3', 'speak 4 Next.']);
    second.say(word(3, 0, 0));
    second.say(audio(3, 500));
    second.say({ type: 'spoken', context: 3, chars: 7 });
    second.say({ type: 'flushed', context: 3 });
    expect(events.all.slice(-4)).toEqual([
      word(3, 8, 700),
      audio(3, 500),
      { type: 'spoken', context: 3, chars: 15 },
      { type: 'flushed', context: 3 },
    ]);
    expect(events.of('error')).toEqual([]);
  });

  it('leaves out a word of which more than half was said, and ends a context of which all was', () => {
    const { primary, secondary, events, session } = openVoices();
    session.speak(1, 'One two.');
    session.flush(1);
    const first = primary.sessions[0]!;
    first.say(word(1, 0, 0));
    first.say(word(1, 4, 300));
    first.say(audio(1, 520));
    first.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual([]);
    expect(events.all.slice(-2)).toEqual([
      { type: 'spoken', context: 1, chars: 8 },
      { type: 'flushed', context: 1 },
    ]);
  });

  it('keeps a pause, forgets what was cancelled, and answers a cancel that no voice is left to answer', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'Never mind.');
    session.pause();
    primary.sessions[0]!.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['pause', 'speak 1 Never mind.']);
    secondary.sessions[0]!.say(lost);
    session.cancel(1);
    session.speak(2, 'But this.');
    expect(events.all).toEqual([]);
    clock.advance(0);
    expect(events.all).toEqual([{ type: 'cancelled', context: 1 }]);
    clock.advance(250);
    expect(primary.sessions[1]!.asked).toEqual(['pause', 'speak 2 But this.']);
    session.resume();
    expect(primary.sessions[1]!.asked.at(-1)).toBe('resume');
  });

  it('fails when both have failed, once', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'Hello.');
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(lost);
    clock.advance(250);
    primary.sessions[1]!.say(lost);
    expect(events.all).toEqual([lost]);
    session.speak(1, 'More.');
    session.close();
    expect(clock.pending).toBe(0);
  });

  it('counts characters, pieces and the time to the first sound', () => {
    const { clock, primary, scope, session } = openVoices();
    session.speak(1, 'Hello there.');
    session.speak(1, ' Bye.');
    clock.advance(180);
    primary.sessions[0]!.say(audio(1, 100));
    expect(scope.notes).toEqual([
      'primary requested',
      'primary spent 12 characters',
      'primary requested',
      'primary spent 5 characters',
      'primary first result 180',
    ]);
  });

  it('takes a voice for stalled that was given up after two silent seconds, unless it was paused', () => {
    const silent = openVoices();
    silent.session.speak(1, 'Hello.');
    silent.clock.advance(2_000);
    silent.session.cancel(1);
    silent.session.close();
    expect(silent.scope.notes).toContain('primary failed stalled');
    // The call's next session begins with the other voice.
    silent.stage.open(silent.context, () => undefined);
    expect(silent.secondary.sessions).toHaveLength(1);
    const paused = openVoices();
    paused.session.speak(1, 'Hello.');
    paused.session.pause();
    paused.clock.advance(5_000);
    paused.session.close();
    expect(paused.scope.notes).not.toContain('primary failed stalled');
  });

  it('takes a voice for stalled that stopped in the middle, and not one that has said all it was given', () => {
    const stopped = openVoices();
    stopped.session.speak(1, 'One two three four.');
    stopped.primary.sessions[0]!.say(audio(1, 300));
    stopped.clock.advance(2_000);
    stopped.session.cancel(1);
    stopped.session.close();
    expect(stopped.scope.notes).toContain('primary failed stalled');
    stopped.stage.open(stopped.context, () => undefined);
    expect(stopped.secondary.sessions).toHaveLength(1);

    for (const end of [word(1, 4, 300), { type: 'spoken', context: 1, chars: 8 } as const]) {
      const ready = openVoices();
      ready.session.speak(1, 'One two.');
      ready.primary.sessions[0]!.say(audio(1, 600));
      ready.primary.sessions[0]!.say(end);
      ready.clock.advance(5_000);
      ready.session.cancel(1);
      expect(ready.scope.notes).not.toContain('primary failed stalled');
    }
  });
});

describe('a voice that sends silence', () => {
  const silence = (context: number, ms: number): TtsEvent => ({
    type: 'audio',
    context,
    pcm: new Int16Array(ms * 8).fill(1),
  });
  const flushed: TtsEvent = { type: 'flushed', context: 1 };
  const spoken: TtsEvent = { type: 'spoken', context: 1, chars: 6 };

  it.each([
    ['digital silence', [silence(1, 500), spoken, flushed]],
    ['no audio', [spoken, flushed]],
  ])('has failed when %s is all that came: the other one says the text', (_, sent) => {
    const { primary, secondary, scope, events, session } = openVoices();
    session.speak(1, 'Hello.');
    session.flush(1);
    for (const event of sent) primary.sessions[0]!.say(event);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 Hello.', 'flush 1']);
    expect(primary.sessions[0]!.isClosed).toBe(true);
    expect(events.all).toEqual([]);
    expect(scope.notes).toContain('primary failed protocol');
    // With nobody left it is the owner's affair.
    for (const event of sent) secondary.sessions[0]!.say(event);
    expect(events.all).toEqual([spoken, flushed]);
    expect(scope.notes).toContain('secondary failed protocol');
    // The first one may be whole by now.
    session.speak(2, 'Again.');
    expect(primary.sessions[1]!.asked).toEqual(['speak 2 Again.']);
  });

  it('is slow, and overtaken; what it says before its first sound is kept for it', () => {
    const { clock, primary, secondary, events, session } = openVoices({ hedgeAfterMs: 500 });
    session.speak(1, 'Hello.');
    primary.sessions[0]!.say(silence(1, 300));
    clock.advance(500);
    secondary.sessions[0]!.say(silence(1, 100));
    secondary.sessions[0]!.say(word(1, 0, 100));
    expect(events.all).toEqual([]);
    secondary.sessions[0]!.say(audio(1, 200));
    expect(primary.sessions[0]!.isClosed).toBe(true);
    expect(events.all).toEqual([silence(1, 100), word(1, 0, 100), audio(1, 200)]);
  });

  it('has done its work where the text has no words', () => {
    const { primary, secondary, events, session } = openVoices();
    session.speak(1, '...');
    session.flush(1);
    primary.sessions[0]!.say(flushed);
    expect(events.all).toEqual([flushed]);
    expect(secondary.sessions).toEqual([]);
  });
});

describe('an idle voice', () => {
  it('leaves a provider that others have found broken, and comes back when they have found it whole', () => {
    const { clock, primary, secondary, scope, session } = openVoices();
    const breaker = scope.breakers.of('tts', 'primary');
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    session.speak(1, 'Hello.');
    session.flush(1);
    expect([primary.sessions[0]!.isClosed, primary.sessions[0]!.asked]).toEqual([true, []]);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 Hello.', 'flush 1']);
    expect(scope.reasons).toEqual(['breaker']);
    secondary.sessions[0]!.say(audio(1, 100));
    secondary.sessions[0]!.say({ type: 'flushed', context: 1 });
    expect(secondary.sessions[0]!.isClosed).toBe(false);
    clock.advance(5_000);
    breaker.succeeded(breaker.ask(6_000)!, 6_000);
    session.speak(2, 'Still here.');
    secondary.sessions[0]!.say(audio(2, 100));
    secondary.sessions[0]!.say({ type: 'flushed', context: 2 });
    expect(secondary.sessions[0]!.isClosed).toBe(true);
    session.speak(3, 'Back.');
    expect(primary.sessions[1]!.asked).toEqual(['speak 3 Back.']);
  });

  it('does not change in the middle of a text', () => {
    const { primary, secondary, scope, session } = openVoices();
    session.speak(1, 'Hello. ');
    const breaker = scope.breakers.of('tts', 'primary');
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    session.speak(1, 'Bye.');
    expect([primary.sessions[0]!.asked.length, secondary.sessions.length]).toEqual([2, 0]);
  });
});

describe('hedging of a voice', () => {
  it('asks the other as well; the first that is heard speaks and the other is closed', () => {
    const { clock, primary, secondary, scope, events, session } = openVoices({ hedgeAfterMs: 500 });
    session.speak(1, 'Hello. ');
    clock.advance(500);
    session.speak(1, 'Bye.');
    session.flush(1);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 Hello. ', 'speak 1 Bye.', 'flush 1']);
    secondary.sessions[0]!.say(audio(1, 100));
    expect(primary.sessions[0]!.isClosed).toBe(true);
    primary.sessions[0]!.say(audio(1, 700));
    expect(events.all).toEqual([audio(1, 100)]);
    expect(scope.reasons).toEqual(['hedge']);
    expect(clock.pending).toBe(0);
  });

  it('takes a voice for stalled that was overtaken after a second and a half, and not one that was a little late', () => {
    const notesAfter = (ms: number): readonly string[] => {
      const { clock, secondary, scope, session } = openVoices({ hedgeAfterMs: 1_000 });
      session.speak(1, 'Hello.');
      clock.advance(ms);
      secondary.sessions[0]!.say(audio(1, 100));
      return scope.notes;
    };
    expect(notesAfter(1_500)).toContain('primary failed stalled');
    expect(notesAfter(1_499)).not.toContain('primary failed stalled');
  });

  it('goes on with the rival when the voice fails, and with the voice when the rival does', () => {
    for (const dies of ['primary', 'secondary'] as const) {
      const world = openVoices({ hedgeAfterMs: 500 });
      world.session.speak(1, 'Hello.');
      world.clock.advance(500);
      world[dies].sessions[0]!.say(lost);
      const other = dies === 'primary' ? world.secondary : world.primary;
      expect(other.sessions[0]!.asked).toEqual(['speak 1 Hello.']);
      other.sessions[0]!.say(audio(1, 100));
      expect(world.events.all).toEqual([audio(1, 100)]);
    }
  });

  it('does not ask while the sound is held back, nor once there is some', () => {
    const paused = openVoices({ hedgeAfterMs: 500 });
    paused.session.speak(1, 'Hello.');
    paused.session.pause();
    paused.clock.advance(5_000);
    expect(paused.secondary.sessions).toEqual([]);
    const quick = openVoices({ hedgeAfterMs: 500 });
    quick.session.speak(1, 'Hello.');
    quick.primary.sessions[0]!.say(audio(1, 10));
    quick.session.speak(1, 'More.');
    quick.clock.advance(5_000);
    expect(quick.secondary.sessions).toEqual([]);
  });
});
