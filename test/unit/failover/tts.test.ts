import { describe, expect, it } from 'vitest';
import { Pace, resumeAt } from '../../../worker/stages/failover/spoken-place.ts';
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { StageContext, TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newFailoverScope, type Recorded } from '../../support/failover.ts';
import { ScriptedTts } from '../../support/scripted-stages.ts';
import { Events, newStageContext } from '../../support/stage-context.ts';
import { newVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const lost: TtsEvent = { type: 'error', error: { kind: 'disconnected' } };
const audio = (context: number, ms: number): TtsEvent => ({
  type: 'audio',
  context,
  pcm: new Int16Array(ms * 8),
});
const word = (context: number, chars: number, startMs: number): TtsEvent => ({
  type: 'word',
  context,
  chars,
  startMs,
});

interface Opened {
  readonly clock: VirtualClock;
  readonly primary: ScriptedTts;
  readonly secondary: ScriptedTts;
  readonly scope: Recorded;
  readonly events: Events<TtsEvent>;
  readonly context: StageContext;
  readonly stage: TtsStage;
  readonly session: TtsSession;
}

function open(options: { hedgeAfterMs?: number } = {}): Opened {
  const clock = newVirtualClock();
  const [primary, secondary] = [new ScriptedTts(), new ScriptedTts()];
  const scope = newFailoverScope('tts', {
    primary: primary.stage,
    secondary: secondary.stage,
    machineMs: () => clock.now() + 1_000,
  });
  const events = new Events<TtsEvent>();
  const stage = newFailoverTts({ ...scope, ...options });
  const context = newStageContext(clock);
  const session = stage.open(context, events.sink);
  return { clock, context, primary, secondary, scope, events, stage, session };
}

describe('a voice with a secondary', () => {
  it('goes on at the first word that was not said, and counts on from there', () => {
    const { primary, secondary, events, session } = open();
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
    const { primary, secondary, events, session } = open();
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
    const { clock, primary, secondary, events, session } = open();
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
    const { clock, primary, secondary, events, session } = open();
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
    const { clock, primary, scope, session } = open();
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
    const silent = open();
    silent.session.speak(1, 'Hello.');
    silent.clock.advance(2_000);
    silent.session.cancel(1);
    silent.session.close();
    expect(silent.scope.notes).toContain('primary failed stalled');
    // The call's next session begins with the other voice.
    silent.stage.open(silent.context, () => undefined);
    expect(silent.secondary.sessions).toHaveLength(1);
    const paused = open();
    paused.session.speak(1, 'Hello.');
    paused.session.pause();
    paused.clock.advance(5_000);
    paused.session.close();
    expect(paused.scope.notes).not.toContain('primary failed stalled');
  });
});

describe('an idle voice', () => {
  it('leaves a provider that others have found broken, and comes back when they have found it whole', () => {
    const { clock, primary, secondary, scope, session } = open();
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
    secondary.sessions[0]!.say({ type: 'flushed', context: 2 });
    expect(secondary.sessions[0]!.isClosed).toBe(true);
    session.speak(3, 'Back.');
    expect(primary.sessions[1]!.asked).toEqual(['speak 3 Back.']);
  });

  it('does not change in the middle of a text', () => {
    const { primary, secondary, scope, session } = open();
    session.speak(1, 'Hello. ');
    const breaker = scope.breakers.of('tts', 'primary');
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    session.speak(1, 'Bye.');
    expect([primary.sessions[0]!.asked.length, secondary.sessions.length]).toEqual([2, 0]);
  });
});

describe('hedging of a voice', () => {
  it('asks the other as well; the first that is heard speaks and the other is closed', () => {
    const { clock, primary, secondary, scope, events, session } = open({ hedgeAfterMs: 500 });
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

  it('goes on with the rival when the voice fails, and with the voice when the rival does', () => {
    for (const dies of ['primary', 'secondary'] as const) {
      const world = open({ hedgeAfterMs: 500 });
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
    const paused = open({ hedgeAfterMs: 500 });
    paused.session.speak(1, 'Hello.');
    paused.session.pause();
    paused.clock.advance(5_000);
    expect(paused.secondary.sessions).toEqual([]);
    const quick = open({ hedgeAfterMs: 500 });
    quick.session.speak(1, 'Hello.');
    quick.primary.sessions[0]!.say(audio(1, 10));
    quick.session.speak(1, 'More.');
    quick.clock.advance(5_000);
    expect(quick.secondary.sessions).toEqual([]);
  });
});

describe('a voice that tells no times', () => {
  /** Voice, silence, voice, as told; at 8 kHz. */
  const spoken = (context: number, ...parts: readonly number[]): TtsEvent => ({
    type: 'audio',
    context,
    pcm: Int16Array.from(
      parts.flatMap((ms, at) => Array.from({ length: ms * 8 }, () => (at % 2 === 0 ? 900 : 0))),
    ),
  });
  const heardMs = (events: Events<TtsEvent>): number =>
    events.of('audio').reduce((sum, { pcm }) => sum + pcm.length / 8, 0);

  it('is passed on as it is needed, whole and in order, and its end last', () => {
    const { clock, primary, events, session } = open();
    session.speak(1, 'Hello there.');
    session.flush(1);
    const voice = primary.sessions[0]!;
    voice.say(spoken(1, 2_000));
    voice.say({ type: 'spoken', context: 1, chars: 12 });
    voice.say({ type: 'flushed', context: 1 });
    expect(heardMs(events)).toBe(400);
    clock.advance(1_000);
    expect(heardMs(events)).toBeGreaterThanOrEqual(1_200);
    expect(heardMs(events)).toBeLessThan(1_500);
    clock.advance(1_000);
    expect(heardMs(events)).toBe(2_000);
    expect(events.all.slice(-2).map(({ type }) => type)).toEqual(['spoken', 'flushed']);
    expect(clock.pending).toBe(0);
  });

  it('is held for five seconds at most', () => {
    const { clock, primary, events, session } = open();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 60_000));
    expect(heardMs(events)).toBe(55_000);
    clock.advance(60_000);
    expect(heardMs(events)).toBe(60_000);
  });

  it('is not held back where no other voice could go on', () => {
    const clock = newVirtualClock();
    const only = new ScriptedTts();
    const events = new Events<TtsEvent>();
    const stage = newFailoverTts(
      newFailoverScope('tts', { primary: only.stage, machineMs: () => clock.now() }),
    );
    stage.open(newStageContext(clock), events.sink).speak(1, 'Hello.');
    only.sessions[0]!.say(spoken(1, 2_000));
    expect(heardMs(events)).toBe(2_000);
    expect(clock.pending).toBe(0);
  });

  it('is left at the end of a piece when what came of the next one is not needed yet', () => {
    const { clock, primary, secondary, events, session } = open();
    session.speak(1, 'Hello there. ');
    session.speak(1, 'How are you today?');
    const voice = primary.sessions[0]!;
    voice.say(spoken(1, 900));
    voice.say({ type: 'spoken', context: 1, chars: 13 });
    voice.say(spoken(1, 400));
    voice.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 How are you today?']);
    clock.advance(2_000);
    expect(heardMs(events)).toBe(900);
    secondary.sessions[0]!.say(spoken(1, 100));
    expect(heardMs(events)).toBe(1_000);
  });

  it('is left in a pause, with a little of it, when the text tells which one it is', () => {
    const { clock, primary, secondary, events, session } = open();
    session.speak(1, 'Well then my dear, it is about time to go.');
    primary.sessions[0]!.say(spoken(1, 1_050, 300, 500));
    primary.sessions[0]!.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 it is about time to go.']);
    clock.advance(3_000);
    expect(heardMs(events)).toBe(1_170);
  });

  it('is left where it is otherwise, and the word that it has begun is not said again', () => {
    const { clock, primary, secondary, events, session } = open();
    session.speak(1, 'Well then my dear friend it is about time to go.');
    primary.sessions[0]!.say(spoken(1, 1_050));
    primary.sessions[0]!.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 my dear friend it is about time to go.']);
    clock.advance(3_000);
    expect(heardMs(events)).toBe(400);
  });

  it('is heard to its end when no voice is left, and then the session fails', () => {
    const { clock, primary, secondary, events, session } = open();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 300));
    primary.sessions[0]!.say({ type: 'spoken', context: 1, chars: 12 });
    session.speak(1, 'And more.');
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(lost);
    clock.advance(250);
    primary.sessions[1]!.say(lost);
    expect(events.all.map(({ type }) => type).slice(-2)).toEqual(['spoken', 'error']);
    expect(heardMs(events)).toBe(300);
    expect(clock.pending).toBe(0);
  });

  it('says nothing more of what was cancelled, and waits while it is paused', () => {
    const { clock, primary, events, session } = open();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 2_000));
    session.pause();
    clock.advance(5_000);
    expect(heardMs(events)).toBe(400);
    session.resume();
    clock.advance(300);
    expect(heardMs(events)).toBeGreaterThan(400);
    session.cancel(1);
    const before = heardMs(events);
    clock.advance(5_000);
    expect(heardMs(events)).toBe(before);
    session.close();
    expect(clock.pending).toBe(0);
  });
});

describe('the place where a voice goes on', () => {
  const text = 'alpha beta gamma delta.';
  const said = { from: 0, fromMs: 0, words: [], pauses: [], msPerChar: 50 };
  const at = (words: readonly { chars: number; startMs: number }[], deliveredMs: number): number =>
    resumeAt(text, { ...said, words, deliveredMs, releasedMs: deliveredMs }).chars;

  it('is estimated by the pace of the voice where it tells no times', () => {
    const rest = (ms: number): string => text.slice(at([], ms));
    expect(rest(0)).toBe(text);
    expect(rest(50)).toBe(text);
    expect(rest(100)).toBe('beta gamma delta.');
    expect(rest(50 * 13)).toBe('delta.');
    expect(rest(50 * 22)).toBe('');
  });

  it('does not take a pause behind a word for the word', () => {
    const words = [
      { chars: 0, startMs: 0 },
      { chars: 6, startMs: 2_000 },
    ];
    expect(at(words, 600)).toBe(6);
    expect(at(words, 2_050)).toBe(6);
    expect(at(words, 2_150)).toBe(11);
  });

  it('does not run into words of which the voice has told nothing', () => {
    expect(at([{ chars: 0, startMs: 0 }], 1_200)).toBe(6);
  });

  it('learns the pace from what was finished, within what voices do', () => {
    const pace = new Pace();
    pace.learn(4, 4_000);
    expect(pace.msPerChar).toBe(62);
    pace.learn(20, 1_600);
    expect(pace.msPerChar).toBe(80);
    pace.learn(20, 20_000);
    expect(pace.msPerChar).toBe(120);
  });
});
